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
LONGEST_KEY = 1 << 10


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


def leads_on_by_nul(units: Units) -> bool:
    """Whether a NUL in a text leads from some node to another one, as in an array whose unused
    units are zero.
    """
    nodes = {_offset(int(units[0]))}
    for key, _ in keys(units):
        node = _offset(int(units[0]))
        for byte in key:
            node ^= byte
            node ^= _offset(int(units[node]))
            nodes.add(node)
    return any(int(units[node]) & LABEL == 0 for node in nodes)


def keys(units: Units) -> Iterator[tuple[bytes, int]]:
    """Every key with its value. Nodes may be shared. IndexError where a unit points outside,
    ValueError where the trie has a loop.
    """
    children: dict[int, list[tuple[int, int]]] = {}
    for place, unit in enumerate(units.tolist()):
        if 0 < unit & LABEL < BLOCK:
            children.setdefault(place ^ unit & LABEL, []).append((place, unit))
    pending = [(b"", _offset(int(units[0])))]
    while pending:
        key, node = pending.pop()
        if len(key) > LONGEST_KEY:
            raise ValueError("a loop")
        for place, unit in children.get(node, []):
            longer, child = key + bytes([unit & LABEL]), place ^ _offset(unit)
            if unit & HAS_LEAF:
                yield longer, int(units[child]) & VALUE
            pending.append((longer, child))


def darts_units(values: Mapping[bytes, int]) -> Units:
    """The units of a trie, for keys without NUL and values below 2**31.

    >>> units = darts_units({b"a": 5, b"ab": 7})
    >>> list(prefixes(units, b"abc")), sorted(keys(units))
    ([(1, 5), (2, 7)], [(b'a', 5), (b'ab', 7)])
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
