"""Code points that no set of the pattern tells apart are one symbol of the automaton: a class."""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.unicode import CODE_POINTS, CodePoints


@dataclass(frozen=True, slots=True)
class Partition:
    """``classes``: that of each symbol, by first appearance. ``holds[set, class]``: membership."""

    classes: npt.NDArray[np.int32]
    holds: npt.NDArray[np.bool_]

    @property
    def n_classes(self) -> int:
        return int(self.holds.shape[1])


def partition(sets: Ordered[CodePoints], alphabet: npt.NDArray[np.int64]) -> Partition:
    """Split an alphabet (code points, in any order) into the classes that the sets tell apart.

    The surrogates are no characters, and go wherever the code point before them is, so that they
    cost no class.

    >>> digits = np.zeros(CODE_POINTS, dtype=np.bool_); digits[48:58] = True
    >>> partition([digits], np.arange(46, 60)).classes.tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    """
    if not sets:
        return Partition(np.zeros(len(alphabet), dtype=np.int32), np.zeros((0, 1), dtype=np.bool_))
    whole = len(alphabet) == CODE_POINTS
    columns = [members if whole else members[alphabet] for members in sets]
    # Neighbours are mostly alike: compare the sets only where one of them changes.
    changes = np.zeros(len(alphabet), dtype=np.bool_)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    if whole:
        changes[0xD800] = False
        changes[0xE000] = True
    starts = np.flatnonzero(changes)
    membership = np.stack([column[starts] for column in columns])
    packed = np.packbits(membership, axis=0)
    _, first, inverse = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    lengths = np.diff(starts, append=len(alphabet))
    return Partition(np.repeat(number[inverse], lengths), membership[:, first[order]])
