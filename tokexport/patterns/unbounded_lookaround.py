r"""Lookahead over any number of characters, as in ``\d{1,3}(?=(?:\d{3})*\b)``: a pass over the text
from its end finds the answers.

Such a lookahead matches what follows a position or does not; which way it matches makes no
difference. So the set of its threads that are sure to reach their end is a state of an automaton
that reads the text backwards, one lookahead inside another included. Reading a symbol, that
automaton writes a *label*: the symbol's class together with the answers of all lookaheads at the
position before it. The automaton that looks for matches reads labels in place of classes, and every
lookahead is a test of the one label ahead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tokexport.patterns.classes import distinct_columns
from tokexport.patterns.dfa import (
    MAX_STATES,
    Automaton,
    Truth,
    determinise_over,
    distinct_states,
    minimise,
    read_alphabet,
    too_many_states,
)
from tokexport.patterns.nfa import Check, Match, Nfa, Take, asked_by, nfa_of, sources_of, tests_of
from tokexport.patterns.tree import And, Condition, LookFar, LookOne, Not, Or, PatternError

MAX_LABELS = 2048  # before those that no state tells apart are joined
MAX_ANSWERS = 1 << 19  # that the pass works out, which takes about a minute

# Lookaheads, each with the program of its body.
_Looks: TypeAlias = "Sequence[tuple[LookFar, Nfa]]"


@dataclass(frozen=True, slots=True)
class LabelTable:
    """An automaton that reads a text once, from its end to its start, before any match is looked
    for, and gives each symbol a label.

    ``next`` and ``labels``, both of shape (n_states, n_classes): by state and class of the
    symbol, the next state and the label. State 0 is the one at the end of the text.
    """

    next: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]

    def run(self, classes: Sequence[int]) -> list[int]:
        """The labels of symbols, by their classes."""
        labels = []
        state = 0
        for number in reversed(classes):
            labels.append(int(self.labels[state, number]))
            state = int(self.next[state, number])
        return labels[::-1]


def _smallest(table: LabelTable) -> tuple[npt.NDArray[np.int32], LabelTable]:
    """The same table with as few states and classes as can be, numbered in the order in which they
    are met; and for each class the one that it is joined to.

    Raises PatternError where it has too many states.
    """
    # The states were numbered as they were met, and so are those that are left.
    first, number = distinct_states(table.next, table.labels)
    following, labels = number[table.next[first]], table.labels[first]
    kept, joined = distinct_columns(np.concatenate([following, labels]))
    return joined, LabelTable(following[:, kept], labels[:, kept])


def needs_labels(program: Nfa) -> bool:
    """Whether a program asks what the two neighbours of a position do not tell."""
    return any(isinstance(test, LookFar) for test in tests_of(program))


def determinise_with_labels(
    program: Nfa, alphabet: npt.NDArray[np.int64]
) -> tuple[Automaton, LabelTable | None]:
    """The smallest automaton over labels of a program with lookaheads, and the label table.

    ``classes`` of the automaton has the class of each symbol of the alphabet, for the label table
    to read. That is None where a neighbour tells all after all, as other parts of the pattern have
    it. Raises PatternError where that takes too many states or labels.

    >>> from tokexport.patterns.lookaround import lower_lookaround_and_atomic
    >>> from tokexport.patterns.fancy import parse
    >>> tree = lower_lookaround_and_atomic(parse("a(?=a*b)"))
    >>> automaton, table = determinise_with_labels(nfa_of(tree), np.arange(97, 100))
    >>> automaton.classes.tolist(), table.next.tolist(), table.labels.tolist()
    ([0, 1, 2], [[0, 1, 0], [1, 1, 0]], [[0, 1, 2], [3, 1, 2]])
    """
    looks = _innermost_first(program)
    programs = [program, *(inner for _, inner in looks)]
    sets = [members for each in programs for members in each.sets]
    tests = {id(test): test for each in programs for test in tests_of(each)}
    classes, holds, truth = read_alphabet(sets, [*tests.values()], alphabet)
    members = {id(each): row for each, row in zip(sets, holds, strict=True)}

    backward = _Backward(looks, holds.shape[1], members, truth).table()
    own = {id(test) for test in tests_of(program)}
    asked = [number for number, (look, _) in enumerate(looks) if id(look) in own]
    labels, class_of, answers = _labelled(backward.next, backward.answers[:, :, asked])
    column = np.append(class_of, holds.shape[1])
    truth = {test: each[np.ix_(column, column)] for test, each in truth.items() if test in own}
    for number, look in enumerate(asked):
        truth[id(looks[look][0])] = answers[:, :, number][:, column].T
    taken = np.array([members[id(each)][class_of] for each in program.sets], dtype=np.bool_)
    taken = taken.reshape(len(program.sets), len(class_of))
    every_label = np.arange(len(class_of), dtype=np.int32)
    automaton = minimise(determinise_over(program, every_label, taken, truth))

    joined, table = _smallest(LabelTable(backward.next, automaton.classes[labels].astype(np.int64)))
    if len(table.next) > 1:
        return replace(automaton, classes=joined[classes]), table
    alone = table.labels[0][joined].astype(np.int32)
    return replace(automaton, classes=alone[classes]), None


def _labelled(
    following: npt.NDArray[np.int64], answers: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The labels before any are joined: a symbol's class together with the answers before it.

    Returns the label by state and class; the class of each label; and, of shape (n_labels + 1,
    n_classes + 1, n_looks), the answers before each label, and at the end of the text, by the class
    of the symbol before.
    """
    numbers: dict[tuple[int, bytes], int] = {}
    labels = np.zeros_like(following)
    places: list[int] = []
    for state, symbol in np.ndindex(*labels.shape):
        target = following[state, symbol]
        number = numbers.setdefault((symbol, answers[target].tobytes()), len(numbers))
        if number == len(places):
            if number == MAX_LABELS:
                raise PatternError(
                    0,
                    "lookaheads that tell too many kinds of text apart",
                    f"up to {MAX_LABELS} kinds are supported",
                )
            places.append(int(target))
        labels[state, symbol] = number
    return labels, np.array([symbol for symbol, _ in numbers]), answers[[*places, 0]]


