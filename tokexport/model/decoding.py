"""How ids become text, besides joining the bytes of the tokens."""

from dataclasses import dataclass
from enum import Enum


class FirstIs(Enum):
    """Which of the decoded ids count as first: those decode to ``Token.first``."""

    ID = "id"  # the first id of all
    CONTENT = "content"  # the first id whose content is not empty; the last id likewise
    TEXT = "text"  # every id, as long as the ids before it decoded to no bytes


@dataclass(frozen=True, slots=True)
class ReplaceLiteral:
    """Replaces each ``pattern``, a text that is not empty, by ``content``, from left to right."""

    pattern: str
    content: str
    # The replacement in a run at the start of the text, before the first id without
    # `Token.fallback`; with `is_in_first_token` also in that id. Only the first edit may have one.
    in_first_run: str | None = None
    path: str = "decoder"
    is_in_first_token: bool = False


@dataclass(frozen=True, slots=True)
class StripChars:
    """Drops up to ``count`` occurrences of a character at the start."""

    character: str
    count: int
    path: str = "decoder"


@dataclass(frozen=True, slots=True)
class ParseByteToken:
    """A text that is only the name of a byte, as ``<0x41>``, becomes that byte, or U+FFFD."""

    path: str = "decoder"


@dataclass(frozen=True, slots=True)
class StripWhiteSpace:
    """Drops white space, as ``str.isspace`` has it, at the start, and one space at the end."""

    path: str = "decoder"


# An edit of the whole decoded text.
TextEdit = ReplaceLiteral | StripChars | StripWhiteSpace | ParseByteToken


@dataclass(frozen=True, slots=True)
class Decoding:
    """What decoding does besides joining the bytes of the tokens (``Token.forms``)."""

    # A run of `Token.fallback` tokens that is not UTF-8 decodes to one U+FFFD for each byte.
    byte_fallback: bool = False
    # With it, whole characters of such a run are kept, other bytes become U+FFFD (SentencePiece).
    fallback_by_character: bool = False
    first_is: FirstIs = FirstIs.ID
    # Applied to the joined text in order.
    edits: tuple[TextEdit, ...] = ()
