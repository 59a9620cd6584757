r"""Look-around over any number of characters, as in ``\d{1,3}(?=(?:\d{3})*\b)``: a pass over the text from its end finds the answers.

Such a look-ahead matches what follows a position or does not; which way it matches makes no difference. So the set of its threads that
are sure to reach their end is a state of an automaton that reads the text backwards, one look-ahead inside another included. Reading a
symbol, that automaton writes a *label*: the symbol's class together with the answers of all look-aheads at the position before it. The
automaton that looks for matches reads labels in place of classes, and every look-ahead is a test of the one label ahead.

A look-behind, as in ``(?<!foo)bar``, is the same from the other side: the pass goes from the start of the text to its end, what is ahead of
it is what is behind, and every look-behind is a test of the one label behind. Below, words like "ahead" are meant as the pass has it.
A pass goes in one direction, so that a pattern may look far ahead or far behind, not both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokexport.compiler.regex.classes import partition
from tokexport.compiler.regex.dfa import (
    MAX_STATES,
    Automaton,
    Truth,
    determinise_over,
    minimise,
    neighbour_truth,
    too_many_states,
)
from tokexport.compiler.regex.program import Check, Fork, Match, Program, Take, asked_by, program_of
from tokexport.compiler.regex.syntax import Condition, Every, Far, Neighbour, Opposite, PatternError, Some

MAX_LABELS = 2048  # before those that no state tells apart are joined


@dataclass(frozen=True, slots=True)
class Labelling:
    """An automaton that reads a text from its end, or ``forward`` from its start, and gives each symbol a label.

    ``next`` and ``labels``, both of shape (n_states, n_classes): by state and class of the symbol, the next state and the label. State 0 is
    the one to start in.
    """

    next: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    forward: bool = False

    def run(self, classes: Sequence[int]) -> list[int]:
        """The labels of symbols of these classes."""
        labels = []
        state = 0
        for number in classes if self.forward else reversed(classes):
            labels.append(int(self.labels[state, number]))
            state = int(self.next[state, number])
        return labels if self.forward else labels[::-1]


def looks_far(program: Program) -> bool:
    """Whether a program has a look-around that more than one symbol decides."""
    return any(isinstance(test, Far) for test in _tests(program))


def determinise_far(program: Program, alphabet: npt.NDArray[np.int64]) -> tuple[Automaton, Labelling | None]:
    """The smallest automaton of a program that looks far ahead or behind, over labels; and the labelling.

    ``classes`` of the automaton has the class of each symbol of the alphabet, for the labelling to read. There is no labelling where one
    symbol ahead tells all after all, as other parts of the pattern have it.
    Raises PatternError where that takes too many states or labels, or one pass does not tell all.

    >>> from tokexport.compiler.regex.atomic import resolved
    >>> from tokexport.compiler.regex.fancy import parse
    >>> tree = resolved(parse("a(?=a*b)"))
    >>> automaton, labelling = determinise_far(program_of(tree), np.arange(97, 100))
    >>> automaton.classes.tolist(), labelling.next.tolist(), labelling.labels.tolist()
    ([0, 1, 2], [[0, 1, 0], [1, 1, 0]], [[0, 1, 2], [3, 1, 2]])
    """
    looks = _innermost_first(program.conditions)
    forward = not _all_look_ahead(looks)
    programs = [program, *(inner for _, inner in looks)]
    sets = [members for each in programs for members in each.sets]
    near = [test for each in programs for test in _tests(each) if isinstance(test, Neighbour)]
    symbols = partition([*sets, *(test.members for test in near)], alphabet)
    holds, rows = symbols.holds[: len(sets)], symbols.holds[len(sets) :]
    truth = {id(test): neighbour_truth(test, row) for test, row in zip(near, rows, strict=True)}
    members = {id(each): row for each, row in zip(sets, holds, strict=True)}
    table = _Backward(looks, symbols.n_classes, members, truth).table()

    far = {id(test) for test in _tests(program)}
    asked = [number for number, (look, _) in enumerate(looks) if id(look) in far]
    labels, class_of, answers = _labelled(table.next, table.answers[:, :, asked])
    behind = np.append(class_of, symbols.n_classes)
    over_labels = {test: each[np.ix_(behind, behind)] for test, each in truth.items()}
    for number, look in enumerate(asked):
        answer = answers[:, :, number][:, behind]
        over_labels[id(looks[look][0])] = answer if forward else answer.T
    every_label = np.arange(len(class_of), dtype=np.int32)
    own = holds[: len(program.sets), class_of]
    automaton = minimise(determinise_over(program, every_label, own, over_labels))
    classes, labelling = _smallest(symbols.classes, table.next, automaton.classes[labels].astype(np.int64))
    labelling = replace(labelling, forward=forward)
    if len(labelling.next) == 1:
        return replace(automaton, classes=labelling.labels[0][classes].astype(np.int32)), None
    return replace(automaton, classes=classes), labelling


def _labelled(
    following: npt.NDArray[np.int64], answers: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The labels before any are joined: a symbol's class together with the answers before it.

    Returns the label by state and class; the class of each label; and, of shape (n_labels + 1, n_classes + 1, n_looks), the answers before
    each label, and at the end of the text, by the class behind.
    """
    numbers: dict[tuple[int, bytes], int] = {}
    labels = np.zeros_like(following)
    places: list[int] = []
    for state, symbol in np.ndindex(*labels.shape):
        target = following[state, symbol]
        number = numbers.setdefault((symbol, answers[target].tobytes()), len(numbers))
        if number == len(places):
            if number == MAX_LABELS:
                raise PatternError(0, "look-aheads that tell too many kinds of text apart", f"up to {MAX_LABELS} are")
            places.append(int(target))
        labels[state, symbol] = number
    return labels, np.array([symbol for symbol, _ in numbers]), answers[[*places, 0]]


