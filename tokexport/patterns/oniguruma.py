r"""The Oniguruma dialect, as ``tokenizers`` compiles it: Oniguruma's own syntax, in UTF-8, without
options.

``^`` and ``$`` are line anchors, ``(?m)`` lets the dot match a line feed, ``{n,m}+`` is not
possessive (``{m,n}`` with n < m is), an option like ``(?i)`` reaches to the end of its group over
all further alternatives, and case folding may join characters. Facts: Oniguruma 6.9.9, doc/RE, and
what the library does when it is run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokexport.model import Dialect
from tokexport.patterns.captures import Groups
from tokexport.patterns.casefold import folded_set
from tokexport.patterns.cursor import DECIMAL, Cursor
from tokexport.patterns.oniguruma_literal import (
    Item,
    Literal,
    closed_literals,
    finished,
    is_anchor,
    is_open,
    is_string,
    joined,
)
from tokexport.patterns.oniguruma_set import BracketReader, escaped_character
from tokexport.patterns.tree import (
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
from tokexport.unicode import shorthand_set

_LINE_FEED = members_of((0x0A, 0x0A))
_ANY = members_of((0, 0x10FFFF))
_NEW_LINES = members_of((0x0A, 0x0D), (0x85, 0x85), (0x2028, 0x2029))
_START = LookOne(ahead=False, members=members_of(), edge=True)
_END = LookOne(ahead=True, members=members_of(), edge=True)
_LAST_LINE_FEED = Sequence((Repeat(Characters(_LINE_FEED), 0, 1, greedy=True), Assertion(_END)))
_END_OF_LINE = LookOne(ahead=True, members=_LINE_FEED, edge=True)
# After a line feed that ends the text there is no line.
_START_OF_LINE = Or((_START, And((LookOne(False, _LINE_FEED, edge=False), Not(_END)))))
_WORD = shorthand_set("w", Dialect.ONIGURUMA)
_WORD_EDGE = tuple(LookOne(ahead, _WORD, edge=False) for ahead in (False, True))
_WORD_BOUNDARY = Or(
    (And((_WORD_EDGE[0], Not(_WORD_EDGE[1]))), And((Not(_WORD_EDGE[0]), _WORD_EDGE[1])))
)
_ANCHORS: dict[str, Condition] = {
    "A": _START,
    "z": _END,
    "b": _WORD_BOUNDARY,
    "B": Not(_WORD_BOUNDARY),
}
_UNSUPPORTED_ESCAPES = {
    "G": "the search anchor \\G",
    "K": "the match reset \\K",
    "X": "a text segment \\X",
    "y": "a boundary of text segments \\y",
    "Y": "a boundary of text segments \\Y",
}


@dataclass(frozen=True, slots=True)
class _Options:
    ignore_case: bool = False
    dot_all: bool = False
    extended: bool = False
    one_by_one: bool = False  # inside a lookbehind no characters fold together


def parse(pattern: str) -> Node:
    r"""The tree of a pattern.

    Raises PatternError for what Oniguruma refuses, and for what has no place in a tree: calls of a
    group in itself, \G, cut ranges, callouts.

    >>> node = parse("a{2,1}")  # possessive, because 1 < 2
    >>> type(node).__name__, node.body.low, node.body.high
    ('Atomic', 1, 2)
    """
    parser = _Parser(pattern)
    node = parser.alternatives(_Options())
    if not parser.source.at_end:
        raise parser.source.refused("an unmatched closing parenthesis", "balanced parentheses are")
    return node


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.source = Cursor(pattern, Dialect.ONIGURUMA)
        self.groups = Groups(pattern)

    def alternatives(self, options: _Options) -> Node:
        return finished(self._alternatives(options))

    def _alternatives(self, options: _Options) -> list[Item]:
        """The items of the only branch, or one Choice of several branches."""
        branches = [self._branch(options)]
        while self.source.skip("|"):
            branches.append(self._branch(options))
        return (
            branches[0]
            if len(branches) == 1
            else [Choice(tuple(finished(branch) for branch in branches))]
        )

    def _branch(self, options: _Options) -> list[Item]:
        source = self.source
        items: list[Item] = []
        self._skip_comments(options)
        while not (source.at_end or source.looking_at("|") or source.looking_at(")")):
            start = source.position
            atom = self._atom(options)
            self._skip_comments(options)
            piece = self._quantified(atom, options, start)
            one = joined([items[-1], piece[0]]) if items else []
            if len(one) == 1 and is_open(items[-1]) and is_open(piece[0]):
                items[-1] = one[0]
            else:
                # A group without a quantifier is not a node of its own, except at the head of a
                # branch.
                items.extend(piece if items or len(piece) == 1 else [finished(piece)])
        return items or [Literal((), ignore_case=False)]

    def _skip_comments(self, options: _Options) -> None:
        source = self.source
        while True:
            if source.skip("(?#"):
                while (character := source.take()) != ")":
                    if character == "\\" and not source.at_end:
                        source.take()
            elif (
                options.extended
                and not source.at_end
                and source.text[source.position] in " \t\n\r\f"
            ):
                source.take()
            elif options.extended and source.skip("#"):
                while not source.at_end and source.take() != "\n":
                    pass
            else:
                return

    def _quantified(self, atom: list[Item], options: _Options, start: int) -> list[Item]:
        """The atom with all quantifiers that follow; as it is where there is none (or only {1})."""
        node: Node | None = None
        once = False
        while True:
            offset = self.source.position
            quantifier = self._quantifier()
            if quantifier is None:
                return [node] if node is not None else closed_literals(atom) if once else atom
            low, high, greedy, possessive = quantifier
            # After {1} the engine repeats the last character of a string, and not the group that
            # the string stands in.
            if is_anchor(atom) or (once and is_string(atom)):
                raise self.source.refused(
                    "a quantifier on something that cannot be repeated",
                    "one on a character or group is",
                    offset,
                )
            if (low, high) == (1, 1):
                once = node is None
            else:
                body = finished(atom) if node is None else node
                self.source.check_repeat(body, high, offset)
                node = Repeat(body, low, high, greedy)
                if possessive:
                    node = Atomic(node, start)
            self._skip_comments(options)

    def _quantifier(self) -> tuple[int, int | None, bool, bool] | None:
        """Least, most, greedy, possessive."""
        source = self.source
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if source.skip(sign):
                lazy = source.skip("?")
                return low, high, not lazy, not lazy and source.skip("+")
        interval = self._interval()
        if interval is None:
            return None
        low, high, fixed = interval
        if high is not None and low > high:
            return high, low, True, True
        # {n}? is an optional {n}: the question mark is a quantifier of its own.
        return low, high, fixed or not source.skip("?"), False

    def _interval(self) -> tuple[int, int | None, bool] | None:
        """What {n,m}, {n,}, {,m} or {n} says, and whether it is {n}; None where a brace is just a
        brace.
        """
        source = self.source
        start = source.position
        if not source.skip("{"):
            return None
        low = source.take_while(DECIMAL)
        comma = source.skip(",")
        high = source.take_while(DECIMAL) if comma else low
        if not source.skip("}") or not (low or high):
            source.position = start
            return None
        return (
            source.count(low or "0", start),
            source.count(high, start) if high else None,
            not comma,
        )

    def _atom(self, options: _Options) -> list[Item]:
        source = self.source
        start = source.position
        character = source.take()
        match character:
            case "(":
                return self._group(options, start)
            case "[":
                bracket = BracketReader(source).read()
                if bracket.negated or not options.ignore_case:
                    return [Characters(bracket.members(options.ignore_case))]
                return [folded_set(bracket.positive)]
            case ".":
                return [Characters(_ANY if options.dot_all else complement(_LINE_FEED))]
            case "^":
                return [Assertion(_START_OF_LINE)]
            case "$":
                return [Assertion(_END_OF_LINE)]
            case "*" | "+" | "?":
                raise source.refused(
                    f"a {character!r} with nothing to repeat",
                    "one after a character or group is",
                    start,
                )
            case "{":
                source.position = start
                if self._interval() is not None:
                    raise source.refused(
                        "a counted repeat of nothing", "one after a character or group is", start
                    )
                source.position = start + 1
                return [Literal((ord("{"),), options.ignore_case, True, options.one_by_one)]
            case "\\":
                return [self._escape(options, start)]
            case _:
                return [Literal((ord(character),), options.ignore_case, True, options.one_by_one)]

    def _escape(self, options: _Options, start: int) -> Item:
        source = self.source
        letter = source.take()
        if letter in _ANCHORS:
            return Assertion(_ANCHORS[letter])
        if letter in _UNSUPPORTED_ESCAPES:
            raise source.refused(
                _UNSUPPORTED_ESCAPES[letter], "lookahead and lookbehind are", start
            )
        bracketed = source.looking_at("<") or source.looking_at("'")
        if letter == "g" and bracketed:
            raise source.refused("a call of a group", "the group written out is", start)
        if letter in DECIMAL - {"0"} or (letter == "k" and bracketed):
            return self.groups.reference(source, letter, options.ignore_case, start)
        match letter:
            case "Z":
                self._refuse_ahead_inside_behind(True, options, start)
                return Look(_LAST_LINE_FEED, True, False, start)
            case "R":
                carriage_return = Characters(members_of((0x0D, 0x0D)))
                pair = Sequence((carriage_return, Characters(_LINE_FEED)))
                return Atomic(Choice((pair, Characters(_NEW_LINES))), start)

            case "N":
                return Characters(complement(_LINE_FEED))
            case "O":
                return Characters(_ANY)
        source.position = start + 1
        escaped = escaped_character(source, in_bracket=False)
        if isinstance(escaped, int):
            is_open = source.position == start + 2 and escaped == ord(letter)
            return Literal((escaped,), options.ignore_case, is_open, options.one_by_one)
        return Characters(escaped)

    def _refuse_ahead_inside_behind(self, ahead: bool, options: _Options, start: int) -> None:
        if ahead and options.one_by_one:
            raise self.source.refused(
                "a lookbehind that holds a lookahead", "lookbehinds that hold others are", start
            )

    def _group(self, options: _Options, start: int) -> list[Item]:
        source = self.source
        if source.skip("?:"):
            return closed_literals(self._closed(self._alternatives(options), start))
        for sign, ahead, negative in LOOK_SIGNS:
            if source.skip(sign):
                self._refuse_ahead_inside_behind(ahead, options, start)
                inside = replace(options, one_by_one=options.one_by_one or not ahead)
                body = self._closed(self._alternatives(inside), start)
                return [Look(finished(body), ahead, negative, start)]
        if source.skip("?>"):
            return [Atomic(finished(self._closed(self._alternatives(options), start)), start)]
        if source.skip("?~"):
            raise source.refused("an absent group, (?~...)", "lookaheads are", start)
        if source.skip("?("):
            raise source.refused(
                "a condition, (?(...)", "alternatives without conditions are", start
            )
        name = None
        if source.skip("?<") or source.skip("?'"):
            name = source.take_until(">" if source.text[source.position - 1] == "<" else "'")
            if (
                not name
                or name[0] in "0123456789"
                or not all(_WORD[ord(character)] for character in name)
            ):
                raise source.refused(
                    f"a group named {name!r}", "a name of word characters is", start
                )
        elif source.skip("?"):
            return self._optioned_group(options, start)
        elif source.looking_at("*"):
            raise source.refused("a callout", "patterns without callouts are", start)
        # A capturing group is a node of its own, so that nothing in it folds with what stands
        # beside it.
        number = self.groups.opened(name)
        held = finished(self._closed(self._alternatives(options), start))
        return [self.groups.closed(number, held)]

    def _optioned_group(self, options: _Options, start: int) -> list[Item]:
        source = self.source
        value = True
        while (letter := source.take()) not in ":)":
            match letter:
                case "-":
                    value = False
                case "i":
                    options = replace(options, ignore_case=value)
                case "m":
                    options = replace(options, dot_all=value)
                case "x":
                    options = replace(options, extended=value)
                case _:
                    raise source.refused(
                        f"a group that begins with (?{letter}",
                        "the options i, m and x, lookaround and (?> are",
                        start,
                    )
        body = self._alternatives(options)
        # (?i) reaches over all that follows in its group, further alternatives included.
        return [finished(body if letter == ")" else self._closed(body, start))]

    def _closed(self, body: list[Item], start: int) -> list[Item]:
        if not self.source.skip(")"):
            raise self.source.refused(
                "an unmatched opening parenthesis", "balanced parentheses are", start
            )
        return body
