r"""A labelling: an automaton that reads a text once, before any match is looked for, and gives each
symbol a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tokexport.patterns.dfa import MAX_STATES, too_many_states


@dataclass(frozen=True, slots=True)
class Labelling:
    """An automaton that reads a text from its end, or ``forward`` from its start, and gives each
    symbol a label.

    ``next`` and ``labels``, both of shape (n_states, n_classes): by state and class of the symbol,
    the next state and the label. State 0 is the one to start in.
    """

    next: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    forward: bool = False

    def run(self, symbols: Sequence[int]) -> list[int]:
        """The labels of symbols: of classes, or of the labels that another labelling gives."""
        labels = []
        state = 0
        for number in symbols if self.forward else reversed(symbols):
            labels.append(int(self.labels[state, number]))
            state = int(self.next[state, number])
        return labels if self.forward else labels[::-1]


def joined_labels(
    joined: npt.NDArray[np.int32], labellings: Sequence[Labelling]
) -> tuple[npt.NDArray[np.int32], tuple[Labelling, ...]]:
    """The labellings that are left where labels of the last one are joined, and so in turn those
    that only they told apart.

    ``joined``: for each label of the last what it becomes. Returns the same for each symbol that
    the first one reads.
    """
    kept: list[Labelling] = []
    for labelling in reversed(labellings):
        symbols, smallest = smallest_labelling(
            replace(labelling, labels=joined[labelling.labels].astype(np.int64))
        )
        if len(smallest.next) > 1:
            kept.insert(0, smallest)
            joined = symbols
        else:
            joined = smallest.labels[0][symbols].astype(np.int32)
    return joined, tuple(kept)


def smallest_labelling(labelling: Labelling) -> tuple[npt.NDArray[np.int32], Labelling]:
    """The same labelling with as few states and symbols as can be, numbered in the order in which
    they are met; and for each symbol the one that it is joined to."""
    following, labels = labelling.next, labelling.labels
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
    return number[inverse.reshape(-1)], replace(
        labelling, next=following[:, kept], labels=labels[:, kept]
    )