def _all_look_ahead(looks: Sequence[tuple[Far, Program]]) -> bool:
    """Whether all look ahead, or all behind; PatternError where they do not agree."""
    ahead, behind = ([look.offset for look, _ in looks if look.ahead is each] for each in (True, False))
    if ahead and behind:
        raise PatternError(
            max(ahead + behind),
            "a look-ahead and a look-behind over more than one character each",
            "a pattern that looks further than one character in one direction is",
        )
    return not behind


def _tests(program: Program) -> list[Neighbour | Far]:
    return [test for condition in program.conditions for test in asked_by(condition)]


def _innermost_first(conditions: Sequence[Condition]) -> list[tuple[Far, Program]]:
    """Each look-around with its program, behind those that it asks itself."""
    found: list[tuple[Far, Program]] = []
    for condition in conditions:
        for test in asked_by(condition):
            if isinstance(test, Far) and not any(test is look for look, _ in found):
                inner = program_of(test.body)
                found += _innermost_first(inner.conditions)
                found.append((test, inner))
    return found


@dataclass(frozen=True, slots=True)
class _Table:
    """``next[state, class]``; ``answers[state, class behind, look-ahead]``, where the last class is that there is none."""

    next: npt.NDArray[np.int64]
    answers: npt.NDArray[np.bool_]


class _Backward:
    """Reads backwards. A state is the class of the symbol ahead (or that there is none) and the takes that are sure to reach the end of
    their look-ahead if they begin here; what else is sure depends on the symbol behind, which is read next."""

    def __init__(
        self,
        looks: list[tuple[Far, Program]],
        n_classes: int,
        members: Mapping[int, npt.NDArray[np.bool_]],
        truth: Mapping[int, Truth],
    ) -> None:
        self._looks = looks
        self._n_classes = n_classes
        self._truth = truth
        self._members = [[members[id(each)] for each in program.sets] for _, program in looks]
        self._sources = [_sources(program) for _, program in looks]

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
                state = behind, tuple(self._taken(look, each, behind) for look, each in enumerate(sure))
                if state not in numbers:
                    if len(numbers) > MAX_STATES * 4:
                        raise too_many_states()
                    numbers[state] = len(numbers)
                    queue.append(state)
                row.append(numbers[state])
            rows.append(row)
            answers.append(answer)
        return _Table(np.array(rows), np.array(answers, dtype=np.bool_))

    def _taken(self, look: int, sure: set[int], symbol: int) -> frozenset[int]:
        """The takes that may begin before a symbol, if these instructions are sure behind it."""
        members = self._members[look]
        return frozenset(
            number
            for number, instruction in enumerate(self._looks[look][1].instructions)
            if isinstance(instruction, Take) and instruction.target in sure and members[instruction.members][symbol]
        )

    def _sure(self, takes: tuple[frozenset[int], ...], behind: int, ahead: int) -> tuple[list[set[int]], list[bool]]:
        """The instructions of each look-ahead from which it is sure to match here, and whether its first is one of them."""
        answers: dict[int, bool] = {}
        all_sure = []
        for look, (test, program) in enumerate(self._looks):
            held = [self._holds(condition, behind, ahead, answers) for condition in program.conditions]
            sources = self._sources[look]
            queue = [
                number for number, instruction in enumerate(program.instructions) if isinstance(instruction, Match)
            ]
            queue += takes[look]
            sure = set(queue)
            for number in queue:
                for source in sources[number]:
                    instruction = program.instructions[source]
                    if source not in sure and not (isinstance(instruction, Check) and not held[instruction.condition]):
                        sure.add(source)
                        queue.append(source)
            answers[id(test)] = program.start in sure
            all_sure.append(sure)
        return all_sure, list(answers.values())

    def _holds(self, condition: Condition, behind: int, ahead: int, answers: Mapping[int, bool]) -> bool:
        match condition:
            case Neighbour():
                return bool(self._truth[id(condition)][behind, ahead])
            case Far():
                return answers[id(condition)]
            case Every(parts):
                return all(self._holds(part, behind, ahead, answers) for part in parts)
            case Some(parts):
                return any(self._holds(part, behind, ahead, answers) for part in parts)
            case Opposite(part):
                return not self._holds(part, behind, ahead, answers)


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


def _smallest(
    classes: npt.NDArray[np.int32], following: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], Labelling]:
    """The same labelling with as few states and classes as can be, numbered in the order in which they are met; and the classes."""
    block = np.zeros(len(following), dtype=np.int64)
    n_blocks = 0
    while True:
        rows = np.concatenate([block[:, None], labels, block[following]], axis=1)
        numbers: dict[bytes, int] = {}
        block = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
        if len(numbers) == n_blocks:
            break
        n_blocks = len(numbers)
    if n_blocks > MAX_STATES:
        raise too_many_states()
    # The first of each block, in the order of the states: they were numbered as they were met, and state 0 is the first.
    _, first = np.unique(block, return_index=True)
    following, labels = block[following[first]], labels[first]
    columns = np.concatenate([following, labels])
    _, kept, inverse = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    kept = kept[order]
    return number[inverse.reshape(-1)][classes], Labelling(following[:, kept], labels[:, kept])
