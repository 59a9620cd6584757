"""The common part of both parsers: reading, alternatives, groups, counted repeats, references."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from tokexport.patterns import tree
from tokexport.patterns.tree import PatternError, members_of
from tokexport.unicode import CodePoints, Dialect, case_variants, property_set, shorthand_set

MAX_REPEAT = 100_000  # as in Oniguruma
# Outside brackets \b is an anchor, which the parsers handle.
_CONTROLS: Final = dict(zip("abtnvfre", (7, 8, 9, 10, 11, 12, 13, 27), strict=True))
_HEXADECIMAL: Final = {
    letter: re.compile(rf"[0-9a-fA-F]{{{width}}}|\{{[0-9a-fA-F]{{1,8}}\}}")
    for letter, width in (("x", 2), ("u", 4), ("U", 8))
}
LINE_FEED = members_of((0x0A, 0x0A))
START = tree.LookOne(ahead=False, members=members_of(), edge=True)
END = tree.LookOne(ahead=True, members=members_of(), edge=True)
_SIGNS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_DIGIT = re.compile("[0-9]")
# The opening of a lookaround, whether it looks ahead, and whether it is negative.
_LOOK_SIGNS = (("?=", True, False), ("?!", True, True), ("?<=", False, False), ("?<!", False, True))


class Parser(ABC):
    """Reads a pattern from left to right into a tree. Offsets in errors count its characters."""

    dialect: ClassVar[Dialect]
    # A sign, or braces with groups for the minimum, a comma and the maximum.
    quantifier: ClassVar[re.Pattern[str]]
    # What ``^`` and ``$`` stand for.
    line_anchors: ClassVar[Mapping[str, tree.Condition]]

    def __init__(self, pattern: str) -> None:
        # ``text[position:]`` is left to read.
        self.text, self.position = pattern, 0
        self.ignore_case = False
        word = shorthand_set("w", self.dialect)
        before, ahead = (tree.LookOne(side, word, edge=False) for side in (False, True))
        edge: tree.Condition = tree.Or(
            (tree.And((before, tree.Not(ahead))), tree.And((tree.Not(before), ahead)))
        )
        self._anchors = {"A": START, "z": END, "b": edge, "B": tree.Not(edge)}
        # Whether each capturing group has been closed, by number.
        self._groups: list[bool] = []
        # One node for each character and (?i): its set takes a megabyte.
        self._characters: dict[tuple[int, bool], tree.Characters] = {}

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

    def range(self, low: int | CodePoints, high: int | CodePoints, offset: int) -> CodePoints:
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

    def parse(self) -> tree.Node:
        node = self.alternatives()
        if not self.at_end:
            raise self.refused("an unmatched closing parenthesis", r"escape it as \)")
        return node

    def alternatives(self) -> tree.Node:
        """The alternatives up to the end of the group or of the pattern."""
        branches = [self._branch()]
        while self.skip("|"):
            branches.append(self._branch())
        return branches[0] if len(branches) == 1 else tree.Choice(tuple(branches))

    def _branch(self) -> tree.Node:
        parts: list[tree.Node] = []
        while not (self.at_end or self.looking_at("|") or self.looking_at(")")):
            start = self.position
            parts.append(self.quantified(self._atom(), start))
        return parts[0] if len(parts) == 1 else tree.Sequence(tuple(parts))

    def _atom(self) -> tree.Node:
        start = self.position
        character = self.take()
        match character:
            case "(":
                return self._group(start)
            case "[":
                return self.bracket(start)
            case ".":
                return tree.Characters(tree.complement(LINE_FEED))
            case "^" | "$":
                return tree.Assertion(self.line_anchors[character])
            case "*" | "+" | "?":
                hint = f"escape it as \\{character}"
                raise self.refused(f"a {character!r} with nothing to repeat", hint, start)
            case "\\":
                return self._escape(start)
            case _:
                return self.literal(ord(character), start)

    def _group(self, start: int) -> tree.Node:
        for sign, ahead, negative in _LOOK_SIGNS:
            if self.skip(sign):
                return tree.Look(self._closed(start), ahead, negative, start)
        if self.skip("?>"):
            return tree.Atomic(self._closed(start), start)
        if self.skip("?"):
            return self._optioned_group(start)
        self._groups.append(False)
        number = len(self._groups)
        body = self._closed(start)
        self._groups[number - 1] = True
        return tree.Group(number, body)

    def _optioned_group(self, start: int) -> tree.Node:
        outer, letters = self.ignore_case, ""
        while (letter := self.take()) not in ":)":
            if letter == "i":
                self.ignore_case = "-" not in letters
            elif letter != "-" or "-" in letters:
                hint = "the option i, lookaround and (?> are supported"
                raise self.refused(f"a group that begins with (?{letter}", hint, start)
            letters += letter
        if letters in ("-", "") and letters + letter != ":":
            hint = "an option is set by its letter, as in (?i)"
            raise self.refused("a group that sets no option", hint, start)
        if letter == ")":
            return self.rest_with_options(outer)
        body = self._closed(start)
        self.ignore_case = outer
        return body

    def _closed(self, start: int) -> tree.Node:
        body = self.alternatives()
        if not self.skip(")"):
            raise self.refused("an unmatched opening parenthesis", r"escape it as \(", start)
        return body

    def _escape(self, start: int) -> tree.Node:
        letter = self.take()
        if letter in "bB" and self.looking_at("{"):
            hint = r"\b is supported, and \{ for a brace"
            raise self.refused(f"an anchor \\{letter}{{...}} or a repeat of one", hint, start)
        if letter in self._anchors:
            return tree.Assertion(self._anchors[letter])
        if letter == "G":
            return tree.SearchStart(start)
        if letter in "123456789":
            return self._reference(int(letter), start)
        return self.escape(letter, start)

    def _reference(self, number: int, start: int) -> tree.Reference:
        # Two digits may be an octal escape.
        is_plain = not self.match(_DIGIT) and not self.ignore_case
        if not (is_plain and number <= len(self._groups) and self._groups[number - 1]):
            raise refused_reference(start)
        return tree.Reference(number, start)

    def repeat(
        self, body: tree.Node, low: int, high: int | None, greedy: bool, offset: int
    ) -> tree.Repeat:
        """A repeat, its quantifier at ``offset``; the engines differ on empty iterations."""
        if high != 1 and tree.can_match_empty(body):
            hint = "repeats of something that consumes a character are supported"
            raise self.refused("a repeat of something that may be empty", hint, offset)
        return tree.Repeat(body, low, high, greedy)

    def counts(self, offset: int) -> tuple[int, int | None, str] | None:
        """Minimum, maximum and text of the quantifier at ``offset``, or None."""
        found = self.match(self.quantifier)
        if found is None:
            return None
        if found[0] in _SIGNS:
            return (*_SIGNS[found[0]], found[0])
        low, comma, high = found.groups()
        least = self.count(low or "0", offset)
        written = high if comma else low
        most = self.count(written, offset) if written else None
        if most is not None and most < least:
            hint = "write the lower count first"
            raise self.refused("a repeat whose maximum is less than its minimum", hint, offset)
        return least, most, found[0]

    def unrepeatable(self, offset: int) -> PatternError:
        hint = "a quantifier on a character or group is supported"
        return self.refused("a quantifier on something that cannot be repeated", hint, offset)

    @abstractmethod
    def quantified(self, atom: tree.Node, start: int) -> tree.Node:
        """The atom that begins at ``start``, with the quantifiers that follow."""

    @abstractmethod
    def rest_with_options(self, outer: bool) -> tree.Node:
        """The nodes after ``(?i)`` to which it applies; ``outer``: the option before it."""

    @abstractmethod
    def bracket(self, start: int) -> tree.Node:
        """A bracket expression whose opening bracket, at ``start``, has been read."""

    @abstractmethod
    def escape(self, letter: str, start: int) -> tree.Node:
        """The node for the escape at ``start``, whose letter has been read."""

    def character(self, code_point: int, ignore_case: bool = False) -> tree.Characters:
        key = code_point, ignore_case
        if key not in self._characters:
            variants = case_variants(code_point, self.dialect) if ignore_case else (code_point,)
            members = members_of(*((each, each) for each in variants))
            self._characters[key] = tree.Characters(members)
        return self._characters[key]

    @abstractmethod
    def literal(self, code_point: int, start: int) -> tree.Node:
        """The node for a literal character, which begins at ``start``."""


def refused_reference(offset: int) -> PatternError:
    hint = (
        "a reference is supported to an earlier group in the same sequence that matches one of a"
        " few characters, outside of (?i)"
    )
    return PatternError(offset, "a reference to a group", hint)
