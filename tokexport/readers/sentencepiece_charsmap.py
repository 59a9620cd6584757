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

# Label 0 is where the number of a key stands, so a key has no NUL in it.
_LABELS = np.arange(1, 256, dtype=np.int64)
_BYTES = [bytes((byte,)) for byte in range(256)]
_ROWS = 2048  # nodes whose children are looked for together: 4 MB of places
_LABEL_MASK = 0x800000FF  # a unit that is no label of a child has its highest bit set
# Keys with equal ends and values share nodes, so that many more are visited than there are.
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
    """The keys of the trie with their numbers, the shorter ones first: all nodes of one depth are taken together."""
    keys, nodes = [b""], np.zeros(1, np.int64)
    visited = 0
    while len(nodes):
        visited += len(nodes)
        if visited > _MOST_NODES:
            _damaged(file, "has a trie that leads in a circle")
        here = units[nodes].astype(np.int64)
        bases = nodes ^ ((here >> 10) << ((here & 0x200) >> 6))
        ends = np.nonzero(here & 0x100)[0]
        if len(ends) and bases[ends].max() >= len(units):
            _damaged(file, "has a trie that points behind its end")
        yield from zip([keys[at] for at in ends], (units[bases[ends]] & 0x7FFFFFFF).tolist(), strict=True)
        found = [_children(units, bases[at : at + _ROWS], at) for at in range(0, len(bases), _ROWS)]
        parents, labels = (np.concatenate([part[side] for part in found]) for side in (0, 1))
        keys = [keys[parent] + _BYTES[label] for parent, label in zip(parents.tolist(), labels.tolist(), strict=True)]
        nodes = bases[parents] ^ labels


def _children(
    units: np.ndarray[tuple[int], np.dtype[np.uint32]], bases: np.ndarray[tuple[int], np.dtype[np.int64]], first: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """For each child of the nodes with these bases, the number of its parent, counted from ``first``, and its label."""
    places = bases[:, None] ^ _LABELS
    inside = places < len(units)
    labels = units[np.where(inside, places, 0)] & _LABEL_MASK
    rows, columns = np.nonzero(inside & (labels == _LABELS))
    return rows + first, _LABELS[columns]


def _value(values: bytes, at: int, file: str) -> bytes:
    end = values.find(b"\0", at)
    if at >= len(values) or end < 0:
        _damaged(file, f"has a rule whose value begins at byte {at} and has no end")
    return values[at:end]


def _damaged(file: str, what: str) -> NoReturn:
    raise SourceError(f"{file}: the charsmap {what}; the file is damaged")
