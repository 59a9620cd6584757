"""How a file decodes, for a person: the surface forms of tokens and the rules of DECO."""

import tokexport.file.layout as layout
from tokexport.cli.console import bytes_value
from tokexport.escape import escape
from tokexport.file.layout import DecoderFlag, RecordFlag
from tokexport.model import Decoding, FirstIs, StripChars, Token, TokenKind

KINDS = {RecordFlag[f"KIND_{kind.name}"]: kind for kind in TokenKind}
PLACES = ("first", "last")


def read_token(blob: bytes, has_forms: bool, offset: int, length: int, flags: int) -> Token | None:
    """The token of a record; None for a hole. ValueError for a surface form outside BYTS."""
    if not flags & RecordFlag.KIND_MASK:
        return None
    content = blob[offset : offset + length]
    kind = KINDS[RecordFlag(flags & RecordFlag.KIND_MASK)]
    special = bool(flags & RecordFlag.SPECIAL)
    if not has_forms:
        return Token(content, kind, special)
    begin = offset + RecordFlag.FIRST_SKIP.get(flags) - RecordFlag.FIRST_MORE.get(flags)
    end = offset + length - RecordFlag.LAST_SKIP.get(flags)
    if begin < 0 or end < offset or begin > offset + length:
        raise ValueError("a surface form of a token is outside the section BYTS")
    forms = blob[begin : offset + length], blob[offset:end]
    first, last = (None if form == content else form for form in forms)
    return Token(content, kind, special, first, last, bool(flags & RecordFlag.FALLBACK))


def read_decoding(section: bytes | None) -> Decoding:
    """The rules of DECO; without the section, the defaults."""
    if section is None:
        return Decoding()
    rules = layout.Decoder.parse(section)
    by_text = rules.flags & DecoderFlag.FIRST_BY_TEXT
    by_content = rules.flags & DecoderFlag.FIRST_BY_CONTENT
    return Decoding(
        byte_fallback=bool(rules.flags & DecoderFlag.BYTE_FALLBACK),
        fallback_by_character=bool(rules.flags & DecoderFlag.BY_CHARACTER),
        repeats_once=bool(rules.flags & DecoderFlag.REPEATS_ONCE),
        first_is=FirstIs.TEXT if by_text else FirstIs.CONTENT if by_content else FirstIs.ID,
        edits=(StripChars(chr(rules.strip_left), 1),) if rules.strip_left else (),
    )


def decoding_text(decoding: Decoding, edits: str | None = None) -> str:
    """The rules in one line; ``edits`` is the CRC-32 of the table that edits the joined text.

    >>> decoding_text(Decoding(byte_fallback=True, edits=(StripChars(" ", 1),)))
    'byte fallback by runs, one " " dropped at the start'
    """
    words = []
    if decoding.byte_fallback:
        unit = "characters" if decoding.fallback_by_character else "runs"
        words.append(f"byte fallback by {unit}")
    if decoding.repeats_once:
        words.append("repeated ids once")
    if decoding.first_is is not FirstIs.ID:
        words.append(f"the first id is the first {decoding.first_is.value}")
    for edit in decoding.edits:
        if isinstance(edit, StripChars):
            words.append(f'one "{escape(edit.character.encode())}" dropped at the start')
    if edits:
        words.append(f"the joined text edited by a table (CRC-32 {edits})")
    return ", ".join(words) or "joins the bytes of tokens"


def token_value(token: Token) -> dict[str, object]:
    """A token for a program, with the surface forms that differ from its content.

    >>> token_value(Token(b" a", first=b"a"))["first"]
    {'text': 'a', 'bytes': '61'}
    """
    forms = zip(PLACES, token.forms[1:], strict=True)
    return {
        **bytes_value(token.content),
        "kind": token.kind.value,
        "special": token.special,
        "fallback": token.fallback,
        **{place: None if form == token.content else bytes_value(form) for place, form in forms},
    }
