"""A cursor over the text of a pattern."""

from __future__ import annotations

from tokexport.patterns.tree import PatternError
from tokexport.unicode import CodePoints, Dialect, posix_set, property_set

HEX = frozenset("0123456789abcdefABCDEF")
DECIMAL = frozenset("0123456789")
MAX_REPEAT = 100_000  # as in Oniguruma


class Cursor:
    """``text[position:]`` is left to read. Offsets in errors count characters of the pattern."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.position = 0

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def looking_at(self, word: str) -> bool:
        return self.text.startswith(word, self.position)

    def skip(self, word: str) -> bool:
        """Whether the word comes next; if so it is read."""
        if self.looking_at(word):
            self.position += len(word)
            return True
        return False

    def take(self) -> str:
        """Read one character."""
        if self.at_end:
            raise self.refused("its end where more must follow", "the pattern is cut off")
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
        found = self.text.find(word, self.position)
        if found < 0:
            raise self.refused(f"no closing {word!r}", "the pattern is cut off")
        read = self.text[self.position : found]
        self.position = found + len(word)
        return read

    def refused(self, found: str, hint: str, offset: int | None = None) -> PatternError:
        """The error for what stands here, or at an offset."""
        return PatternError(self.position if offset is None else offset, found, hint)

    def property(self, name: str, offset: int, bracketed: bool = False) -> CodePoints:
        """The members of a property."""
        try:
            return property_set(name, self.dialect, bracketed)
        except KeyError:
            hint = f"{self.dialect.value} has no such category, script or binary property"
            raise self.refused(f"the property {name!r}", hint, offset) from None

    def posix(self, name: str, offset: int) -> CodePoints:
        """The members of a POSIX bracket."""
        try:
            return posix_set(name, self.dialect)
        except KeyError:
            hint = f"{self.dialect.value} has no POSIX bracket of that name"
            raise self.refused(f"the POSIX bracket {name!r}", hint, offset) from None

    def count(self, digits: str, offset: int) -> int:
        """A count of a counted repeat."""
        if len(digits) > len(str(MAX_REPEAT)) or int(digits) > MAX_REPEAT:
            hint = f"counts up to {MAX_REPEAT} are supported"
            raise self.refused(f"a repeat of {digits}", hint, offset)
        return int(digits)

    def hexadecimal(self, letter: str, offset: int) -> int:
        r"""The character of an escape \xHH, \uHHHH, \UHHHHHHHH or \x{...}, after its letter."""
        width = {"x": 2, "u": 4, "U": 8}[letter]
        start = self.position
        digits = self.take_while(HEX, most=width)
        if len(digits) < width:
            self.position = start
            digits = self.take_while(HEX, most=8) if self.skip("{") else ""
            if not digits or not self.skip("}"):
                hint = f"\\{letter}{{...}} with one number is supported"
                raise self.refused(f"an escape \\{letter} without its digits", hint, offset)
        value = int(digits, 16)
        if value > 0x10FFFF or 0xD800 <= value < 0xE000:
            raise self.refused(f"the number {value:#x}", "no character has it", offset)
        return value
