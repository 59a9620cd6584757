"""The rules in a SentencePiece charsmap, read out of its trie.

The charsmap is the size of a trie in bytes (u32), a double array of u32 units in the layout of
darts-clone (https://github.com/s-yata/darts-clone), and the values that the rules give, each with a
NUL after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from tokexport.errors import SourceError

_LABEL_MASK = 0x800000FF  # a unit that is no label of a child has its highest bit set
# Keys with equal ends and values share nodes, so that many more are visited than there are.
_MOST_NODES = 1 << 20
_LONGEST_KEY = 256  # bytes; NFKC's have 12
_LONGEST_VALUE = 256  # bytes; NFKC's have 33


@dataclass(frozen=True, slots=True)
class Rule:
    """A text that begins with ``key`` goes on after it, with ``value`` put in its place."""

    key: bytes
    value: bytes


def rules(charsmap: bytes, file: str) -> list[Rule]:
    """Every rule, by rising key. SourceError for a charsmap that is damaged.

    >>> rules(b"", "x.model")
    []
    """
    if not charsmap:
        return []
    size = int.from_bytes(charsmap[:4], "little")
    if len(charsmap) <= 4 or not 0 < size <= len(charsmap) - 4 or size % 4:
        _damaged(file, f"says that its trie has {size} bytes, and has {len(charsmap)} in all")
    units = np.frombuffer(charsmap, "<u4", size // 4, 4).tolist()
    values = charsmap[4 + size :]
    found = [Rule(key, _value(values, at, file)) for key, at in _leaves(units, file)]
    return sorted(found, key=lambda rule: rule.key)


def _leaves(units: list[int], file: str) -> Iterator[tuple[bytes, int]]:
    """The keys of the trie with their numbers, in no order."""
    # A node's child for a byte is the unit at its base, exclusive or the byte, if the unit's label
    # is that byte.
    children: dict[int, list[tuple[bytes, int]]] = defaultdict(list)
    for place, unit in enumerate(units):
        label = unit & _LABEL_MASK
        # Label 0 is where the number of a key stands, so a key has no NUL in it.
        if 0 < label < 256:
            children[place ^ label].append((bytes((label,)), place))
    waiting = [(b"", 0)]
    visited = 0
    while waiting:
        key, node = waiting.pop()
        visited += 1
        if visited > _MOST_NODES or len(key) > _LONGEST_KEY:
            _damaged(file, "has a trie that leads in a circle")
        unit = units[node]
        base = node ^ ((unit >> 10) << ((unit & 0x200) >> 6))
        if unit & 0x100:
            if base >= len(units):
                _damaged(file, f"has a trie whose unit {node} points after its end")
            yield key, units[base] & 0x7FFFFFFF
        for label_byte, place in children.get(base, ()):
            waiting.append((key + label_byte, place))


def _value(values: bytes, at: int, file: str) -> bytes:
    end = values.find(b"\0", at, at + _LONGEST_VALUE + 1)
    if end < 0:
        _damaged(
            file,
            f"has a rule whose value begins at byte {at} and has no end in {_LONGEST_VALUE} bytes",
        )
    return values[at:end]


def _damaged(file: str, what: str) -> NoReturn:
    raise SourceError(f"{file}: the charsmap {what}; the file is damaged")
