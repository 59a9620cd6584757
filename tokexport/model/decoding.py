"""What turns ids into text, besides joining the bytes of the tokens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FirstIs(Enum):
    """Which of the decoded ids are the first: those take the form ``Token.first``."""

    ID = "id"  # the first id of all
    CONTENT = "content"  # the first id whose content is not empty; the last one likewise
    TEXT = "text"  # every id, as long as those before it gave no bytes


@dataclass(frozen=True, slots=True)
class ReplaceLiteral:
    """Replaces each ``pattern``, a text that is not empty, by ``content``, from left to right."""

    pattern: str
    content: str
    # What replaces it instead before the first id that is not `Token.fallback`: in the run of bytes
    # with which a text begins. Only the first of all edits may have it.
    in_first_run: str | None = None
    path: str = "decoder"


@dataclass(frozen=True, slots=True)
class StripChars:
    """Drops up to ``count`` of a character at the start."""

    character: str
    count: int
    path: str = "decoder"


@dataclass(frozen=True, slots=True)
class ParseByteToken:
    """A text that is just the name of a byte, like ``<0x41>``, becomes that byte, or U+FFFD."""

    path: str = "decoder"


# What is done to the whole decoded text.
TextEdit = ReplaceLiteral | StripChars | ParseByteToken


@dataclass(frozen=True, slots=True)
class Decoding:
    """What decoding does besides joining the bytes of the tokens (``Token.forms``)."""

    # A run of `Token.fallback` tokens that is not UTF-8 gives a U+FFFD for each of its bytes.
    byte_fallback: bool = False
    # With it, whole characters of such a run stay, other bytes give U+FFFD (SentencePiece).
    fallback_by_character: bool = False
    # Neighbouring equal ids decode once (CTC).
    repeats_once: bool = False
    first_is: FirstIs = FirstIs.ID
    # Done to the joined text, one after the other.
    edits: tuple[TextEdit, ...] = ()
