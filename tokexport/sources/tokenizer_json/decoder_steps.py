"""The steps of a chain of decoders: what each does to the string of one token, and, if that can be
said, to a text that is joined.

Source: ``tokenizers``, the module ``decoders``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tokexport.model import TextEdit

_HEX: Final = frozenset("0123456789abcdefABCDEF")


@dataclass(frozen=True, slots=True)
class CharacterStep:
    """What a step does to each string is to replace one character by another text."""

    character: str
    content: str
    # What replaces it in the first string.
    in_first: str

    def apply(self, text: str, is_first: bool) -> str:
        """The text of one string after it."""
        return text.replace(self.character, self.in_first if is_first else self.content)


@dataclass(frozen=True, slots=True)
class Step:
    """One decoder that changes each string by itself."""

    # Where it stands in the source, and what it is called there.
    path: str
    name: str
    # What it makes of a string that is, or is not, the first and the last.
    apply: Callable[[str, bool, bool], str]
    # What it does to a joined text; None: nothing that is supported.
    on_text: tuple[TextEdit, ...] | None = None
    # The same as `apply`, if it replaces one character.
    on_characters: CharacterStep | None = None
    sees_first: bool = False
    sees_last: bool = False


@dataclass(frozen=True, slots=True)
class RepeatsStep:
    """CTC: equal neighbours are one; then replacements, and empty strings are left out."""

    path: str
    replacements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class JoinStep:
    """Fuse and ByteLevel: joins everything to one text; ``byte_level``: as bytes, which the
    characters of GPT-2's alphabet stand for.
    """

    path: str
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class FallbackStep:
    """ByteFallback: a run of tokens like ``<0x41>`` becomes the text of their bytes."""

    path: str


DecoderStep: TypeAlias = Step | RepeatsStep | JoinStep | FallbackStep


def fallback_byte(token: str) -> int | None:
    """The byte that a token like ``<0x41>`` is for the reference, which also takes ``<0x+1>``.

    >>> fallback_byte("<0x41>"), fallback_byte("<0x+f>"), fallback_byte("<0x4>")
    (65, 15, None)
    """
    if len(token) != 6 or not token.startswith("<0x") or token[5] != ">":
        return None
    digits = token[4] if token[3] == "+" else token[3:5]
    return int(digits, 16) if _HEX.issuperset(digits) else None


def stripped(text: str, character: str, start: int, stop: int) -> str:
    """A text without up to ``start`` of a character at its start and ``stop`` at its end. Where the
    two ends meet, the reference itself fails; here nothing is left.

    >>> stripped("HHeyH", "H", 1, 1)
    'Hey'
    """
    for _ in range(min(start, len(text))):
        text = text.removeprefix(character)
    for _ in range(min(stop, len(text))):
        text = text.removesuffix(character)
    return text


def replaced(text: str, replacements: Sequence[tuple[str, str]]) -> str:
    """A text after replacements of literals, one after the other."""
    for pattern, content in replacements:
        text = text.replace(pattern, content)
    return text
