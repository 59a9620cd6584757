"""Two passes over a text in place of any number: what passes to and fro tell of a symbol, one each
way can tell.

The second of two passes can be the first. It does not know then in which state the other one comes
to a place, so it takes along what its own state there is for each of them. Its label says so, and
the other pass, which knows its state, picks what is true. Passes that go the same way, one after
the other, are one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import MAX_STATES, too_many_states
from tokexport.patterns.labels import Labelling, joined_labels


def in_two_passes(
    joined: npt.NDArray[np.int32], labellings: Sequence[Labelling]
) -> tuple[npt.NDArray[np.int32], tuple[Labelling, ...]]:
    """At most two labellings in place of any number, as few and as small as can be.

    ``joined``: for each label of the last what it becomes. Returns the same for each symbol that
    the first one reads. Raises PatternError for too many states.
    """
    labels = np.arange(int(joined.max()) + 1, dtype=np.int32)
    joined, kept = joined_labels(joined, _to_and_fro(labellings))
    while len(kept) > 2:
        # What a pass takes along grows with the states of the other one.
        first = min(range(len(kept) - 1), key=lambda number: len(kept[number].next))
        turned = turned_round(*kept[first : first + 2])
        symbols, kept = joined_labels(
            labels, _to_and_fro([*kept[:first], *turned, *kept[first + 2 :]])
        )
        joined = symbols[joined]
    return joined, kept


def _to_and_fro(labellings: Sequence[Labelling]) -> list[Labelling]:
    """The same with one in place of neighbours that go the same way."""
    passes: list[Labelling] = []
    for labelling in labellings:
        if passes and passes[-1].forward is labelling.forward:
            passes[-1] = composed(passes[-1], labelling)
        else:
            passes.append(labelling)
    return passes


def composed(first: Labelling, second: Labelling) -> Labelling:
    """One labelling for two that go the same way, of which the second reads the labels of the
    first.
    """
    numbers = {(0, 0): 0}
    queue = [(0, 0)]
    following: list[list[int]] = []
    labels: list[list[int]] = []
    for one, other in queue:
        middle = first.labels[one]
        targets = [*zip(first.next[one].tolist(), second.next[other, middle].tolist(), strict=True)]
        for target in targets:
            if target not in numbers:
                if len(numbers) > MAX_STATES * 4:
                    raise too_many_states()
                numbers[target] = len(numbers)
                queue.append(target)
        following.append([numbers[target] for target in targets])
        labels.append(second.labels[other, middle].tolist())
    return Labelling(np.array(following), np.array(labels), first.forward)


def turned_round(first: Labelling, second: Labelling) -> tuple[Labelling, Labelling]:
    """The same labels by two labellings that run in the other order; the two do not go the same
    way.

    >>> seen = Labelling(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [2, 3]]), forward=True)  # 2 more after a 1
    >>> to_come = Labelling(np.array([[0, 0, 1, 1], [1, 1, 1, 1]]), np.array([[0, 1, 2, 3], [4, 5, 6, 7]]))
    >>> one, other = turned_round(seen, to_come)
    >>> one.forward, other.forward, to_come.run(seen.run([0, 1, 0, 1, 0])) == other.run(one.run([0, 1, 0, 1, 0]))
    (False, True, True)
    """
    start = np.zeros(
        len(first.next), dtype=np.int64
    )  # the state of the second one by that of the first
    numbers = {start.tobytes(): 0}
    queue = [start]
    following: list[list[int]] = []
    labels: list[list[int]] = []
    told: dict[bytes, int] = {}
    columns: list[npt.NDArray[np.int64]] = []
    for beyond in queue:
        states = beyond[first.next]
        before = second.next[states, first.labels]
        row, label_row = [], []
        for symbol in range(first.next.shape[1]):
            state = np.ascontiguousarray(before[:, symbol])
            if state.tobytes() not in numbers:
                if len(numbers) > MAX_STATES * 4:
                    raise too_many_states()
                numbers[state.tobytes()] = len(numbers)
                queue.append(state)
            row.append(numbers[state.tobytes()])
            labelled = second.labels[states[:, symbol], first.labels[:, symbol]]
            column = np.stack([first.next[:, symbol], labelled])
            label_row.append(told.setdefault(column.tobytes(), len(told)))
            if len(told) > len(columns):
                columns.append(column)
        following.append(row)
        labels.append(label_row)
    all_columns = np.stack(columns, axis=-1)
    leading = Labelling(np.array(following), np.array(labels), second.forward)
    return leading, Labelling(all_columns[0], all_columns[1], first.forward)
