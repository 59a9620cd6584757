"""Double-array tries as SentencePiece's character maps have them (Darts-clone,
https://github.com/s-yata/darts-clone).

A node is a number; the child for a byte ``b`` of the node ``n`` is at ``n ^ b`` in the array of
units, if the unit there has the label ``b``, and its own number is then its place ``^`` the unit's
offset. A unit says whether a key ends at its node: the key's value is in the unit at the node
itself, which is the child for byte 0. Keys hold no NUL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.uint32]

HAS_LEAF = 1 << 8
VALUE = (1 << 31) - 1
LABEL = 1 << 31 | 0xFF
BLOCK = 256
LONGEST_KEY = 256  # bytes; NFKC's have 12
MOST_NODES = 1 << 20


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def prefixes(units: Units, text: bytes) -> Iterator[tuple[int, int]]:
    """(length, value) of each key that the text begins with, shorter ones first. IndexError where a
    unit points outside.
    """
    node = _offset(int(units[0]))
    for index, byte in enumerate(text):
        if byte == 0:
            return
        node ^= byte
        unit = int(units[node])
        if unit & LABEL != byte:
            return
        node ^= _offset(unit)
        if unit & HAS_LEAF:
            yield index + 1, int(units[node]) & VALUE


def keys(units: Units) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
    """Every key with its value: for each length, shorter ones first, keys of shape (n, length) and
    values of shape (n,).

    Nodes may be shared. IndexError where a unit points outside, ValueError where the trie has a
    loop.

    >>> [(len(texts), texts.tobytes()) for texts, _ in keys(darts_units({b"a": 5, b"ab": 7}))]
    [(1, b'a'), (1, b'ab')]
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
        is_key = (units[places[children]] & HAS_LEAF) != 0
        yield texts[is_key], (units[nodes[is_key]] & np.uint32(VALUE)).astype(np.int64)


def darts_units(values: Mapping[bytes, int]) -> Units:
    """The units of a trie, for keys without NUL and values below 2**31.

    >>> units = darts_units({b"a": 5, b"ab": 7})
    >>> list(prefixes(units, b"abc"))
    [(1, 5), (2, 7)]
    """
    units = np.zeros(BLOCK, np.uint32)
    taken = np.zeros(BLOCK, np.bool_)
    taken[0] = True
    nodes = {0}
    pending: list[tuple[int, int, list[bytes]]] = [
        (0, 0, sorted(values))
    ]  # place of the unit, depth, keys below
    while pending and values:
        place, depth, below = pending.pop()
        children: dict[int, list[bytes]] = {}
        for key in below:
            children.setdefault(key[depth] if len(key) > depth else 0, []).append(key)
        node = next(
            node
            for node in range(1, 1 << 21)
            if node not in nodes
            and all(node ^ byte >= len(units) or not taken[node ^ byte] for byte in children)
        )
        while max(node ^ byte for byte in children) >= len(units):
            units = np.append(units, np.zeros(BLOCK, np.uint32))
            taken = np.append(taken, np.zeros(BLOCK, np.bool_))
        nodes.add(node)
        units[place] |= np.uint32((place ^ node) << 10)
        for byte, inside in children.items():
            taken[node ^ byte] = True
            if byte == 0:
                units[place] |= np.uint32(HAS_LEAF)
                units[node] = np.uint32(values[inside[0]] | 1 << 31)
            else:
                units[node ^ byte] = np.uint32(byte)
                pending.append((node ^ byte, depth + 1, inside))
    return units
