r"""A label table: an automaton that reads a text once, from its end to its start, before any match
is looked for, and gives each symbol a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.patterns.classes import distinct_columns
from tokexport.patterns.dfa import distinct_states


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
    # The states were numbered as they were met, and so are those that are left.
    first, number = distinct_states(table.next, table.labels)
    following, labels = number[table.next[first]], table.labels[first]
    kept, joined = distinct_columns(np.concatenate([following, labels]))
    return joined, LabelTable(following[:, kept], labels[:, kept])
