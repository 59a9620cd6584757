r"""Conditionals: ``(\()?\w+(?(1)\))`` asks for a closing parenthesis where there was an opening
one.

Whether a group has matched is one bit, which a match carries along: program.py writes what depends
on it once for each of its values. An atomic group or a lookaround is compiled by itself. So a
condition in it is asked outside, ``(?>a(?(1)b|c))`` being ``(?(1)(?>ab)|(?>ac))``; and a group in
it that a condition outside asks for is told apart by what else was tried before, ``(?>(a)|b)``
being ``(?:(?>(a))|(?!a)(?>b))``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TypeAlias

from tokexport.patterns.syntax import (
    EMPTY,
    Atomic,
    Choice,
    Conditional,
    Group,
    Look,
    Node,
    Passed,
    PatternError,
    Reference,
    Repeat,
    Sequence,
    has_one_match,
    nodes_of,
    parts_of,
    with_parts,
)

MAX_GROUPS = 6  # that conditions ask for: a program is twice as long for each


def conditional(condition: int | Atomic, yes: Node, no: Node, offset: int) -> Node:
    """A conditional that asks for a group by its number, or whether a pattern matches here, which
    then keeps what it matches.

    >>> from tokexport.patterns.oniguruma import parse
    >>> [type(part).__name__ for part in parse("(a)?(?(1)b|c)").parts]
    ['Repeat', 'Conditional']
    """
    if isinstance(condition, int):
        return Conditional(condition, yes, no, offset)
    return Choice(
        (Sequence((condition, yes)), Sequence((Look(condition.body, True, True, offset), no)))
    )


def told(node: Node) -> Node:
    """The tree with a Passed at the end of each group that a condition asks for, and no conditional
    in an atomic group or a lookaround that asks for what is outside.

    Raises PatternError where that is not certain.

    >>> from tokexport.patterns.oniguruma import parse
    >>> [type(part).__name__ for part in told(parse("(a)?(?>(?(1)b|c))")).parts]  # the atomic groups are in the conditional
    ['Repeat', 'Conditional']
    """
    asked = {each.group: each for each in nodes_of(node) if isinstance(each, Conditional)}
    if not asked:
        return node
    if any(isinstance(each, Reference) for each in nodes_of(node)) or len(asked) > MAX_GROUPS:
        raise refused(
            next(iter(asked.values())).offset,
            f"in a pattern without references to groups, and for up to {MAX_GROUPS} of them, it is",
        )
    return _Teller(tuple(each for each in nodes_of(node) if isinstance(each, Conditional))).told(
        node, False
    )


def refused(offset: int, supported: str) -> PatternError:
    """The error for a conditional."""
    return PatternError(offset, "a condition on a group", supported)


@dataclass(frozen=True, slots=True)
class _Teller:
    """``conditionals``: those of the whole pattern."""

    conditionals: tuple[Conditional, ...]

    def told(self, node: Node, repeated: bool) -> Node:
        """``repeated``: the node may match again, so what it tells may be asked in it too."""
        again = repeated or (isinstance(node, Repeat) and node.high != 1)
        told = with_parts(node, tuple(self.told(part, again) for part in parts_of(node)))
        match told:
            case Group(number, body):
                return Sequence((body, Passed(number))) if number in self._asked() else body
            case Repeat(body) if told.empty_turns is not None and self._asked() & _passed(body):
                raise refused(
                    told.empty_turns,
                    "on a group outside of repeats of something that may be empty, it is",
                )
            case Atomic() | Look():
                within = {id(each) for each in nodes_of(node)}
                outside = frozenset(
                    each.group for each in self.conditionals if id(each) not in within
                )
                passed = _passed(told.body)
                return _sealed(
                    told, self._asked() if again else outside, frozenset() if again else passed
                )
            case _:
                return told

    def _asked(self) -> frozenset[int]:
        return frozenset(each.group for each in self.conditionals)


def _sealed(node: Atomic | Look, exported: frozenset[int], settled: frozenset[int]) -> Node:
    """The same where nothing in the node asks for what is outside, nor outside for what is in it,
    but for Passed nodes after it.

    ``exported``: the groups that are asked for outside. ``settled``: those that have not matched
    before.
    """
    asked = {each.group: each for each in nodes_of(node) if isinstance(each, Conditional)}
    passed = _passed(node.body)
    for group, each in asked.items():
        if group not in settled:
            yes = replace(node, body=_given(node.body, group, True))
            no = node if group in passed else replace(node, body=_given(node.body, group, False))
            return Conditional(
                group,
                _sealed(yes, exported, settled),
                _sealed(no, exported, settled | {group}),
                each.offset,
            )
    told = passed & exported
    if isinstance(node, Look):
        if not node.ahead and (told or passed & asked.keys()):
            raise refused(node.offset, "on a group outside of lookbehinds it is")
        if node.negative:
            told = frozenset()
    for group in passed - told - asked.keys():
        node = replace(node, body=_given(node.body, group, True))
    if not told:
        return node
    options: list[Node] = []
    before: list[Node] = []
    for body, groups in _joined_ways(node.body, told, node.offset):
        for group in told - asked.keys():
            body = _given(body, group, True)
        options.append(Sequence((*before, replace(node, body=body), *map(Passed, sorted(groups)))))
        before.append(Look(body, True, True, node.offset))
    return Choice(tuple(options))


def _passed(node: Node) -> frozenset[int]:
    return frozenset(each.group for each in nodes_of(node) if isinstance(each, Passed))


def _given(node: Node, group: int, matched: bool) -> Node:
    """The same where it is known whether a group has matched."""
    match node:
        case Conditional(other, yes, no) if other == group:
            return _given(yes if matched else no, group, matched)
        case Passed(other) if other == group:
            return EMPTY
        case _:
            return with_parts(node, tuple(_given(part, group, matched) for part in parts_of(node)))


# what is tried, in order, and the groups that have matched then
_Ways: TypeAlias = "list[tuple[Node, frozenset[int]]]"


def _joined_ways(node: Node, told: frozenset[int], offset: int) -> _Ways:
    """All ways in which a node may match, as few as can be."""
    return [
        (Choice(tuple(way for way, _ in same)), groups)
        for groups, same in itertools.groupby(_ways(node, told, offset), key=lambda way: way[1])
    ]


def _ways(node: Node, told: frozenset[int], offset: int) -> _Ways:
    if not told & _passed(node):
        return [(node, frozenset())]
    match node:
        case Passed(group):
            return [(node, frozenset({group}))]
        case Choice(options):
            return [way for option in options for way in _ways(option, told, offset)]
        case Repeat(body, 0, 1, greedy):
            skipped: _Ways = [(EMPTY, frozenset())]
            turns = _ways(body, told, offset)
            return turns + skipped if greedy else skipped + turns
        case Repeat(body, low) if low and len(_joined_ways(body, told, offset)) == 1:
            return [(node, _ways(body, told, offset)[0][1])]
        case Sequence(parts):
            ways: _Ways = [(EMPTY, frozenset())]
            for part in parts:
                further = _joined_ways(part, told, offset)
                # The first of these with each of those comes before the second: not if the first
                # can match in many ways.
                if len(further) > 1 and not all(has_one_match(way) for way, _ in ways):
                    break
                ways = [
                    (Sequence((way, more)), groups | others)
                    for way, groups in ways
                    for more, others in further
                ]
            else:
                return ways
    raise refused(
        offset,
        "on a group outside of atomic groups and lookarounds, or as plain as in (?>(a)|b), it is",
    )
