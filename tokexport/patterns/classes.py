"""Code points that no set of the pattern distinguishes are one symbol, called an input class."""

from collections.abc import Sequence as Ordered
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport.unicode import CODE_POINTS, CodePoints


def partition(
    sets: Ordered[CodePoints], alphabet: Ordered[int]
) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_]]:
    """The classes into which sets divide an alphabet (code points, in any order): the class of each
    symbol, by first appearance, and ``holds[set, class]``. Surrogates join the class before them.

    >>> digits = np.zeros(CODE_POINTS, dtype=np.bool_); digits[48:58] = True
    >>> partition([digits], range(46, 60))[0].tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    """
    if not sets:
        return np.zeros(len(alphabet), dtype=np.uint8), np.zeros((0, 1), dtype=np.bool_)
    whole = len(alphabet) == CODE_POINTS
    columns = [members if whole else members[[*alphabet]] for members in sets]
    # Most neighbours are alike: compare the sets only where one of them changes.
    changes = np.zeros(len(alphabet), dtype=np.bool_)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    if whole:
        changes[0xD800] = False
        changes[0xE000] = True
    starts = np.flatnonzero(changes)
    membership = np.stack([column[starts] for column in columns])
    first, number = distinct_columns(np.packbits(membership, axis=0))
    lengths = np.diff(starts, append=len(alphabet))
    return np.repeat(number, lengths), membership[:, first]


def distinct_columns(
    rows: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.integer[Any]]]:
    """The distinct columns, in order of first appearance: the first index of each, and for every
    column the number of its distinct column.

    >>> [found.tolist() for found in distinct_columns(np.array([[7, 3, 7]]))]
    [[0, 1], [0, 1, 0]]
    """
    _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.min_scalar_type(len(order)))
    number[order] = np.arange(len(order))
    return first[order], number[inverse.reshape(-1)]
