r"""Bracket expressions and escapes of the Oniguruma dialect.

``[a-z&&[^aeiou]]``, ``[^\s\p{L}]``, ``[[:alpha:]_]``: ranges, nested brackets, POSIX brackets,
properties, and ``&&``, which binds weaker than anything but the leading ``^``. Case folding works
on the whole, before its ``^``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tokexport.model import Dialect
from tokexport.patterns.casefold import closure
from tokexport.patterns.cursor import HEX, OCTAL, Cursor
from tokexport.patterns.tree import complement, members_of
from tokexport.unicode import CodePoints, shorthand_set

_CONTROLS = {"n": 0x0A, "t": 0x09, "r": 0x0D, "f": 0x0C, "a": 0x07, "b": 0x08, "e": 0x1B, "v": 0x0B}
_POSIX = re.compile(r"\[:(\^?)([^\W\d_]+):\]")


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket expression: the set without its leading ``^``, and whether it has one."""

    positive: CodePoints
    negated: bool

    def members(self, ignore_case: bool) -> CodePoints:
        positive = closure(self.positive, Dialect.ONIGURUMA) if ignore_case else self.positive
        return complement(positive) if self.negated else positive


class BracketReader:
    """Reads from after an opening bracket to after its closing one."""

    def __init__(self, source: Cursor) -> None:
        self._source = source
        self._start = source.position - 1

    def read(self) -> Bracket:
        source = self._source
        negated = source.skip("^")
        sets: list[CodePoints] = []
        members = members_of()
        # What a hyphen would continue: a character that may begin a range, or a set, which may not;
        # None after a range or a bracket, where a hyphen is just a hyphen.
        last: int | CodePoints | None = None
        first = True
        while True:
            offset = source.position
            if source.at_end:
                raise source.refused(
                    "an unclosed bracket expression", "a closed one is", self._start
                )
            if source.looking_at("]") and not (first and "]" in _unescaped(source)):
                if first:
                    raise source.refused(
                        "an empty bracket expression", "one with members is", self._start
                    )
                source.take()
                break
            if source.skip("&&"):
                sets.append(members)
                members, last, first = members_of(), None, False
                continue
            if (
                source.looking_at("-")
                and last is not None
                and not first
                and not source.text.startswith(("-]", "-&&"), offset)
            ):
                source.take()
                if not isinstance(last, int):
                    raise source.refused(
                        "a range that begins with a set",
                        "a range between two characters is",
                        offset,
                    )
                members |= self._range(last, offset)
                last = None
                continue
            nested = source.looking_at("[") and not _POSIX.match(source.text, offset, source.end)
            item = self._item()
            if isinstance(item, int):
                members[item] = True
            else:
                members |= item
            last, first = None if nested else item, False
        for other in sets:
            members &= other
        return Bracket(members, negated)

    def _range(self, low: int, offset: int) -> CodePoints:
        source = self._source
        high = self._item()
        if not isinstance(high, int):
            raise source.refused(
                "a range that ends with a set", "a range between two characters is", offset
            )
        if low > high:
            raise source.refused(
                "a range whose end is before its start", "an ascending range is", offset
            )
        return members_of((low, high))

    def _item(self) -> int | CodePoints:
        """One character, or one set."""
        source = self._source
        offset = source.position
        posix = _POSIX.match(source.text, offset, source.end)
        if posix:
            source.position = posix.end()
            members = source.posix(posix[2], offset)
            return complement(members) if posix[1] else members
        character = source.take()
        if character == "[":
            return BracketReader(source).read().members(ignore_case=False)
        return escaped_character(source, in_bracket=True) if character == "\\" else ord(character)


def _unescaped(source: Cursor) -> str:
    """What is left behind the next character, without escaped characters: there a bracket may still
    be closed.
    """
    return re.sub(r"\\.", "", source.text[source.position + 1 : source.end], flags=re.DOTALL)


def escaped_character(source: Cursor, in_bracket: bool) -> int | CodePoints:
    r"""What the escape after a backslash stands for: a character, or the set of \s, \d, \w, \h or
    \p{...}.
    """
    offset = source.position - 1
    letter = source.take()
    if letter in "sdwhSDWH":
        members = shorthand_set(letter.lower(), source.dialect, bracketed=in_bracket)
        return complement(members) if letter.isupper() else members
    if letter in "pP" and source.skip("{"):
        negated = (letter == "P") != source.skip("^")
        members = source.property(source.take_until("}"), offset, bracketed=in_bracket)
        return complement(members) if negated else members
    if letter in "xo" and not source.at_end and source.skip("{"):
        digits = source.take_while(HEX if letter == "x" else OCTAL)
        if not digits or not source.skip("}"):
            raise source.refused(
                f"an escape \\{letter}{{...}} that is not one number",
                "one number in braces is",
                offset,
            )
        return source.code_point(digits, 16 if letter == "x" else 8, offset)
    if letter == "x" and not source.at_end:
        return _crude(source, source.take_while(HEX, most=2), 16, offset)
    if letter == "u" and not source.at_end:
        digits = source.take_while(HEX, most=4)
        if len(digits) < 4:
            raise source.refused(
                "an escape \\u without four hexadecimal digits", "\\uHHHH is", offset
            )
        return source.code_point(digits, 16, offset)
    if letter == "0" or (in_bracket and letter in OCTAL):
        return _crude(source, letter + source.take_while(OCTAL, most=2), 8, offset)
    if letter in "cCM":
        raise source.refused(f"the control escape \\{letter}", "\\x{...} is", offset)
    # Outside of brackets \b is an anchor, which the caller has looked for.
    return _CONTROLS.get(letter, ord(letter))


def _crude(source: Cursor, digits: str, base: int, offset: int) -> int:
    value = int(digits, base) if digits else 0
    if value >= 0x80:
        raise source.refused(
            f"the single byte {value:#x} of a character",
            "\\x{...} with the number of a character is",
            offset,
        )
    return value
