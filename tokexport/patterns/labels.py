r"""A label table: an automaton that reads a text once, from its end to its start, before any match
is looked for, and gives each symbol a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import MAX_STATES, too_many_states


@dataclass(frozen=True, slots=True)
class LabelTable:
    """``next`` and ``labels``, both of shape (n_states, n_classes): by state and class of the
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


def smallest(table: LabelTable) -> tuple[npt.NDArray[np.int32], LabelTable]:
    """The same table with as few states and classes as can be, numbered in the order in which they
    are met; and for each class the one that it is joined to.

    Raises PatternError where it has too many states.
    """
    following, labels = table.next, table.labels
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
    # The first of each block, in the order of the states: they were numbered as they were met, and
    # state 0 is the first.
    _, first = np.unique(block, return_index=True)
    following, labels = block[following[first]], labels[first]
    columns = np.concatenate([following, labels])
    _, kept, inverse = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    kept = kept[order]
    return number[inverse.reshape(-1)], LabelTable(following[:, kept], labels[:, kept])
