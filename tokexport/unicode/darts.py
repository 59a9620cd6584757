"""Double-array tries as in SentencePiece's character maps (Darts-clone,
https://github.com/s-yata/darts-clone).

A node is a number; the child of node ``n`` for a byte ``b`` is unit ``n ^ b``, if that unit has the
label ``b``, and its node number is then its index ``^`` the unit's offset. A unit says whether a
key ends at its node: the key's value is in unit ``n``, which is the child for byte 0. Keys contain
no NUL.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tokexport.model.byte_strings import ranges

Units = npt.NDArray[np.uint32]

HAS_LEAF = 1 << 8
VALUE = (1 << 31) - 1
LABEL = 1 << 31 | 0xFF
BLOCK = 256
LONGEST_KEY = 256  # bytes; NFKC's have 12
MOST_NODES = 1 << 20
PART = 1 << 10  # nodes whose children are found at once


def keys(units: Units) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
    """Every key with its value: shorter ones first, in batches of one length, keys of shape (n,
    length) and values of shape (n,).

    Nodes may be shared. IndexError for a unit that points outside the array, ValueError for a loop.

    >>> import numpy as np
    >>> [len(values) for _, values in keys(np.zeros(BLOCK, np.uint32))]
    []
    """
    labels = units & np.uint32(LABEL)
    places = np.flatnonzero((labels > 0) & (labels < BLOCK)).astype(np.int32)
    labels = labels[places].astype(np.uint8)
    parents = places ^ labels
    order = np.argsort(parents, kind="stable")
    parents, places, labels = parents[order], places[order], labels[order]
    offsets = (units >> 10).astype(np.int32) << ((units & (1 << 9)) >> 6).astype(np.int32)
    # The nodes of one length and their texts, in parts: there may be a quarter of a million.
    level = [(offsets[:1], np.zeros((1, 0), np.uint8))]
    visited = 0
    while level:
        above, level = level, []
        for nodes, texts in above:
            first = np.searchsorted(parents, nodes, "left")
            counts = np.searchsorted(parents, nodes, "right") - first
            visited += int(counts.sum())
            if visited > MOST_NODES or texts.shape[1] == LONGEST_KEY:
                raise ValueError("a loop")
            children = ranges(first, counts)
            longer = np.column_stack([np.repeat(texts, counts, axis=0), labels[children]])
            found = places[children] ^ offsets[places[children]]
            is_key = np.flatnonzero(units[places[children]] & HAS_LEAF)
            if len(is_key):
                yield longer[is_key], (units[found[is_key]] & np.uint32(VALUE)).astype(np.int64)
            starts = range(0, len(found), PART)
            level += ((found[at : at + PART], longer[at : at + PART]) for at in starts)
