r"""Bracket expressions and properties of the fancy-regex dialect.

fancy-regex rewrites them and hands them on to regex-syntax, so they are read in two steps here as
well: :func:`cooked_bracket` gives the text that regex-syntax sees, :func:`members_of_fragment`
reads that. ``&&``, ``--`` and ``~~`` bind equally, from the left, and weaker than standing side by
side. Case folding works on each part before its negation.
"""

from __future__ import annotations

import re

from tokexport.model import Dialect
from tokexport.patterns.casefold import closure
from tokexport.patterns.cursor import DECIMAL, HEX, Cursor
from tokexport.patterns.tree import PatternError, complement, members_of
from tokexport.unicode import CodePoints, posix_set, shorthand_set

HEX_DIGITS = {"h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]"}
CONTROLS = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B, "e": 0x1B}
_META = frozenset("\\.+*?()|[]{}^$#&-~")
# Properties that fancy-regex has and regex-syntax has not: what stands for them, in brackets.
_REMAPPED = {"alnum": r"\p{alpha}\p{digit}", "blank": r"\p{Zs}\x09", "cntrl": r"\x00-\x1F\x7F-\x9F"}
_REMAPPED_WHOLE = {
    ("word", False): r"\w",
    ("word", True): r"\W",
    ("graph", False): r"[^\p{White_Space}\p{C}]",
    ("graph", True): r"[\p{White_Space}\p{C}]",
    ("print", False): r"[^\p{C}\t\n\v\f\r]",
    ("print", True): r"[\p{C}\t\n\v\f\r]",
    ("cs", False): r"\P{any}",
    ("cs", True): r"\p{any}",
}
_ASCII_CLASS = re.compile(r"\[:(\^?)([^:]*):\]")
_OPERATORS = ("&&", "--", "~~")


def code_point_of_hex(source: Cursor, letter: str, offset: int) -> int:
    r"""The character of \xHH, \uHHHH, \UHHHHHHHH, or any of them with braces; the letter has been
    read.
    """
    width = {"x": 2, "u": 4, "U": 8}[letter]
    start = source.position
    digits = source.take_while(HEX, most=width)
    if len(digits) < width:
        source.position = start
        digits = source.take_while(HEX, most=8) if source.skip("{") else ""
        if not digits or not source.skip("}"):
            raise source.refused(
                f"an escape \\{letter} without its digits", f"\\{letter}{{...}} is", offset
            )
    return source.code_point(digits, 16, offset)


def cooked_property(source: Cursor, letter: str, in_bracket: bool) -> str:
    r"""What regex-syntax is given for \p{...}, \P{...} or \pL; the letter has been read."""
    if not source.skip("{"):
        return f"\\{letter}{source.take()}"
    name = source.take_until("}")
    negated = (letter == "P") != name.startswith("^")
    name = name.removeprefix("^").lower()
    if (name, negated) in _REMAPPED_WHOLE:
        return _REMAPPED_WHOLE[name, negated]
    if name in _REMAPPED:
        return (
            f"[^{_REMAPPED[name]}]"
            if negated
            else _REMAPPED[name]
            if in_bracket
            else f"[{_REMAPPED[name]}]"
        )
    return f"\\{'P' if negated else 'p'}{{{name}}}"


def cooked_bracket(source: Cursor) -> str:
    """What regex-syntax is given for a bracket expression; its opening bracket has been read."""
    start = source.position - 1
    cooked = ["[", _head(source)]
    depth = 1
    seen_negated_property = False
    while depth:
        if source.at_end:
            raise source.refused("an unclosed bracket expression", "a closed one is", start)
        character = source.take()
        if character == "\\":
            part = _cooked_escape(source)
            if part.startswith("[^") and ("\\p{" in part or "\\P{" in part or "[:" in part):
                # The engine intersects negated properties that stand side by side.
                part = "&&" + part if seen_negated_property else part
                seen_negated_property = True
            cooked.append(part)
        elif character == "[":
            depth += 1
            cooked += ["[", _head(source)]
        else:
            depth -= character == "]"
            cooked.append(character)
    return "".join(cooked)


def _head(source: Cursor) -> str:
    """A caret, and a bracket that is a member because it stands first."""
    return ("^" if source.skip("^") else "") + ("]" if source.skip("]") else "")


