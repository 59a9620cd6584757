"""What turns ids into text, besides joining what each id stands for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tokexport.model.text import Split


class FirstIs(Enum):
    """Which of the decoded ids are the first: those take the form ``Token.first``."""

    ID = "id"  # the first id of all
    CONTENT = "content"  # the first id whose content is not empty; the last one likewise
    TEXT = "text"  # every id, as long as those before it gave no bytes


@dataclass(frozen=True, slots=True)
class Replacing:
    """Pairs of a text, not empty, and what replaces it: the longest at each place of the whole
    decoded text, from its start on.
    """

    rules: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Up to ``count`` of a character are dropped at the start of the whole decoded text, or
    ``at_end``.
    """

    character: str
    count: int
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Prefixed:
    """``prefix`` stands before the whole decoded text where that is not empty."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Begun:
    """``prefix`` is dropped at the start of the text of a run; before one that does not begin so
    stands ``otherwise``.
    """

    prefix: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Each match of a regular expression is replaced; of ``split`` only the pattern matters.

    ``among``: the characters of which the text can be, where they are known and few.
    """

    split: Split
    content: str
    among: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ByteName:
    """A text that is nothing but the name of a byte, like ``<0x41>``, is that byte; U+FFFD where
    that is no character.
    """


TextEdit = Replacing | Matching | Trimmed | Prefixed | ByteName
RunEdit = TextEdit | Begun


@dataclass(frozen=True, slots=True)
class RunEdits:
    """What is done to the text of each run of ``fallback`` tokens by itself, one after the other.

    Each U+FFFD of a run that is no text is a text of its own. ``first``: what is done to the one
    that begins the whole text, before which there is no id; ``others``: to all others.
    """

    first: tuple[RunEdit, ...]
    others: tuple[RunEdit, ...]


@dataclass(frozen=True, slots=True)
class Decoding:
    """What decoding does besides joining what tokens stand for (``Token.forms``).

    ``byte_fallback``: a run of ``fallback`` tokens that is not UTF-8 as a whole gives one U+FFFD
    for each of its bytes; with ``fallback_by_character`` whole characters in it stay, and each
    other byte is one U+FFFD (SentencePiece). ``strip_left``, ``strip_right``: up to so many of a
    character are dropped at the start and the end of the whole text. ``repeats_once``: neighbouring
    equal ids decode once (CTC). ``edits``: what is done to the whole text, one after the other,
    where that is more than dropping a character at its ends; nothing is dropped by ``strip_left``
    and ``strip_right`` then. ``runs``: what is done to the text of runs before that; such a
    decoding has ``byte_fallback`` and of the others only ``edits``.
    """

    byte_fallback: bool = False
    strip_left: tuple[str, int] = ("", 0)
    strip_right: tuple[str, int] = ("", 0)
    repeats_once: bool = False
    fallback_by_character: bool = False
    first_is: FirstIs = FirstIs.ID
    edits: tuple[TextEdit, ...] = ()
    runs: RunEdits | None = None
