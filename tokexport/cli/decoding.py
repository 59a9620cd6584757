"""What a tokexport file says of decoding, for a person to look at: the forms of tokens and the
rules of DECO.
"""

from __future__ import annotations

import struct
import zlib

import tokexport.file.layout as layout
from tokexport.escape import escape
from tokexport.file.layout import DecoderFlag, RecordFlag
from tokexport.model import Decoding, FirstIs, Token, TokenKind

KINDS = {
    RecordFlag.KIND_MODEL: TokenKind.MODEL,
    RecordFlag.KIND_ADDED: TokenKind.ADDED,
    RecordFlag.KIND_UNKNOWN: TokenKind.UNKNOWN,
}
PLACES = ("first", "last", "only")


def read_token(blob: bytes, offset: int, length: int, flags: int, has_forms: bool) -> Token | None:
    """The token of a record; None is a hole. ``has_forms``: the file has DECO, so the flags about
    forms count.
    """
    if not flags & RecordFlag.KIND_MASK:
        return None
    content = blob[offset : offset + length]
    kind, special = (
        KINDS[RecordFlag(flags & RecordFlag.KIND_MASK)],
        bool(flags & RecordFlag.SPECIAL),
    )
    if not has_forms:
        return Token(content, kind, special)
    first, last, only = _forms(blob, offset, length, flags)
    token = Token(
        content,
        kind,
        special,
        first=None if first == content else first,
        last=None if last == content else last,
        fallback=bool(flags & RecordFlag.FALLBACK),
    )
    return (
        token
        if token.forms[-1] == only
        else Token(content, kind, special, first, last, token.fallback, only)
    )


def _forms(blob: bytes, offset: int, length: int, flags: int) -> tuple[bytes, bytes, bytes]:
    end = offset + length
    if flags & RecordFlag.FORMS:
        lengths = struct.unpack_from("<3H", blob, end)
        begin = end + layout.FORM_LENGTHS.itemsize
        ends = [begin + sum(lengths[: place + 1]) for place in range(3)]
        first, last, only = (
            blob[stop - size : stop] for stop, size in zip(ends, lengths, strict=True)
        )
        return first, last, only
    begin = offset + (flags >> 5 & 3) - (flags >> 7 & 3)
    stop = end - (flags >> 9 & 3)
    return blob[begin:end], blob[offset:stop], blob[begin:stop]


def read_decoding(section: bytes | None) -> Decoding:
    """The rules of DECO; those of a file without it."""
    if section is None:
        return Decoding()
    rules = layout.Decoder.parse(section)
    by_text, by_content = (
        rules.flags & DecoderFlag.FIRST_BY_TEXT,
        rules.flags & DecoderFlag.FIRST_BY_CONTENT,
    )
    return Decoding(
        byte_fallback=bool(rules.flags & DecoderFlag.BYTE_FALLBACK),
        strip_left=(chr(rules.strip_left), rules.strip_left_count)
        if rules.strip_left_count
        else ("", 0),
        strip_right=(chr(rules.strip_right), rules.strip_right_count)
        if rules.strip_right_count
        else ("", 0),
        repeats_once=bool(rules.flags & DecoderFlag.REPEATS_ONCE),
        fallback_by_character=bool(rules.flags & DecoderFlag.BY_CHARACTER),
        first_is=FirstIs.TEXT if by_text else FirstIs.CONTENT if by_content else FirstIs.ID,
    )


def edits_text(section: bytes | None) -> str:
    """The edits of DECO in a few words; nothing for a file without them."""
    rules = None if section is None else layout.Decoder.parse(section)
    if section is None or rules is None or not rules.edit_state_count:
        return ""
    table = zlib.crc32(section[layout.Decoder.sizeof() :])
    what = "the whole text and runs" if rules.flags & DecoderFlag.EDGES else "the whole text"
    return f"{what} edited by a table of {rules.edit_state_count} states (CRC-32 {table:08x})"


def decoding_text(decoding: Decoding, edits: str = "") -> str:
    """The rules in a line; ``edits`` as edits_text gives them.

    >>> decoding_text(Decoding(byte_fallback=True, strip_left=(" ", 1)))
    'byte fallback by runs, at most 1 of " " dropped at the start'
    """
    words = []
    if decoding.byte_fallback:
        words.append(
            f"byte fallback by {'characters' if decoding.fallback_by_character else 'runs'}"
        )
    if decoding.repeats_once:
        words.append("repeated ids once")
    if decoding.first_is is not FirstIs.ID:
        words.append(f"the first id is the first {decoding.first_is.value}")
    for (character, count), where in (
        (decoding.strip_left, "start"),
        (decoding.strip_right, "end"),
    ):
        if count:
            words.append(
                f'at most {count} of "{escape(character.encode())}" dropped at the {where}'
            )
    if edits:
        words.append(edits)
    return ", ".join(words) or "joins what tokens stand for"


def forms_text(token: Token) -> dict[str, str]:
    """The forms of a token that are not its content, by place.

    >>> forms_text(Token(b" a", first=b"a"))
    {'first': 'a', 'only': 'a'}
    """
    forms = zip(PLACES, token.forms[1:], strict=True)
    return {place: escape(form) for place, form in forms if form != token.content}
