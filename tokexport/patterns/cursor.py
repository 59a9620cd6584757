"""A cursor over the text of a pattern."""

import re
from typing import Final

from tokexport.patterns.tree import PatternError, members_of
from tokexport.unicode import CodePoints, Dialect, property_set

MAX_REPEAT = 100_000  # as in Oniguruma
# Outside brackets \b is an anchor, which the parsers handle.
_CONTROLS: Final = dict(zip("abtnvfre", (7, 8, 9, 10, 11, 12, 13, 27), strict=True))
_HEXADECIMAL: Final = {
    letter: re.compile(rf"[0-9a-fA-F]{{{width}}}|\{{[0-9a-fA-F]{{1,8}}\}}")
    for letter, width in (("x", 2), ("u", 4), ("U", 8))
}


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
        """Whether the word is next; if so, reads it."""
        if self.looking_at(word):
            self.position += len(word)
            return True
        return False

    def take(self) -> str:
        if self.at_end:
            raise self.refused("a premature end", "the pattern is cut off")
        self.position += 1
        return self.text[self.position - 1]

    def match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Reads the match of an expression here, if there is one."""
        found = expression.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def take_until(self, word: str) -> str:
        """Reads up to and including a word; returns the text before it."""
        found = self.text.find(word, self.position)
        if found < 0:
            raise self.refused(f"no closing {word!r}", "the pattern is cut off")
        read = self.text[self.position : found]
        self.position = found + len(word)
        return read

    def refused(self, found: str, hint: str, offset: int | None = None) -> PatternError:
        """The error for the text here, or at an offset."""
        return PatternError(self.position if offset is None else offset, found, hint)

    def property(self, name: str, offset: int, bracketed: bool = False) -> CodePoints:
        try:
            return property_set(name, self.dialect, bracketed)
        except KeyError:
            hint = "categories, scripts and binary properties are supported: L, Han, White_Space"
            raise self.refused(f"the property {name!r}", hint, offset) from None

    def opens_bracket(self) -> bool:
        """Whether a nested bracket is next; if so, reads its opening sign."""
        if self.looking_at("[:"):
            hint = r"a property like \p{Alphabetic} is supported in brackets"
            raise self.refused("a bracket that begins with [:, as POSIX brackets do,", hint)
        return self.skip("[")

    def range(
        self, low: int | CodePoints | None, high: int | CodePoints, offset: int
    ) -> CodePoints:
        if not (isinstance(low, int) and isinstance(high, int) and low <= high):
            found = "a range that does not run from one character up to another"
            raise self.refused(found, r"write \- for a hyphen", offset)
        return members_of((low, high))

    def count(self, digits: str, offset: int) -> int:
        if len(digits) > len(str(MAX_REPEAT)) or int(digits) > MAX_REPEAT:
            hint = f"counts up to {MAX_REPEAT} are supported"
            raise self.refused(f"a repeat of {digits}", hint, offset)
        return int(digits)

    def escaped(self, letter: str, offset: int, others: str = "") -> int:
        """The control character or sign that an escape stands for; ``others`` are excluded."""
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if (letter.isascii() and letter.isalnum()) or letter in others:
            hint = r"anchors, \s, \d, \w, \p{...} and \x{...} are supported"
            raise self.refused(f"the escape \\{letter}", hint, offset)
        return ord(letter)

    def hexadecimal(self, letter: str, offset: int) -> int:
        r"""The character of an escape \xHH, \uHHHH, \UHHHHHHHH or \x{...}, after its letter."""
        found = self.match(_HEXADECIMAL[letter])
        if found is None:
            hint = f"\\{letter}{{...}} with one number is supported"
            raise self.refused(f"an escape \\{letter} without its digits", hint, offset)
        value = int(found[0].strip("{}"), 16)
        if value > 0x10FFFF or 0xD800 <= value < 0xE000:
            raise self.refused(f"the number {value:#x}", "no character has it", offset)
        return value