def _cooked_escape(source: Cursor) -> str:
    offset = source.position - 1
    letter = source.take()
    if letter in DECIMAL:
        raise source.refused("a reference to a group in brackets", "a character or set is", offset)
    if letter in "dDsSwW":
        return "\\" + letter
    if letter in HEX_DIGITS:
        return HEX_DIGITS[letter]
    if letter in "pP":
        return cooked_property(source, letter, in_bracket=True)
    if letter in "xuU":
        code_point = code_point_of_hex(source, letter, offset)
    elif letter == "b":
        code_point = 0x08
    elif (
        letter.isascii() and letter.isalpha() and letter not in CONTROLS and letter not in "kAzBKGR"
    ):
        raise source.refused(
            f"the escape \\{letter} in brackets", "an escape of fancy-regex is", offset
        )
    else:
        code_point = CONTROLS.get(letter, ord(letter))
    character = chr(code_point)
    return "\\" + character if character in _META else character


def members_of_fragment(cooked: str, ignore_case: bool, offset: int) -> CodePoints:
    r"""The set of a bracket expression, a property or one of \d, \s, \w, as regex-syntax reads it.

    Raises PatternError at ``offset`` of the pattern, whatever is wrong with the fragment.
    """
    reader = _SetReader(cooked, ignore_case)
    try:
        character = reader.source.take()
        members = reader.bracket() if character == "[" else reader.escape()
        if isinstance(members, int) or not reader.source.at_end:
            raise reader.source.refused(
                f"the set {cooked}", "a bracket expression, \\p{...} or \\d, \\s, \\w is"
            )
        return members
    except PatternError as refused:
        raise PatternError(offset, refused.found, refused.supported) from None


class _SetReader:
    def __init__(self, cooked: str, ignore_case: bool) -> None:
        self.source = Cursor(cooked, Dialect.FANCY_REGEX)
        self._ignore_case = ignore_case

    def _folded(self, members: CodePoints) -> CodePoints:
        return closure(members, Dialect.FANCY_REGEX) if self._ignore_case else members

    def bracket(self) -> CodePoints:
        """A bracket expression whose opening bracket has been read."""
        source = self.source
        negated = source.skip("^")
        members = members_of()
        empty = True
        while source.skip("-"):
            members[ord("-")] = True
            empty = False
        if empty and source.skip("]"):
            members[ord("]")] = True
        left: tuple[str, CodePoints] | None = None
        while not source.skip("]"):
            operator = next((operator for operator in _OPERATORS if source.skip(operator)), None)
            if operator is None:
                members |= self._item()
            else:
                left = (operator, self._combined(left, members))
                members = members_of()
        members = self._folded(self._combined(left, members))
        return complement(members) if negated else members

    def _combined(self, left: tuple[str, CodePoints] | None, right: CodePoints) -> CodePoints:
        if left is None:
            return right
        operator, members = left[0], self._folded(left[1])
        right = self._folded(right)
        if operator == "&&":
            return members & right
        return members & ~right if operator == "--" else members ^ right

    def _item(self) -> CodePoints:
        """A nested bracket, a set, a character or a range of characters."""
        source = self.source
        if source.looking_at("["):
            named = self._ascii_class()
            if named is not None:
                return named
            source.take()
            return self.bracket()
        low = self._primitive()
        if not source.looking_at("-") or source.looking_at("-]") or source.looking_at("--"):
            return members_of((low, low)) if isinstance(low, int) else low
        source.take()
        high = self._primitive()
        if not (isinstance(low, int) and isinstance(high, int) and low <= high):
            raise source.refused(
                "a range that is not from one character up to another", "an ascending range is"
            )
        return members_of((low, high))

    def _ascii_class(self) -> CodePoints | None:
        """[:name:] or [:^name:]; None where it is no such name, and so a nested bracket."""
        found = _ASCII_CLASS.match(self.source.text, self.source.position)
        if found is None:
            return None
        try:
            members = self._folded(posix_set(found[2], Dialect.FANCY_REGEX))
        except KeyError:
            return None
        self.source.position = found.end()
        return complement(members) if found[1] else members

    def _primitive(self) -> int | CodePoints:
        character = self.source.take()
        return self.escape() if character == "\\" else ord(character)

    def escape(self) -> int | CodePoints:
        """What the escape after a backslash stands for."""
        source = self.source
        letter = source.take()
        if letter in "dDsSwW":
            members = shorthand_set(letter.lower(), Dialect.FANCY_REGEX)
            return complement(members) if letter.isupper() else members
        if letter in "pP":
            name = source.take_until("}") if source.skip("{") else source.take()
            negated = (letter == "P") != ("!=" in name)
            members = self._folded(source.property(name.replace("!=", "=", 1), source.position))
            return complement(members) if negated else members
        if letter == "x":
            return code_point_of_hex(source, letter, source.position)
        return CONTROLS.get(letter, ord(letter))
