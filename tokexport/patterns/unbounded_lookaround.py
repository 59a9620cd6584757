r"""Lookahead over any number of characters, as in ``\d{1,3}(?=(?:\d{3})*\b)``: a backward pass.

Such a lookahead matches at a position or does not; how it matches makes no difference. So the set
of its threads that are sure to reach their end is a state of an automaton that reads the text
backwards. Reading a symbol, it writes a *label*: the symbol's class together with the results of
all lookaheads at the position before it. The automaton that finds matches reads labels in place of
classes, and every lookahead is a test of the one label ahead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokexport.limits import MAX_STATES
from tokexport.patterns import dfa
from tokexport.patterns.nfa import Check, Match, Nfa, Take, nfa_of, sources_of, tests_of
from tokexport.patterns.tree import LookUnbounded, PatternError

MAX_LABELS = 2048  # before labels that no state distinguishes are joined
MAX_ANSWERS = 1 << 19  # computed for the pass, which takes about a minute


@dataclass(frozen=True, slots=True)
class LabelTable:
    """An automaton that reads a text once, from its end, before matching, and labels each symbol.

    ``next`` and ``labels``, both of shape (n_states, n_classes): by state and class of the
    symbol, the next state and the label. State 0 is the state at the end of the text.
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


def determinise_with_labels(
    program: Nfa, alphabet: Sequence[int]
) -> tuple[dfa.Automaton, LabelTable | None]:
    """The smallest automaton over labels of a program with lookaheads, and the label table.

    ``classes`` of the automaton has the class of each symbol of the alphabet, for the label table
    to read. The table is None if the rest of the pattern makes one neighbour decide after all.
    Raises PatternError if that takes too many states or labels.

    >>> from tokexport.patterns.lookaround import lower_lookaround_and_atomic
    >>> from tokexport.patterns.fancy import parse
    >>> tree = lower_lookaround_and_atomic(parse("a(?=a*b)"))
    >>> automaton, table = determinise_with_labels(nfa_of(tree), range(97, 100))
    >>> automaton.classes.tolist(), table.next.tolist(), table.labels.tolist()
    ([0, 1, 2], [[0, 1, 0], [1, 1, 0]], [[0, 1, 2], [3, 1, 2]])
    """
    looks = {id(test): test for test in tests_of(program) if isinstance(test, LookUnbounded)}
    inner = nfa_of(*(look.body for look in looks.values()))
    tests = {id(test): test for test in (*tests_of(program), *tests_of(inner))}
    sets = [*program.sets, *inner.sets]
    classes, holds, truth = dfa.read_alphabet(sets, [*tests.values()], alphabet)
    own = len(program.sets)
    following, answers = _backward(inner, holds[own:], truth)
    labels, class_of, answers = _labelled(following, answers)
    column = np.append(class_of, holds.shape[1])
    truth = {test: each[np.ix_(column, column)] for test, each in truth.items()}
    for number, look in enumerate(looks):
        truth[look] = answers[:, :, number][:, column].T
    taken = holds[:own][:, class_of]
    every_label = np.arange(len(class_of), dtype=np.int32)
    automaton = dfa.minimise(dfa.determinise_over(program, every_label, taken, truth))

    # The states were numbered in order of discovery, and so are the remaining ones.
    labels = automaton.classes[labels].astype(np.int64)
    first, number_of = dfa.distinct_states(following, labels)
    following, labels = number_of[following[first]], labels[first]
    kept, joined = dfa.distinct_columns(np.concatenate([following, labels]))
    table = LabelTable(following[:, kept], labels[:, kept])
    if len(table.next) > 1:
        return replace(automaton, classes=joined[classes]), table
    alone = table.labels[0][joined].astype(np.int32)
    return replace(automaton, classes=alone[classes]), None


def _labelled(
    following: npt.NDArray[np.int64], answers: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The labels before any are joined: a symbol's class together with the results before it.

    Returns the label by state and class; the class of each label; and the results before each
    label, and at the end of the text, by the class before: (n_labels + 1, n_classes + 1, n_looks).
    """
    numbers: dict[tuple[int, bytes], int] = {}
    labels = np.zeros_like(following)
    places: list[int] = []
    for state, symbol in np.ndindex(*labels.shape):
        target = following[state, symbol]
        number = numbers.setdefault((symbol, answers[target].tobytes()), len(numbers))
        if number == len(places):
            if number == MAX_LABELS:
                found = "lookaheads that distinguish too many kinds of text"
                raise PatternError(0, found, f"distinguish at most {MAX_LABELS} kinds")
            places.append(int(target))
        labels[state, symbol] = number
    return labels, np.array([symbol for symbol, _ in numbers]), answers[[*places, 0]]


def _backward(
    looks: Nfa, holds: npt.NDArray[np.bool_], truth: Mapping[int, dfa.Truth]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """An automaton that reads backwards, for the lookaheads at the starts of one program.

    A state is the class of the symbol ahead (or none) and the takes that are sure to reach the end
    of their lookahead from here; the other sure instructions depend on the symbol before, which is
    read next. Returns the next state, by state and class, and the results, by state, class before
    (the last: none) and lookahead. The state at the end of the text is 0.
    """
    n_classes = holds.shape[1]
    held = np.zeros((len(looks.conditions), n_classes + 1, n_classes + 1), np.bool_)
    for number, condition in enumerate(looks.conditions):
        held[number] = dfa.truth_of(condition, truth)
    instructions, sources = looks.instructions, sources_of(looks)
    ends = [number for number, each in enumerate(instructions) if isinstance(each, Match)]
    takes = [(number, each) for number, each in enumerate(instructions) if isinstance(each, Take)]
    takes_of = [
        [(number, take.target) for number, take in takes if holds[take.members, symbol]]
        for symbol in range(n_classes)
    ]

    def sure(taken: frozenset[int], before: int, ahead: int) -> set[int]:
        """The instructions from which the end of a lookahead is reached."""
        queue = [*ends, *taken]
        found = set(queue)
        for number in queue:
            for source in sources[number]:
                each = instructions[source]
                holds_here = not isinstance(each, Check) or held[each.condition, before, ahead]
                if holds_here and source not in found:
                    found.add(source)
                    queue.append(source)
        return found

    queue = [(n_classes, frozenset[int]())]
    numbers = {queue[0]: 0}
    rows: list[list[int]] = []
    answers: list[list[list[bool]]] = []
    most = min(MAX_STATES * 4, MAX_ANSWERS // (n_classes * len(looks.starts)))
    for ahead, taken in queue:
        reached = [sure(taken, before, ahead) for before in range(n_classes + 1)]
        answers.append([[start in found for start in looks.starts] for found in reached])
        rows.append([])
        for before, found in enumerate(reached[:-1]):
            after = frozenset(number for number, target in takes_of[before] if target in found)
            rows[-1].append(numbers.setdefault((before, after), len(numbers)))
            if rows[-1][-1] == len(queue):
                queue.append((before, after))
        if len(queue) > most:
            raise dfa.too_many_states()
    return np.array(rows), np.array(answers, dtype=np.bool_)
