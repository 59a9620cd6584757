r"""Atomic groups and possessive quantifiers, where one code point of lookahead tells which match the group keeps.

A group keeps the match that it finds first, so it is a leftmost-first automaton of its own. Run alone, that automaton ends its match
at the last accepting transition before it dies. Where the symbol ahead always tells whether an accepting transition is the last one,
the choice needs no backtracking: ``\p{L}++`` goes on while there is a letter, ``(?>\r\n|\r)`` takes a line feed if there is one.
Where it does not, as in ``(?:ab)++``, the group is refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tokexport.compiler.regex.dfa import DEAD, determinise, minimise, sure_to_match
from tokexport.compiler.regex.dfa import Automaton as Table
from tokexport.compiler.regex.lookaround import condition_of, mirrored
from tokexport.compiler.regex.program import program_of
from tokexport.compiler.regex.syntax import (
    Assertion,
    Atomic,
    Automaton,
    Characters,
    Choice,
    Condition,
    Far,
    Look,
    Neighbour,
    Node,
    Opposite,
    PatternError,
    Repeat,
    Sequence,
)
from tokexport.compiler.unicode import CODE_POINTS


def resolved(node: Node) -> Node:
    """The same tree with each Look turned into an Assertion, and each Atomic into an Automaton.

    Raises PatternError where one code point of lookahead is not enough for an atomic group.

    >>> from tokexport.compiler.regex.fancy import parse
    >>> len(resolved(parse("a++")).exits)  # states: the dead one, before the first a, behind an a
    3
    """
    match node:
        case Sequence(parts):
            return Sequence(tuple(resolved(part) for part in parts))
        case Choice(options):
            return Choice(tuple(resolved(option) for option in options))
        case Repeat(body, low, high, greedy):
            return Repeat(resolved(body), low, high, greedy)
        case Look():
            return Assertion(_condition(node))
        case Atomic(body, offset):
            # One character has one match: nothing to keep.
            return body if isinstance(body, Characters) else _automaton_of(resolved(body), offset)
        case _:
            return node


def _condition(look: Look) -> Condition:
    try:
        return condition_of(look)
    except PatternError:
        body = resolved(look.body)
    condition = Far(body if look.ahead else mirrored(body, look), look.ahead, look.offset)
    return Opposite(condition) if look.negative else condition


def _automaton_of(body: Node, offset: int) -> Automaton:
    table = minimise(determinise(program_of(body), np.arange(CODE_POINTS)))
    sure = sure_to_match(table)
    live = table.next != DEAD
    if (table.ends & live & ~sure[table.next]).any():
        raise PatternError(
            offset,
            "an atomic group or possessive quantifier whose end depends on more than one character ahead",
            "one is supported where the next character decides whether it goes on, as in X++ for a set X of characters",
        )
    leaves = table.ends & ~live
    states = range(len(table.next))
    return Automaton(
        starts=tuple(
            (_neighbour(table, ahead=False, columns=table.starts == state), int(state))
            for state in np.unique(table.starts)
        ),
        exits=tuple(_neighbour(table, ahead=True, columns=leaves[state]) for state in states),
        arcs=tuple(
            tuple(
                (_neighbour(table, ahead=True, columns=table.next[state] == target).members, int(target))
                for target in np.unique(table.next[state])
                if target != DEAD
            )
            for state in states
        ),
    )


def _neighbour(table: Table, ahead: bool, columns: npt.NDArray[np.bool_]) -> Neighbour:
    return Neighbour(ahead, columns[table.classes], edge=bool(columns[-1]))
