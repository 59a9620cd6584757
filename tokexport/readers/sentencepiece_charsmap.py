"""The rules in a SentencePiece charsmap, read out of its trie.

The charsmap is the size of a trie in bytes (u32), a double array of u32 units in the layout of darts-clone
(https://github.com/s-yata/darts-clone), and the values that the rules give, each with a NUL behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from tokexport.errors import SourceError

_LABELS = np.arange(256, dtype=np.uint32)
_LABEL_MASK = 0x800000FF  # a unit that is no label of a child has its highest bit set
# Keys with equal ends and values share nodes, so that many more are visited than there are; NFKC visits 40,000.
_MOST_NODES = 1 << 20


@dataclass(frozen=True, slots=True)
class Rule:
    """A text that begins with ``key`` goes on behind it, with ``value`` put in its place."""

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
    units = np.frombuffer(charsmap, "<u4", size // 4, 4)
    values = charsmap[4 + size :]
    found = [Rule(key, _value(values, at, file)) for key, at in _leaves(units, file)]
    return sorted(found, key=lambda rule: rule.key)


def _leaves(units: np.ndarray[tuple[int], np.dtype[np.uint32]], file: str) -> Iterator[tuple[bytes, int]]:
    """The keys of the trie with their numbers, in no order."""
    waiting = [(b"", 0)]
    visited = 0
    while waiting:
        key, node = waiting.pop()
        visited += 1
        if visited > _MOST_NODES:
            _damaged(file, "has a trie that leads in a circle")
        unit = int(units[node])
        base = node ^ ((unit >> 10) << ((unit & 0x200) >> 6))
        if unit & 0x100:
            if base >= len(units):
                _damaged(file, f"has a trie whose unit {node} points behind its end")
            yield key, int(units[base]) & 0x7FFFFFFF
        children = base ^ _LABELS.astype(np.int64)
        inside = children < len(units)
        labels = _LABELS[inside]
        # Label 0 is where the number of a key stands, so a key has no NUL in it.
        here = (units[children[inside]] & _LABEL_MASK) == labels
        waiting += [(key + bytes((label,)), base ^ label) for label in labels[here].tolist() if label]


def _value(values: bytes, at: int, file: str) -> bytes:
    end = values.find(b"\0", at)
    if at >= len(values) or end < 0:
        _damaged(file, f"has a rule whose value begins at byte {at} and has no end")
    return values[at:end]


def _damaged(file: str, what: str) -> NoReturn:
    raise SourceError(f"{file}: the charsmap {what}; the file is damaged")
