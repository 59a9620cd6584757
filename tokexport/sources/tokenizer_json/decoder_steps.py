"""The steps of a chain of decoders: what each does to one string, and, where that can be said, to a
text that is joined.

Source: ``tokenizers``, the module ``decoders``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tokexport.model import Replacing, RunEdit, TextEdit, Trimmed

_HEX: Final = frozenset("0123456789abcdefABCDEF")


@dataclass(frozen=True, slots=True)
class Step:
    """One decoder that looks at a string and at its place. ``path`` is where it stands in the
    source.

    ``whole`` is what it does to a text that is joined already, or to any other text that is first
    and last; ``None``: nothing that can be said so. ``after``: what it does to a text that is not
    the first, where that is something else. ``suffix``: the text of which it makes something else
    in the last string than in the others; only strings that have it differ by whether they are the
    last.
    """

    path: str
    name: str
    apply: Callable[[str, bool, bool], str]
    whole: tuple[TextEdit, ...] | None
    behind: tuple[RunEdit, ...] | None = None
    sees_first: bool = False
    suffix: str | None = None


@dataclass(frozen=True, slots=True)
class StripStep:
    """Drops up to ``start`` and ``stop`` of a character at the ends of each string."""

    path: str
    character: str
    start: int
    stop: int

    @property
    def edits(self) -> tuple[TextEdit, ...]:
        """The same as edits of a text."""
        trimmed = (
            Trimmed(self.character, self.start),
            Trimmed(self.character, self.stop, at_end=True),
        )
        return tuple(edit for edit in trimmed if edit.count)

    def apply(self, text: str) -> str:
        """What is left of a text. Where the two ends meet, the reference itself stops; here nothing
        is left.

        >>> StripStep("decoder", "H", 1, 0).apply("HHey")
        'Hey'
        """
        left = 0
        while left < min(self.start, len(text)) and text[left] == self.character:
            left += 1
        right = len(text)
        while len(text) - right < min(self.stop, len(text)) and text[right - 1] == self.character:
            right -= 1
        return text[left : max(left, right)]


@dataclass(frozen=True, slots=True)
class RepeatsStep:
    """Equal neighbours are one; then, after ``apply``, empty strings are left out (CTC)."""

    path: str
    replacements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FuseStep:
    """Joins everything to one text; ``byte_level``: as bytes, by GPT-2's alphabet."""

    path: str
    byte_level: bool = False


@dataclass(frozen=True, slots=True)
class FallbackStep:
    """Runs of tokens like ``<0x41>`` become the text of their bytes."""

    path: str


DecoderStep: TypeAlias = Step | StripStep | RepeatsStep | FuseStep | FallbackStep


def fallback_byte(token: str) -> int | None:
    """The byte that a token like ``<0x41>`` is for the reference, which also takes ``<0x+1>``.

    >>> fallback_byte("<0x41>"), fallback_byte("<0x+f>"), fallback_byte("<0x4>")
    (65, 15, None)
    """
    if len(token) != 6 or not token.startswith("<0x") or token[5] != ">":
        return None
    digits = token[4] if token[3] == "+" else token[3:5]
    return int(digits, 16) if _HEX.issuperset(digits) else None


def literal(replacements: Sequence[tuple[str, str]]) -> tuple[TextEdit, ...] | None:
    """Literal replacements as edits of a text; ``None`` where the empty text is replaced.

    >>> literal([("", ""), ("a", "b")]), literal([("", "x")])
    ((Replacing(rules=(('a', 'b'),)),), None)
    """
    if any(content and not pattern for pattern, content in replacements):
        return None
    return tuple(Replacing((rule,)) for rule in replacements if rule[0])


def replaced(text: str, replacements: Sequence[tuple[str, str]]) -> str:
    """A text after literal replacements, one after the other."""
    for pattern, content in replacements:
        text = text.replace(pattern, content)
    return text
