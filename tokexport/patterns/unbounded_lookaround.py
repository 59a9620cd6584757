r"""Lookaround over any number of characters, as in ``\d{1,3}(?=(?:\d{3})*\b)``: a pass over the
text from its end finds the answers.

Such a lookahead matches what follows a position or does not; which way it matches makes no
difference. So the set of its threads that are sure to reach their end is a state of an automaton
that reads the text backwards, one lookahead inside another included. Reading a symbol, that
automaton writes a *label*: the symbol's class together with the answers of all lookaheads at the
position before it. The automaton that looks for matches reads labels in place of classes, and every
lookahead is a test of the one label ahead.

A lookbehind, as in ``(?<!foo)bar``, is the same from the other side: the pass goes from the start
of the text to its end, what is ahead of it is what is after, and every lookbehind is a test of
the one label after. Below, words like "ahead" are meant as the pass has it.

A pattern that looks far both ways takes two passes. The second goes the other way and reads the
labels of the first in place of classes. So its lookarounds may ask those of the first, which are
tests of a neighbour by then. Where they ask each other to and fro there are more passes, and
passes.py makes two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tokexport.patterns.classes import partition
from tokexport.patterns.dfa import (
    MAX_STATES,
    Automaton,
    Truth,
    determinise_over,
    minimise,
    too_many_states,
    truth_of_look,
)
from tokexport.patterns.labels import Labelling
from tokexport.patterns.nfa import Check, Fork, Match, Program, Take, asked_by, program_of
from tokexport.patterns.passes import in_two_passes
from tokexport.patterns.tree import And, Condition, LookFar, LookOne, Not, Or, PatternError, Test

MAX_LABELS = 2048  # before those that no state tells apart are joined
MAX_ANSWERS = 1 << 19  # that a pass works out, which takes about a minute

_Looks: TypeAlias = (
    "Sequence[tuple[LookFar, Program]]"  # lookarounds, each with the program of its body
)


def needs_labels(program: Program) -> bool:
    """Whether passes over the text must tell a program what a neighbour cannot."""
    return any(isinstance(test, LookFar) for test in _tests(program))


def determinise_with_labels(
    program: Program, alphabet: npt.NDArray[np.int64]
) -> tuple[Automaton, tuple[Labelling, ...]]:
    """The smallest automaton of a program that looks far ahead or after, over labels; and the
    labellings, in the order of the passes.

    ``classes`` of the automaton has the class of each symbol of the alphabet, for the first
    labelling to read. A labelling is left out where a neighbour tells all after all, as other parts
    of the pattern have it. Raises PatternError where that takes too many states or labels.

    >>> from tokexport.patterns.atomic import lower_lookaround_and_atomic
    >>> from tokexport.patterns.fancy import parse
    >>> tree = lower_lookaround_and_atomic(parse("a(?=a*b)"))
    >>> automaton, (labelling,) = determinise_with_labels(program_of(tree), np.arange(97, 100))
    >>> automaton.classes.tolist(), labelling.next.tolist(), labelling.labels.tolist()
    ([0, 1, 2], [[0, 1, 0], [1, 1, 0]], [[0, 1, 2], [3, 1, 2]])
    """
    looks = _innermost_first(program)
    programs = [program, *(inner for _, inner in looks)]
    sets = [members for each in programs for members in each.sets]
    tests = {id(test): test for each in programs for test in _tests(each)}.values()
    near = [test for test in tests if isinstance(test, LookOne)]
    classes = partition([*sets, *(test.members for test in near)], alphabet)
    holds, rows = classes.holds[: len(sets)], classes.holds[len(sets) :]
    truth = {id(test): truth_of_look(test, row) for test, row in zip(near, rows, strict=True)}
    members = {id(each): row for each, row in zip(sets, holds, strict=True)}
    symbols = _Symbols(classes.n_classes, members, truth)

    passes = _passes(looks)
    labellings: list[Labelling] = []
    for number, own in enumerate(passes):
        later = [program, *(inner for each in passes[number + 1 :] for _, inner in each)]
        labelling, symbols = _pass(
            own, symbols, {id(test) for each in later for test in _tests(each)}
        )
        labellings.append(labelling)
    holds = np.array([symbols.members[id(each)] for each in program.sets], dtype=np.bool_)
    holds = holds.reshape(len(program.sets), symbols.count)
    every_symbol = np.arange(symbols.count, dtype=np.int32)
    automaton = minimise(determinise_over(program, every_symbol, holds, symbols.truth))
    joined, kept = in_two_passes(automaton.classes, labellings)
    return replace(automaton, classes=joined[classes.classes]), kept


@dataclass(frozen=True, slots=True)
class _Symbols:
    """What is read: classes or labels, ``count`` of them.

    ``members``: which of them are in a set, by its ``id``. ``truth``: where a test holds, by its
    ``id``: that of a neighbour as its program reads the text, that of a lookaround as the text is
    written.
    """

    count: int
    members: Mapping[int, npt.NDArray[np.bool_]]
    truth: Mapping[int, Truth]


def _pass(looks: _Looks, symbols: _Symbols, asked_later: set[int]) -> tuple[Labelling, _Symbols]:
    """A pass that finds the answers of lookarounds, all of them ahead or all after; and the
    labels that it gives.
    """
    forward = not looks[0][0].ahead
    table = _Backward(looks, symbols, mirrored=forward).table()
    asked = [number for number, (look, _) in enumerate(looks) if id(look) in asked_later]
    labels, symbol_of, answers = _labelled(table.next, table.answers[:, :, asked])
    behind = np.append(symbol_of, symbols.count)
    truth = {
        test: each[np.ix_(behind, behind)]
        for test, each in symbols.truth.items()
        if test in asked_later
    }
    for number, look in enumerate(asked):
        answer = answers[:, :, number][:, behind]
        truth[id(looks[look][0])] = answer if forward else answer.T
    members = {each: row[symbol_of] for each, row in symbols.members.items()}
    return Labelling(table.next, labels, forward), _Symbols(len(symbol_of), members, truth)


def _labelled(
    following: npt.NDArray[np.int64], answers: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The labels before any are joined: a symbol's class together with the answers before it.

    Returns the label by state and class; the class of each label; and, of shape (n_labels + 1,
    n_classes + 1, n_looks), the answers before each label, and at the end of the text, by the class
    after.
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
                    "lookarounds that tell too many kinds of text apart",
                    f"up to {MAX_LABELS} are",
                )
            places.append(int(target))
        labels[state, symbol] = number
    return labels, np.array([symbol for symbol, _ in numbers]), answers[[*places, 0]]


def _passes(looks: _Looks) -> list[_Looks]:
    """The lookarounds of each pass, which go to and fro: they may ask those of the passes before,
    and of their own.

    One that looks ahead is in a pass from the end. Whichever way the first pass goes, so that there
    are as few as can be.
    """
    return min((_passes_from(looks, ahead) for ahead in (True, False)), key=len)


def _passes_from(looks: _Looks, ahead: bool) -> list[_Looks]:
    passes: list[_Looks] = []
    left = looks
    while left:
        own: list[tuple[LookFar, Program]] = []
        later: list[tuple[LookFar, Program]] = []
        for each in left:
            (own if each[0].ahead is ahead and not _asks(each[1], later) else later).append(each)
        if own:
            passes.append(own)
        left = later
        ahead = not ahead
    return passes


def _asks(program: Program, looks: _Looks) -> bool:
    return any(test is look for test in _tests(program) for look, _ in looks)


def _tests(program: Program) -> list[Test]:
    return [test for condition in program.conditions for test in asked_by(condition)]


def _innermost_first(program: Program) -> list[tuple[LookFar, Program]]:
    """Each lookaround that a program asks, with its own program, after those that it asks itself."""
    found: dict[int, tuple[LookFar, Program]] = {}

    def find(asking: Program) -> None:
        for test in _tests(asking):
            if isinstance(test, LookFar) and id(test) not in found:
                inner = program_of(test.body)
                find(inner)
                found[id(test)] = test, inner

    find(program)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Table:
    """``next[state, class]``; ``answers[state, class after, lookahead]``, where the last class is
    that there is none.
    """

    next: npt.NDArray[np.int64]
    answers: npt.NDArray[np.bool_]


class _Backward:
    """Reads backwards. A state is the class of the symbol ahead (or that there is none) and the
    takes that are sure to reach the end of their lookahead if they begin here; what else is sure
    depends on the symbol after, which is read next."""

    def __init__(self, looks: _Looks, symbols: _Symbols, *, mirrored: bool) -> None:
        self._looks = looks
        self._n_classes = symbols.count
        self._ends = [
            [number for number, each in enumerate(program.instructions) if isinstance(each, Match)]
            for _, program in looks
        ]
        self._takes = [_takes_of(program, symbols) for _, program in looks]
        self._sources = [_sources(program) for _, program in looks]
        # The pass before went the other way: what was ahead of it in the text is after this one.
        self._truth = {
            id(test): (
                symbols.truth[id(test)].T
                if mirrored and isinstance(test, LookFar)
                else symbols.truth[id(test)]
            )
            for _, program in looks
            for test in _tests(program)
            if id(test) in symbols.truth
        }
        # What no lookaround of this pass is asked for, by condition, class after and class ahead.
        self._known: dict[tuple[int, int, int], bool] = {}

    def table(self) -> _Table:
        """All states that can be met, the one at the end of the text first."""
        n_classes = self._n_classes
        first = (n_classes, tuple(frozenset[int]() for _ in self._looks))
        numbers = {first: 0}
        queue = [first]
        rows: list[list[int]] = []
        answers: list[list[list[bool]]] = []
        for ahead, takes in queue:
            row, answer = [], []
            for behind in range(n_classes + 1):
                sure, found = self._sure(takes, behind, ahead)
                answer.append(found)
                if behind == n_classes:
                    break
                state = (
                    behind,
                    tuple(self._taken(look, each, behind) for look, each in enumerate(sure)),
                )
                if state not in numbers:
                    if len(numbers) > min(
                        MAX_STATES * 4, MAX_ANSWERS // (n_classes * len(self._looks))
                    ):
                        raise too_many_states()
                    numbers[state] = len(numbers)
                    queue.append(state)
                row.append(numbers[state])
            rows.append(row)
            answers.append(answer)
        return _Table(np.array(rows), np.array(answers, dtype=np.bool_))

    def _taken(self, look: int, sure: set[int], symbol: int) -> frozenset[int]:
        """The takes that may begin before a symbol, if these instructions are sure after it."""
        return frozenset(number for number, target in self._takes[look][symbol] if target in sure)

    def _sure(
        self, takes: tuple[frozenset[int], ...], behind: int, ahead: int
    ) -> tuple[list[set[int]], list[bool]]:
        """The instructions of each lookahead from which it is sure to match here, and whether its
        first is one of them.
        """
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
                        program.conditions[instruction.condition], behind, ahead, answers
                    ):
                        sure.add(source)
                        queue.append(source)
            answers[id(test)] = program.start in sure
            all_sure.append(sure)
        return all_sure, list(answers.values())

    def _holds(
        self, condition: Condition, behind: int, ahead: int, answers: Mapping[int, bool]
    ) -> bool:
        key = id(condition), behind, ahead
        if key in self._known:
            return self._known[key]
        held = self._asked(condition, behind, ahead, answers)
        if not any(id(test) in answers for test in asked_by(condition)):
            self._known[key] = held
        return held

    def _asked(
        self, condition: Condition, behind: int, ahead: int, answers: Mapping[int, bool]
    ) -> bool:
        match condition:
            case LookOne() | LookFar():
                if id(condition) in answers:
                    return answers[id(condition)]
                return bool(self._truth[id(condition)][behind, ahead])
            case And(parts):
                return all(self._asked(part, behind, ahead, answers) for part in parts)
            case Or(parts):
                return any(self._asked(part, behind, ahead, answers) for part in parts)
            case Not(part):
                return not self._asked(part, behind, ahead, answers)


def _takes_of(program: Program, symbols: _Symbols) -> list[list[tuple[int, int]]]:
    """For each symbol the instructions that consume it, and where they go on."""
    takes = [
        (number, each) for number, each in enumerate(program.instructions) if isinstance(each, Take)
    ]
    members = [symbols.members[id(each)] for each in program.sets]
    return [
        [(number, take.target) for number, take in takes if members[take.members][symbol]]
        for symbol in range(symbols.count)
    ]


def _sources(program: Program) -> list[list[int]]:
    """For each instruction those that lead to it without consuming a symbol."""
    sources: list[list[int]] = [[] for _ in program.instructions]
    for number, instruction in enumerate(program.instructions):
        if isinstance(instruction, Fork):
            for target in instruction.targets:
                sources[target].append(number)
        elif isinstance(instruction, Check):
            sources[instruction.target].append(number)
    return sources
