r"""The fancy-regex dialect, as tiktoken compiles it: Rust's regex syntax with lookaround,
possessive quantifiers and atomic groups.

``$`` is the end of the text, ``(?m)`` makes ``^`` and ``$`` line anchors, ``(?s)`` lets the dot
match a line feed, ``{n,m}+`` is possessive, and an option like ``(?i)`` reaches as far as the next
``(?...:`` group that it stands in, through any other. Facts: fancy-regex 0.19.0 and regex-syntax
0.8, and what they do when they are run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokexport.model import Dialect
from tokexport.patterns.captures import Groups
from tokexport.patterns.casefold import variants_of
from tokexport.patterns.cursor import DECIMAL, Cursor
from tokexport.patterns.fancy_set import (
    CONTROLS,
    HEX_DIGITS,
    code_point_of_hex,
    cooked_bracket,
    cooked_property,
    members_of_fragment,
)
from tokexport.patterns.tree import (
    EMPTY,
    LOOK_SIGNS,
    And,
    Assertion,
    Atomic,
    Characters,
    Choice,
    Condition,
    Look,
    LookOne,
    Node,
    Not,
    Or,
    Repeat,
    Sequence,
    complement,
    members_of,
)
from tokexport.unicode import CodePoints, shorthand_set

_ANY = members_of((0, 0x10FFFF))
_CARRIAGE_RETURN = members_of((0x0D, 0x0D))
_LINE_FEED = members_of((0x0A, 0x0A))
_NEW_LINES = members_of((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_START = LookOne(ahead=False, members=members_of(), edge=True)
_END = LookOne(ahead=True, members=members_of(), edge=True)
_LAST_LINE_FEEDS = Sequence((Repeat(Characters(_LINE_FEED), 0, None, greedy=True), Assertion(_END)))
_WORD = shorthand_set("w", Dialect.FANCY_REGEX)
_WORD_BEHIND = LookOne(ahead=False, members=_WORD, edge=False)
_WORD_AHEAD = LookOne(ahead=True, members=_WORD, edge=False)
_WORD_START = And((Not(_WORD_BEHIND), _WORD_AHEAD))
_WORD_END = And((_WORD_BEHIND, Not(_WORD_AHEAD)))
_WORD_BOUNDARY = Or((_WORD_START, _WORD_END))
_ANCHORS: dict[str, Condition] = {
    "A": _START,
    "z": _END,
    "b": _WORD_BOUNDARY,
    "B": Not(_WORD_BOUNDARY),
    "<": _WORD_START,
    ">": _WORD_END,
}
_WORD_ANCHORS: dict[str, Condition] = {
    "start": _WORD_START,
    "end": _WORD_END,
    "start-half": Not(_WORD_BEHIND),
    "end-half": Not(_WORD_AHEAD),
}
_UNSUPPORTED_ESCAPES = {
    "G": "the search anchor \\G",
    "K": "the match reset \\K",
    "g": "a call of a group",
}


@dataclass(frozen=True, slots=True)
class _Options:
    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    swap_greed: bool = False
    extended: bool = False
    crlf: bool = False


_OPTION_LETTERS = {
    "i": "ignore_case",
    "m": "multi_line",
    "s": "dot_all",
    "U": "swap_greed",
    "x": "extended",
    "R": "crlf",
}


def parse(pattern: str) -> Node:
    r"""The tree of a pattern.

    Raises PatternError for what fancy-regex refuses, and for what has no place in a tree: calls of
    a group in itself, \G, definitions, cut ranges, backtracking control.

    >>> node = parse("a{1,2}+")
    >>> type(node).__name__, node.body.low, node.body.high
    ('Atomic', 1, 2)
    """
    parser = _Parser(pattern)
    node = parser.alternatives()
    if not parser.source.at_end:
        raise parser.source.refused("an unmatched closing parenthesis", "balanced parentheses are")
    return node


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.source = Cursor(pattern, Dialect.FANCY_REGEX)
        self.groups = Groups(pattern)
        self._options = _Options()

    def alternatives(self) -> Node:
        branches = [self._branch()]
        while self.source.skip("|"):
            branches.append(self._branch())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _branch(self) -> Node:
        source = self.source
        parts: list[Node] = []
        self._skip_comments()
        while not (source.at_end or source.looking_at("|") or source.looking_at(")")):
            start = source.position
            atom = self._atom()
            self._skip_comments()
            parts.append(self._quantified(atom, start))
            self._skip_comments()
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _skip_comments(self) -> None:
        source = self.source
        while True:
            if source.skip("(?#"):
                while (character := source.take()) != ")":
                    if character == "\\":
                        source.take()
            elif (
                self._options.extended
                and not source.at_end
                and source.text[source.position] in " \r\n\t"
            ):
                source.take()
            elif self._options.extended and source.skip("#"):
                while not source.at_end and source.take() != "\n":
                    pass
            else:
                return

    def _quantified(self, atom: Node | None, start: int) -> Node:
        source = self.source
        offset = source.position
        interval = self._interval()
        if interval is None:
            return EMPTY if atom is None else atom
        low, high = interval
        if (
            atom is None
            or isinstance(atom, Look)
            or (isinstance(atom, Sequence) and not atom.parts)
        ):
            raise source.refused(
                "a quantifier on something that cannot be repeated",
                "one on a character or group is",
                offset,
            )
        if high is not None and high < low:
            raise source.refused(
                "a repeat whose most is less than its least", "{n,m} with n up to m is", offset
            )
        source.check_repeat(atom, high, offset)
        self._skip_comments()
        greedy = source.skip("?") == self._options.swap_greed
        node = Repeat(atom, low, high, greedy)
        return Atomic(node, start) if source.skip("+") else node

    def _interval(self) -> tuple[int, int | None] | None:
        """Least and most of the quantifier that comes next; None where there is none, or a brace is
        just a brace.
        """
        source = self.source
        for sign, low, high in (("?", 0, 1), ("*", 0, None), ("+", 1, None)):
            if source.skip(sign):
                return low, high
        start = source.position
        if not source.skip("{"):
            return None
        self._skip_comments()
        least = source.take_while(DECIMAL)
        self._skip_comments()
        comma = source.skip(",")
        self._skip_comments()
        most = source.take_while(DECIMAL) if comma else least
        self._skip_comments()
        if not source.skip("}") or not (least or comma):
            source.position = start
            return None
        return source.count(least or "0", start), source.count(most, start) if most else None

    def _atom(self) -> Node | None:
        """One atom; None for options alone, which cannot be repeated."""
        source = self.source
        start = source.position
        options = self._options
        character = source.take()
        match character:
            case "(":
                return self._group(start)
            case "[":
                cooked = cooked_bracket(source)
                return Characters(members_of_fragment(cooked, options.ignore_case, start))
            case ".":
                return Characters(self._dot())
            case "^":
                return Assertion(self._start_of_line() if options.multi_line else _START)
            case "$":
                return Assertion(self._end_of_line() if options.multi_line else _END)
            case "*" | "+" | "?":
                raise source.refused(
                    f"a {character!r} with nothing to repeat",
                    "one after a character or group is",
                    start,
                )
            case "\\":
                return self._escape(start)
            case _:
                return self._literal(ord(character))

    def _literal(self, code_point: int) -> Characters:
        if self._options.ignore_case:
            return Characters(variants_of(code_point, Dialect.FANCY_REGEX))
        return Characters(members_of((code_point, code_point)))

    def _dot(self) -> CodePoints:
        if self._options.dot_all:
            return _ANY
        return complement(_LINE_FEED | _CARRIAGE_RETURN if self._options.crlf else _LINE_FEED)

    def _start_of_line(self) -> Condition:
        after_line_feed = LookOne(False, _LINE_FEED, edge=True)
        if not self._options.crlf:
            return after_line_feed
        pair = LookOne(True, _LINE_FEED, edge=False)
        return Or((after_line_feed, And((LookOne(False, _CARRIAGE_RETURN, edge=False), Not(pair)))))

    def _end_of_line(self) -> Condition:
        if not self._options.crlf:
            return LookOne(True, _LINE_FEED, edge=True)
        pair = LookOne(False, _CARRIAGE_RETURN, edge=False)
        before_line_feed = And((LookOne(True, _LINE_FEED, edge=False), Not(pair)))
        return Or((LookOne(True, _CARRIAGE_RETURN, edge=True), before_line_feed))

    def _escape(self, start: int) -> Node:
        source = self.source
        letter = source.take()
        if letter in "bB":
            special = self._word_anchor(letter, start)
            if special is not None:
                return Assertion(special)
        if letter in _ANCHORS:
            return Assertion(_ANCHORS[letter])
        if letter in _UNSUPPORTED_ESCAPES:
            raise source.refused(
                _UNSUPPORTED_ESCAPES[letter], "lookahead and lookbehind are", start
            )
        if letter in DECIMAL or letter == "k":
            return self.groups.reference(source, letter, self._options.ignore_case, start)
        match letter:
            case "Z":
                return Look(_LAST_LINE_FEEDS, True, False, start)
            case "R":
                pair = Sequence((Characters(_CARRIAGE_RETURN), Characters(_LINE_FEED)))
                return Atomic(Choice((pair, Characters(_NEW_LINES))), start)

            case "N":
                return Characters(complement(_LINE_FEED))
            case "O":
                return Characters(_ANY)
            case "h" | "H":
                return Characters(members_of_fragment(HEX_DIGITS[letter], False, start))
            case "d" | "D" | "s" | "S" | "w" | "W":
                return Characters(
                    members_of_fragment("\\" + letter, self._options.ignore_case, start)
                )
            case "p" | "P":
                return Characters(
                    members_of_fragment(
                        cooked_property(source, letter, False), self._options.ignore_case, start
                    )
                )
            case "x" | "u" | "U":
                self._skip_comments()
                return self._literal(code_point_of_hex(source, letter, start))
        if letter.isascii() and letter.isalpha() and letter not in CONTROLS:
            raise source.refused(f"the escape \\{letter}", "an escape of fancy-regex is", start)
        code_point = CONTROLS.get(letter, ord(letter))
        return Characters(members_of((code_point, code_point)))

    def _word_anchor(self, letter: str, start: int) -> Condition | None:
        r"""What \b{start} and its like ask; None for a plain \b."""
        source = self.source
        self._skip_comments()
        inside = (
            source.text[source.position + 1 : source.end].lstrip()
            if source.looking_at("{")
            else "0"
        )
        if not inside or inside[0] in DECIMAL or inside[0] == ",":
            return None
        source.take()
        name = source.take_until("}")
        if letter == "B" or name not in _WORD_ANCHORS:
            raise source.refused(
                f"the anchor \\{letter}{{{name}}}",
                "\\b{start}, \\b{end}, \\b{start-half}, \\b{end-half} are",
                start,
            )
        return _WORD_ANCHORS[name]

    def _group(self, start: int) -> Node | None:
        source = self.source
        self._skip_comments()
        name = None
        for sign, ahead, negative in LOOK_SIGNS:
            if source.skip(sign):
                return Look(self._closed(start), ahead, negative, start)
        if source.skip("?>"):
            return Atomic(self._closed(start), start)
        if source.skip("?<") or source.skip("?P<") or source.skip("?'"):
            name = source.take_until("'" if source.text[source.position - 1] == "'" else ">")
            if not name:
                raise source.refused(
                    "a group without a name in its brackets", "a named group is", start
                )
        elif source.skip("?P>"):
            raise source.refused("a call of a group", "the group written out is", start)
        elif source.skip("?~"):
            raise source.refused("an absent group, (?~...)", "lookaheads are", start)
        elif source.skip("?("):
            raise source.refused(
                "a condition, (?(...)", "alternatives without conditions are", start
            )
        elif source.skip("?"):
            return self._optioned_group(start)
        elif source.looking_at("*"):
            raise source.refused("a backtracking control verb", "patterns without them are", start)
        # A group is a node of its own even when it is empty: it may be repeated.
        number = self.groups.opened(name)
        return self.groups.closed(number, Sequence((self._closed(start),)))

    def _optioned_group(self, start: int) -> Node | None:
        source = self.source
        outer = self._options
        first = source.position
        value = True
        while True:
            self._skip_comments()
            letter = source.take()
            if letter in _OPTION_LETTERS:
                self._options = replace(self._options, **{_OPTION_LETTERS[letter]: value})
            elif letter == "-" and value:
                value = False
            elif letter == ")" and source.text[first : source.position] not in (")", "-)"):
                return None
            elif letter == ":" and source.text[first : source.position] != "-:":
                body = self._closed(start)
                self._options = outer
                return body
            elif not (letter == "u" and value):
                raise source.refused(
                    f"a group that begins with (?{letter}",
                    "the options imsxUR, lookaround and (?> are",
                    start,
                )

    def _closed(self, start: int) -> Node:
        body = self.alternatives()
        if not self.source.skip(")"):
            raise self.source.refused(
                "an unmatched opening parenthesis", "balanced parentheses are", start
            )
        return body
