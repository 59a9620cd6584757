"""The table of a decoder: flags, the character that is dropped at the start, and edits."""

from __future__ import annotations

from tokexport.compiler.decoder.edits import compile_edits
from tokexport.compiler.tables import DecoderTable
from tokexport.model import Decoding, FirstIs, StripChars, TokenizerModel


def decoder_table(model: TokenizerModel) -> DecoderTable | None:
    """The table, or None if decoding is joining bytes. UnsupportedError for too large edits."""
    decoding = model.decoding
    has_one_form = all(token is None or not token.has_forms for token in model.tokens)
    if decoding == Decoding() and has_one_form:
        return None
    flags = {
        "BYTE_FALLBACK": decoding.byte_fallback,
        "BY_CHARACTER": decoding.fallback_by_character,
        "REPEATS_ONCE": decoding.repeats_once,
        "FIRST_BY_CONTENT": decoding.first_is is FirstIs.CONTENT,
        "FIRST_BY_TEXT": decoding.first_is is FirstIs.TEXT,
    }
    names = tuple(name for name, is_set in flags.items() if is_set)
    match decoding.edits:
        case (StripChars(character, 1),) if "\0" < character < "\x80":
            return DecoderTable(names, ord(character), None)
        case ():
            return DecoderTable(names, 0, None)
        case edits:
            return DecoderTable(names, 0, compile_edits(edits))
