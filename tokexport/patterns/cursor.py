"""A cursor over the text of a pattern."""

from __future__ import annotations

from tokexport.model import Dialect
from tokexport.patterns.tree import Node, PatternError, can_match_empty
from tokexport.unicode import CodePoints, posix_set, property_set

HEX = frozenset("0123456789abcdefABCDEF")
OCTAL = frozenset("01234567")
DECIMAL = frozenset("0123456789")
# As in Oniguruma.
MAX_REPEAT = 100_000


class Cursor:
    """``text[position:]`` is what is left to read. Offsets in errors count characters of the
    pattern.
    """

    def __init__(
        self, text: str, dialect: Dialect, position: int = 0, end: int | None = None
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.position = position
        self.end = len(text) if end is None else end

    @property
    def at_end(self) -> bool:
        return self.position >= self.end

    def looking_at(self, word: str) -> bool:
        return self.text.startswith(word, self.position, self.end)

    def skip(self, word: str) -> bool:
        """Whether the word comes next; if so it is read."""
        if self.looking_at(word):
            self.position += len(word)
            return True
        return False

    def take(self) -> str:
        """Read one character."""
        if self.at_end:
            raise self.refused(
                "the end of the pattern where more must follow", "a complete pattern is"
            )
        self.position += 1
        return self.text[self.position - 1]

    def take_while(self, characters: frozenset[str], most: int | None = None) -> str:
        """Read up to ``most`` characters of a set."""
        start = self.position
        while (
            not self.at_end
            and self.text[self.position] in characters
            and (most is None or self.position - start < most)
        ):
            self.position += 1
        return self.text[start : self.position]

    def take_until(self, word: str) -> str:
        """Read up to a word, and the word; returns what stands before it."""
        found = self.text.find(word, self.position, self.end)
        if found < 0:
            raise self.refused(f"no closing {word!r}", "a complete pattern is")
        read = self.text[self.position : found]
        self.position = found + len(word)
        return read

    def refused(self, found: str, supported: str, offset: int | None = None) -> PatternError:
        """The error for what stands here, or at an offset."""
        return PatternError(self.position if offset is None else offset, found, supported)

    def property(self, name: str, offset: int, bracketed: bool = False) -> CodePoints:
        try:
            return property_set(name, self.dialect, bracketed)
        except KeyError:
            raise self.refused(
                f"the property {name!r}",
                f"a general category, script or binary property of {self.dialect.value} is",
                offset,
            ) from None

    def posix(self, name: str, offset: int) -> CodePoints:
        try:
            return posix_set(name, self.dialect)
        except KeyError:
            raise self.refused(
                f"the POSIX bracket {name!r}", f"a POSIX bracket of {self.dialect.value} is", offset
            ) from None

    def count(self, digits: str, offset: int) -> int:
        """A count of a counted repeat."""
        if len(digits) > len(str(MAX_REPEAT)) or int(digits) > MAX_REPEAT:
            raise self.refused(f"a repeat of {digits}", f"counts up to {MAX_REPEAT} are", offset)
        return int(digits)

    def check_repeat(self, body: Node, high: int | None, offset: int) -> None:
        """Refuse a repeat of something that may be empty: whether a turn that matches nothing ends
        it, each engine decides by rules of its own.
        """
        if high != 1 and can_match_empty(body):
            raise self.refused(
                "a repeat of something that may be empty",
                "a repeat of something that consumes a character is",
                offset,
            )

    def code_point(self, digits: str, base: int, offset: int) -> int:
        """A code point that is written as a number."""
        value = int(digits, base) if digits else 0
        if value > 0x10FFFF or 0xD800 <= value < 0xE000:
            raise self.refused(f"the number {value:#x}", "the number of a character is", offset)
        return value
