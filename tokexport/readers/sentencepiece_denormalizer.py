"""SentencePiece's denormalizer: what the library does to a decoded text, as a list of edits.

It is the normalizer once more (see :mod:`tokexport.readers.sentencepiece_normalizer`): the rules of a charsmap, the longest at each
place, and then white space. There is no denormalizer without a charsmap. The library's trainer sets no flag for white space, but the
definition of the file has all three where it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokexport.compiler.charsmap import read_charsmap
from tokexport.compiler.darts import leads_on_by_nul
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import Matching, Prefixed, Replacing, Split, TextEdit, Trimmed
from tokexport.readers.json_node import show
from tokexport.readers.sentencepiece_charsmap import rules
from tokexport.readers.sentencepiece_normalizer import SPACE_SYMBOL, unused_character
from tokexport.readers.sentencepiece_proto import SentencePieceModel

_PATH: Final = "denormalizer_spec"


def denormalizer_edits(source: SentencePieceModel) -> tuple[TextEdit, ...]:
    """The edits. UnsupportedError for a charsmap, or spaces, for which there are none."""
    spec = source.denormalizer
    if not spec.charsmap:
        return ()
    known = rules(spec.charsmap, source.file)  # which finds a damaged one
    if leads_on_by_nul(read_charsmap(spec.charsmap).units):
        raise UnsupportedError(
            source.file, "a denormalizer whose charsmap takes NUL for a letter", "one that sentencepiece made is"
        )
    try:
        pairs = [(rule.key.decode(), rule.value.decode()) for rule in known]
    except UnicodeDecodeError:
        raise SourceError(f"{source.file}: the charsmap of the denormalizer has a rule that is not UTF-8") from None
    edits: list[TextEdit] = [Replacing(tuple(pairs))]
    if spec.remove_extra_whitespaces:
        edits += _without_extra_spaces(source, pairs)
    if spec.add_dummy_prefix and spec.remove_extra_whitespaces:
        edits.append(Prefixed(" "))  # a text of which nothing is left has none
    elif spec.add_dummy_prefix:
        # A text that the rules leave nothing of has one.
        marker = unused_character(source.file, known, ())
        edits = [Prefixed(marker), *edits, Matching(Split(rf"\A{marker}", path=_PATH), " ")]
    if spec.escape_whitespaces:
        edits.append(Replacing(((" ", SPACE_SYMBOL),)))
    return tuple(edits)


def _without_extra_spaces(source: SentencePieceModel, pairs: Sequence[tuple[str, str]]) -> list[TextEdit]:
    """Drops spaces at both ends of a text and behind a space."""
    for key, value in pairs:
        if "  " in value:
            raise UnsupportedError(
                source.file,
                f"a denormalizer that removes extra spaces and replaces {show(key)} by {show(value)}",
                "one whose rules give no two spaces in a row is",
            )
    # With escapes, a U+2581 at the end of a text is dropped as a space is; a text could have any number of them.
    marks = source.byte_fallback or any(
        SPACE_SYMBOL in text for text in (source.unk_surface, *(value for _, value in pairs))
    )
    if source.denormalizer.escape_whitespaces and marks:
        raise UnsupportedError(
            source.file,
            "a denormalizer that removes and escapes white space, where a decoded text may have U+2581",
            "one without escape_whitespaces is",
        )
    behind = Split("(?<= ) ", path=_PATH)
    return [Matching(behind, ""), Trimmed(" ", 1), Trimmed(" ", 1, at_end=True)]
