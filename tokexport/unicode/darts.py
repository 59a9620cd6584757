"""Double-array tries as SentencePiece's character maps have them (Darts-clone,
https://github.com/s-yata/darts-clone).

A node is a number; the child for a byte ``b`` of the node ``n`` is at ``n ^ b`` in the array of
units, if the unit there has the label ``b``, and its own number is then its place ``^`` the unit's
offset. A unit says whether a key ends at its node: the key's value is in the unit at the node
itself, which is the child for byte 0. Keys hold no NUL.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.uint32]

HAS_LEAF = 1 << 8
VALUE = (1 << 31) - 1
LABEL = 1 << 31 | 0xFF
BLOCK = 256
LONGEST_KEY = 256  # bytes; NFKC's have 12
MOST_NODES = 1 << 20
PART = 1 << 14  # keys that are given at a time


def keys(units: Units) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
    """Every key with its value: shorter ones first, many of one length at a time, keys of shape
    (n, length) and values of shape (n,).

    Nodes may be shared. IndexError where a unit points outside, ValueError where the trie has a
    loop.

    >>> import numpy as np
    >>> [len(values) for _, values in keys(np.zeros(BLOCK, np.uint32))]
    []
    """
    labels = units & np.uint32(LABEL)
    places = np.flatnonzero((labels > 0) & (labels < BLOCK))
    labels = labels[places].astype(np.uint8)
    parents = places ^ labels
    order = np.argsort(parents, kind="stable")
    parents, places, labels = parents[order], places[order], labels[order]
    offsets = (units >> 10).astype(np.int64) << ((units & (1 << 9)) >> 6)
    nodes = offsets[:1]
    texts = np.zeros((1, 0), np.uint8)
    visited = 0
    while len(nodes):
        first = np.searchsorted(parents, nodes, "left")
        counts = np.searchsorted(parents, nodes, "right") - first
        visited += int(counts.sum())
        if visited > MOST_NODES or texts.shape[1] == LONGEST_KEY:
            raise ValueError("a loop")
        ends = np.cumsum(counts)
        children = np.arange(ends[-1]) + np.repeat(first - ends + counts, counts)
        texts = np.column_stack([np.repeat(texts, counts, axis=0), labels[children]])
        nodes = places[children] ^ offsets[places[children]]
        is_key = np.flatnonzero(units[places[children]] & HAS_LEAF)
        for start in range(0, len(is_key), PART):
            part = is_key[start : start + PART]
            yield texts[part], (units[nodes[part]] & np.uint32(VALUE)).astype(np.int64)