def _innermost_first(program: Nfa) -> list[tuple[LookFar, Nfa]]:
    """Each lookahead that a program asks, with its own program, after those that it asks itself."""
    found: dict[int, tuple[LookFar, Nfa]] = {}

    def find(asking: Nfa) -> None:
        for test in tests_of(asking):
            if isinstance(test, LookFar) and id(test) not in found:
                inner = nfa_of(test.body)
                find(inner)
                found[id(test)] = test, inner

    find(program)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Table:
    """``next[state, class]``; ``answers[state, class before (the last: none), lookahead]``."""

    next: npt.NDArray[np.int64]
    answers: npt.NDArray[np.bool_]


class _Backward:
    """Reads backwards. A state is the class of the symbol ahead (or that there is none) and the
    takes that are sure to reach the end of their lookahead if they begin here; what else is sure
    depends on the symbol before, which is read next.

    ``members``: which classes are in a set, by its ``id``; ``truth``: where a test of a neighbour
    holds, by its ``id``.
    """

    def __init__(
        self,
        looks: _Looks,
        n_classes: int,
        members: Mapping[int, npt.NDArray[np.bool_]],
        truth: Mapping[int, Truth],
    ) -> None:
        self._looks = looks
        self._n_classes = n_classes
        self._truth = truth
        self._ends = [
            [number for number, each in enumerate(program.instructions) if isinstance(each, Match)]
            for _, program in looks
        ]
        self._takes = [_takes_of(program, n_classes, members) for _, program in looks]
        self._sources = [sources_of(program) for _, program in looks]
        # What asks no lookahead, by condition, class before and class ahead.
        self._known: dict[tuple[int, int, int], bool] = {}

    def table(self) -> _Table:
        """All states that can be met, the one at the end of the text first."""
        n_classes = self._n_classes
        first = (n_classes, tuple(frozenset[int]() for _ in self._looks))
        numbers = {first: 0}
        queue = [first]
        rows: list[list[int]] = []
        answers: list[list[list[bool]]] = []
        most = min(MAX_STATES * 4, MAX_ANSWERS // (n_classes * len(self._looks)))
        for ahead, takes in queue:
            row, answer = [], []
            for before in range(n_classes + 1):
                sure, found = self._sure(takes, before, ahead)
                answer.append(found)
                if before == n_classes:
                    break
                taken = tuple(self._taken(look, each, before) for look, each in enumerate(sure))
                number = numbers.setdefault((before, taken), len(numbers))
                if number == len(queue):
                    if number > most:
                        raise too_many_states()
                    queue.append((before, taken))
                row.append(number)
            rows.append(row)
            answers.append(answer)
        return _Table(np.array(rows), np.array(answers, dtype=np.bool_))

    def _taken(self, look: int, sure: set[int], symbol: int) -> frozenset[int]:
        """The takes that may begin before a symbol, if these instructions are sure after it."""
        return frozenset(number for number, target in self._takes[look][symbol] if target in sure)

    def _sure(
        self, takes: tuple[frozenset[int], ...], before: int, ahead: int
    ) -> tuple[list[set[int]], list[bool]]:
        """The instructions from which each lookahead is sure, and whether its first is one."""
        answers: dict[int, bool] = {}
        all_sure = []
        for look, (test, program) in enumerate(self._looks):
            sources = self._sources[look]
            queue = [*self._ends[look], *takes[look]]
            sure = set(queue)
            for number in queue:
                for source in sources[number]:
                    instruction = program.instructions[source]
                    if source in sure:
                        continue
                    if not isinstance(instruction, Check) or self._holds(
                        program.conditions[instruction.condition], before, ahead, answers
                    ):
                        sure.add(source)
                        queue.append(source)
            answers[id(test)] = program.starts[0] in sure
            all_sure.append(sure)
        return all_sure, list(answers.values())

    def _holds(
        self, condition: Condition, before: int, ahead: int, answers: Mapping[int, bool]
    ) -> bool:
        key = id(condition), before, ahead
        if key in self._known:
            return self._known[key]
        held = self._evaluated(condition, before, ahead, answers)
        if not any(id(test) in answers for test in asked_by(condition)):
            self._known[key] = held
        return held

    def _evaluated(
        self, condition: Condition, before: int, ahead: int, answers: Mapping[int, bool]
    ) -> bool:
        match condition:
            case LookFar():
                return answers[id(condition)]
            case LookOne():
                return bool(self._truth[id(condition)][before, ahead])
            case And(parts):
                return all(self._evaluated(part, before, ahead, answers) for part in parts)
            case Or(parts):
                return any(self._evaluated(part, before, ahead, answers) for part in parts)
            case Not(part):
                return not self._evaluated(part, before, ahead, answers)


def _takes_of(
    program: Nfa, n_classes: int, members: Mapping[int, npt.NDArray[np.bool_]]
) -> list[list[tuple[int, int]]]:
    """For each class the instructions that consume it, and where they go on."""
    takes = [
        (number, each) for number, each in enumerate(program.instructions) if isinstance(each, Take)
    ]
    rows = [members[id(each)] for each in program.sets]
    return [
        [(number, take.target) for number, take in takes if rows[take.members][symbol]]
        for symbol in range(n_classes)
    ]
