"""The common part of both parsers: alternatives, groups, counted repeats, references."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from tokexport.patterns import tree
from tokexport.patterns.cursor import Cursor
from tokexport.unicode import CodePoints, Dialect, case_variants, shorthand_set

LINE_FEED = tree.members_of((0x0A, 0x0A))
START = tree.LookOne(ahead=False, members=tree.members_of(), edge=True)
END = tree.LookOne(ahead=True, members=tree.members_of(), edge=True)
_SIGNS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_DIGIT = re.compile("[0-9]")
# The opening of a lookaround, whether it looks ahead, and whether it is negative.
_LOOK_SIGNS = (("?=", True, False), ("?!", True, True), ("?<=", False, False), ("?<!", False, True))


class Parser(ABC):
    """Reads a pattern from left to right into a tree."""

    dialect: ClassVar[Dialect]
    # A sign, or braces with groups for the minimum, a comma and the maximum.
    quantifier: ClassVar[re.Pattern[str]]
    # What ``^`` and ``$`` stand for.
    line_anchors: ClassVar[Mapping[str, tree.Condition]]

    def __init__(self, pattern: str) -> None:
        self.source = Cursor(pattern, self.dialect)
        self.ignore_case = False
        edge = _word_boundary(shorthand_set("w", self.dialect))
        self._anchors = {"A": START, "z": END, "b": edge, "B": tree.Not(edge)}
        # Whether each capturing group has been closed, by number.
        self._groups: list[bool] = []
        # One node for each character and (?i): its set takes a megabyte.
        self._characters: dict[tuple[int, bool], tree.Characters] = {}

    def parse(self) -> tree.Node:
        node = self.alternatives()
        if not self.source.at_end:
            raise self.source.refused("an unmatched closing parenthesis", r"escape it as \)")
        return node

    def alternatives(self) -> tree.Node:
        """The alternatives up to the end of the group or of the pattern."""
        branches = [self._branch()]
        while self.source.skip("|"):
            branches.append(self._branch())
        return branches[0] if len(branches) == 1 else tree.Choice(tuple(branches))

    def _branch(self) -> tree.Node:
        source = self.source
        parts: list[tree.Node] = []
        while not (source.at_end or source.looking_at("|") or source.looking_at(")")):
            start = source.position
            parts.append(self.quantified(self._atom(), start))
        return parts[0] if len(parts) == 1 else tree.Sequence(tuple(parts))

    def _atom(self) -> tree.Node:
        source = self.source
        start = source.position
        character = source.take()
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
                raise source.refused(f"a {character!r} with nothing to repeat", hint, start)
            case "\\":
                return self._escape(start)
            case _:
                return self.literal(ord(character), start)

    def _group(self, start: int) -> tree.Node:
        source = self.source
        for sign, ahead, negative in _LOOK_SIGNS:
            if source.skip(sign):
                return tree.Look(self._closed(start), ahead, negative, start)
        if source.skip("?>"):
            return tree.Atomic(self._closed(start), start)
        if source.skip("?"):
            return self._optioned_group(start)
        self._groups.append(False)
        number = len(self._groups)
        body = self._closed(start)
        self._groups[number - 1] = True
        return tree.Group(number, body)

    def _optioned_group(self, start: int) -> tree.Node:
        outer, letters = self.ignore_case, ""
        while (letter := self.source.take()) not in ":)":
            if letter == "i":
                self.ignore_case = "-" not in letters
            elif letter != "-" or "-" in letters:
                hint = "the option i, lookaround and (?> are supported"
                raise self.source.refused(f"a group that begins with (?{letter}", hint, start)
            letters += letter
        if letters in ("-", "") and letters + letter != ":":
            hint = "an option is set by its letter, as in (?i)"
            raise self.source.refused("a group that sets no option", hint, start)
        if letter == ")":
            return self.rest_with_options(outer)
        body = self._closed(start)
        self.ignore_case = outer
        return body

    def _closed(self, start: int) -> tree.Node:
        body = self.alternatives()
        if not self.source.skip(")"):
            hint = r"escape it as \("
            raise self.source.refused("an unmatched opening parenthesis", hint, start)
        return body

    def _escape(self, start: int) -> tree.Node:
        source = self.source
        letter = source.take()
        if letter in "bB" and source.looking_at("{"):
            hint = r"\b is supported, and \{ for a brace"
            raise source.refused(f"an anchor \\{letter}{{...}} or a repeat of one", hint, start)
        if letter in self._anchors:
            return tree.Assertion(self._anchors[letter])
        if letter == "G":
            return tree.SearchStart(start)
        if letter in "123456789":
            return self._reference(int(letter), start)
        return self.escape(letter, start)

    def _reference(self, number: int, start: int) -> tree.Reference:
        # Two digits may be an octal escape.
        is_plain = not self.source.match(_DIGIT) and not self.ignore_case
        if not (is_plain and number <= len(self._groups) and self._groups[number - 1]):
            raise refused_reference(start)
        return tree.Reference(number, start)

    def repeat(
        self, body: tree.Node, low: int, high: int | None, greedy: bool, offset: int
    ) -> tree.Repeat:
        """A repeat, its quantifier at ``offset``; the engines differ on empty iterations."""
        if high != 1 and tree.can_match_empty(body):
            hint = "repeats of something that consumes a character are supported"
            raise self.source.refused("a repeat of something that may be empty", hint, offset)
        return tree.Repeat(body, low, high, greedy)

    def counts(self, offset: int) -> tuple[int, int | None, str] | None:
        """Minimum, maximum and text of the quantifier at ``offset``, or None."""
        found = self.source.match(self.quantifier)
        if found is None:
            return None
        if found[0] in _SIGNS:
            return (*_SIGNS[found[0]], found[0])
        low, comma, high = found.groups()
        least = self.source.count(low or "0", offset)
        written = high if comma else low
        most = self.source.count(written, offset) if written else None
        if most is not None and most < least:
            hint = "write the lower count first"
            found_here = "a repeat whose maximum is less than its minimum"
            raise self.source.refused(found_here, hint, offset)
        return least, most, found[0]

    def unrepeatable(self, offset: int) -> tree.PatternError:
        hint = "a quantifier on a character or group is supported"
        found = "a quantifier on something that cannot be repeated"
        return self.source.refused(found, hint, offset)

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
            members = tree.members_of(*((each, each) for each in variants))
            self._characters[key] = tree.Characters(members)
        return self._characters[key]

    @abstractmethod
    def literal(self, code_point: int, start: int) -> tree.Node:
        """The node for a literal character, which begins at ``start``."""


def _word_boundary(word: CodePoints) -> tree.Condition:
    r"""The condition of ``\b``, given the set of ``\w``."""
    before, ahead = tree.LookOne(False, word, edge=False), tree.LookOne(True, word, edge=False)
    return tree.Or((tree.And((before, tree.Not(ahead))), tree.And((tree.Not(before), ahead))))


def refused_reference(offset: int) -> tree.PatternError:
    hint = (
        "a reference is supported to an earlier group in the same sequence that matches one of a"
        " few characters, where upper and lower case differ"
    )
    return tree.PatternError(offset, "a reference to a group", hint)
