r"""Atomic groups and possessive quantifiers.

A group keeps the match that it finds first, so it is a leftmost-first automaton of its own. Run alone, that automaton ends its match
at the last accepting transition before it dies. Where the symbol ahead always tells whether an accepting transition is the last one,
the choice needs no backtracking: ``\p{L}++`` goes on while there is a letter, ``(?>\r\n|\r)`` takes a line feed if there is one.
Where it does not, as in ``(?:ab)++``, a look-ahead over all that follows tells: the group ends here if it could end nowhere further on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tokexport.compiler.regex.dfa import DEAD, determinise, minimise, sure_to_match
from tokexport.compiler.regex.dfa import Automaton as Table
from tokexport.compiler.regex.lookaround import condition_of, mirrored
from tokexport.compiler.regex.program import program_of
from tokexport.compiler.regex.syntax import (
    ALWAYS,
    NEVER,
    Assertion,
    Atomic,
    Automaton,
    Characters,
    Choice,
    Condition,
    Every,
    Far,
    Look,
    Neighbour,
    Node,
    Opposite,
    PatternError,
    Repeat,
    Sequence,
    Some,
)
from tokexport.compiler.unicode import CODE_POINTS


def resolved(node: Node) -> Node:
    """The same tree with each Look turned into an Assertion, and each Atomic into an Automaton.

    Raises PatternError for a look-around over more than one character in an atomic group.

    >>> from tokexport.compiler.regex.fancy import parse
    >>> len(resolved(parse("a++")).exits)  # states: the dead one, before the first a, behind an a
    3
    """
    match node:
        case Sequence(parts):
            return Sequence(tuple(resolved(part) for part in parts))
        case Choice(options):
            return Choice(tuple(resolved(option) for option in options))
        case Repeat(body):
            return replace(node, body=resolved(body))
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
    live = table.next != DEAD
    undecided = table.ends & live & ~sure_to_match(table)[table.next]
    states = range(len(table.next))
    arcs = tuple(
        tuple(
            (_neighbour(table, ahead=True, columns=table.next[state] == target).members, int(target))
            for target in np.unique(table.next[state])
            if target != DEAD
        )
        for state in states
    )
    exits: list[Condition] = [_neighbour(table, ahead=True, columns=(table.ends & ~live)[state]) for state in states]
    ends = tuple(_neighbour(table, ahead=True, columns=table.ends[state]) for state in states)
    for state in np.flatnonzero(undecided.any(axis=1)).tolist():
        # One more state, the last, is like this one but for its exit: where a match ends from there, it is not here that the last one does.
        further = Automaton(((ALWAYS, len(states)),), (*ends, NEVER), (*arcs, arcs[state]))
        here = _neighbour(table, ahead=True, columns=undecided[state])
        exits[state] = Some((exits[state], Every((here, Opposite(Far(further, True, offset))))))
    starts = tuple(
        (_neighbour(table, ahead=False, columns=table.starts == state), int(state)) for state in np.unique(table.starts)
    )
    return Automaton(starts, tuple(exits), arcs)


def _neighbour(table: Table, ahead: bool, columns: npt.NDArray[np.bool_]) -> Neighbour:
    return Neighbour(ahead, columns[table.classes], edge=bool(columns[-1]))
