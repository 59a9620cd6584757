r"""Atomic groups and possessive quantifiers.

A group keeps the match that it finds first, so it is a leftmost-first automaton of its own. Run
alone, that automaton ends its match at the last accepting transition before it dies. Where the
symbol ahead always tells whether an accepting transition is the last one, the choice needs no
backtracking: ``\p{L}++`` goes on while there is a letter, ``(?>\r\n|\r)`` takes a line feed if
there is one. Where it does not, as in ``(?:ab)++``, a lookahead over all that follows tells: the
group ends here if it could end nowhere further on.

What the group itself asks of all that follows or precedes, as in ``(?>a(?!bc))``, is answered
outside of it. Its automaton reads symbols each with the answers at the place before it, and takes
them for given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tokexport.patterns.classes import partition
from tokexport.patterns.dfa import DEAD, determinise_over, minimise, sure_to_match, truth_of_look
from tokexport.patterns.dfa import Automaton as Table
from tokexport.patterns.lookaround import condition_of, mirrored, without_needless_groups
from tokexport.patterns.nfa import Program, asked_by, program_of
from tokexport.patterns.tree import (
    ALWAYS,
    NEVER,
    And,
    Assertion,
    Atomic,
    Automaton,
    Characters,
    Choice,
    Condition,
    Look,
    LookFar,
    LookOne,
    Node,
    Not,
    Or,
    PatternError,
    Repeat,
    Sequence,
    Test,
)
from tokexport.unicode import CODE_POINTS, CodePoints

MAX_ASKED = 6  # the symbols that a group reads are twice as many for each


def lower_lookaround_and_atomic(node: Node) -> Node:
    """The same tree with each Look turned into an Assertion, and each Atomic into an Automaton.

    Raises PatternError for an atomic group that is too large, or holds what it cannot.

    >>> from tokexport.patterns.fancy import parse
    >>> len(lower_lookaround_and_atomic(parse("a++")).exits)  # states: the dead one, before the first a, after an a
    3
    """
    match node:
        case Sequence(parts):
            return Sequence(tuple(lower_lookaround_and_atomic(part) for part in parts))
        case Choice(options):
            return Choice(tuple(lower_lookaround_and_atomic(option) for option in options))
        case Repeat(body):
            return replace(node, body=lower_lookaround_and_atomic(body))

        case Look():
            return Assertion(_condition(node))
        case Atomic(body, offset):
            # One character has one match: nothing to keep.
            return (
                body
                if isinstance(body, Characters)
                else _automaton_of(lower_lookaround_and_atomic(body), offset)
            )
        case _:
            return node


def _condition(look: Look) -> Condition:
    if not look.ahead:
        look = replace(look, body=without_needless_groups(look.body))
    try:
        return condition_of(look)
    except PatternError:
        body = lower_lookaround_and_atomic(look.body)
    condition = LookFar(body if look.ahead else mirrored(body, look), look.ahead)
    return Not(condition) if look.negative else condition


def _automaton_of(body: Node, offset: int) -> Automaton:
    program = program_of(body)
    asked = _asked(program, offset)
    symbols, table = _table(program, asked)
    live = table.next != DEAD
    undecided = table.ends & live & ~sure_to_match(table)[table.next]
    states = range(len(table.next))

    arcs = tuple(
        tuple(
            (held, symbols.members(row), int(target))
            for target in np.unique(table.next[state])
            if target != DEAD
            for held, row in symbols.where(table.next[state] == target)
        )
        for state in states
    )
    exits = [symbols.ahead((table.ends & ~live)[state]) for state in states]
    ends = tuple(symbols.ahead(table.ends[state]) for state in states)
    for state in np.flatnonzero(undecided.any(axis=1)).tolist():
        # One more state, the last, is like this one but for its exit: where a match ends from
        # there, it is not here that the last one does.
        further = Automaton(((ALWAYS, len(states)),), (*ends, NEVER), (*arcs, arcs[state]))
        exits[state] = Or(
            (exits[state], And((symbols.ahead(undecided[state]), Not(LookFar(further, True)))))
        )
    starts = tuple(
        (symbols.behind(table.starts == state), int(state)) for state in np.unique(table.starts)
    )
    return Automaton(starts, tuple(exits), arcs)


def _asked(program: Program, offset: int) -> list[Test]:
    """What a program asks that the two neighbours of a place do not tell: each far lookaround,
    each symbol that is doubled.
    """
    tests = {id(test): test for condition in program.conditions for test in asked_by(condition)}
    asked: list[Test] = [test for test in tests.values() if not isinstance(test, LookOne)]
    if len(asked) > MAX_ASKED:
        raise PatternError(
            offset,
            f"{len(asked)} lookarounds over more than one character in an atomic group",
            f"up to {MAX_ASKED} are",
        )
    return asked


class _Symbols:
    """What the automaton of a group reads: the class of a symbol, or that there is none, with the
    answers to all that is asked before it.

    ``asked``: the questions, of which answer number n has bit n. ``classes``: the class of each
    code point. ``columns``: the column of the automaton by answers and class, the last class being
    the end of the text.
    """

    def __init__(
        self, asked: list[Test], classes: npt.NDArray[np.int32], columns: npt.NDArray[np.int32]
    ) -> None:
        self._asked = asked
        self._classes = classes
        self._columns = columns
        # Sets are a million bytes each, and many arcs have the same.
        self._members: dict[bytes, CodePoints] = {}
        self._conditions: dict[tuple[int, ...], Condition] = {}
        self._neighbours: dict[bytes, LookOne] = {}

    def where(self, chosen: npt.NDArray[np.bool_]) -> list[tuple[Condition, npt.NDArray[np.bool_]]]:
        """The symbols that read some of the columns: conditions of which one holds, and the classes
        then, the last being the end.
        """
        rows = chosen[self._columns]
        answers = np.arange(len(rows))
        bits = [
            bit for bit in range(len(self._asked)) if (rows != rows[answers ^ (1 << bit)]).any()
        ]
        alike: dict[bytes, list[int]] = {}
        for answer in answers.tolist():
            if not answer & ~sum(1 << bit for bit in bits):  # those that make no difference are 0
                alike.setdefault(rows[answer].tobytes(), []).append(answer)
        return [
            (self._one_of(group, bits), rows[group[0]])
            for group in alike.values()
            if rows[group[0]].any()
        ]

    def ahead(self, chosen: npt.NDArray[np.bool_]) -> Condition:
        """That what stands ahead of a place reads one of the columns."""
        return Or(tuple(And((held, self._neighbour(row))) for held, row in self.where(chosen)))

    def behind(self, chosen: npt.NDArray[np.bool_]) -> Condition:
        """That what follows a place does; no answer makes a difference there."""
        row = chosen[self._columns[0]]
        return LookOne(False, self.members(row), edge=bool(row[-1]))

    def members(self, row: npt.NDArray[np.bool_]) -> CodePoints:
        """The code points of some classes."""
        key = row[:-1].tobytes()
        if key not in self._members:
            self._members[key] = row[:-1][self._classes]
        return self._members[key]

    def _neighbour(self, row: npt.NDArray[np.bool_]) -> LookOne:
        return self._neighbours.setdefault(
            row.tobytes(), LookOne(True, self.members(row), edge=bool(row[-1]))
        )

    def _one_of(self, group: list[int], bits: list[int]) -> Condition:
        """That the answers are those of a group; only these bits of them make a difference."""
        if not bits:
            return ALWAYS
        key = (*bits, -1, *group)
        if key not in self._conditions:
            each = (
                tuple(
                    self._asked[bit] if answer >> bit & 1 else Not(self._asked[bit]) for bit in bits
                )
                for answer in group
            )
            self._conditions[key] = Or(tuple(map(And, each)))
        return self._conditions[key]


def _table(program: Program, asked: list[Test]) -> tuple[_Symbols, Table]:
    near = [
        test
        for condition in program.conditions
        for test in asked_by(condition)
        if isinstance(test, LookOne)
    ]
    symbols = partition([*program.sets, *(test.members for test in near)], np.arange(CODE_POINTS))
    n_classes, n_answers = symbols.n_classes + 1, 1 << len(asked)
    edges = np.array([False] * len(program.sets) + [test.edge for test in near], dtype=np.bool_)
    holds = np.tile(np.concatenate([symbols.holds, edges[:, None]], axis=1), n_answers)
    rows = holds[len(program.sets) :]
    truth = {id(test): truth_of_look(test, row) for test, row in zip(near, rows, strict=True)}
    every_symbol = np.arange(n_classes * n_answers, dtype=np.int32)
    for bit, test in enumerate(asked):
        answer = np.append((every_symbol // n_classes >> bit & 1).astype(np.bool_), False)
        truth[id(test)] = np.broadcast_to(answer, (len(answer), len(answer)))
    table = minimise(determinise_over(program, every_symbol, holds[: len(program.sets)], truth))
    return _Symbols(asked, symbols.classes, table.classes.reshape(n_answers, n_classes)), table
