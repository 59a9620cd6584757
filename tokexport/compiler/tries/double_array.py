"""A trie as a double array: one unit of memory a step.

Every node that has children has a *base* of its own. The child for byte c stands in unit base + c
and carries c as its label. As no two nodes share a base, a unit with label c at place p can only be
a child of the node with base p - c: to compare the label is enough. No node with
children has the base 0, so a leaf has it and needs no other mark.

Source of the idea: J. Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array
Structure", 1989. There a unit checks its parent's place; distinct bases make that one byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tokexport.compiler.tables import DoubleArray
from tokexport.limits import MAX_IDS

NO_TOKEN: Final = MAX_IDS
NO_LABEL: Final = 256
# A node of more children goes where nothing stands yet: to look for a hole that has all of their
# places would take too long. Smaller nodes fill the holes that this leaves.
_CROWD: Final = 8
# Places that are looked at for a smaller node, before it goes where nothing stands yet.
_PATIENCE: Final = 60


def double_array(vocab: Mapping[bytes, int]) -> DoubleArray:
    """The trie of a vocabulary; an empty key is left out, as no text has it.

    >>> trie = double_array({b"a": 7, b"ab": 8})
    >>> int(trie.ids[trie.root + ord("a")]), base_of(trie, b"b")
    (7, 0)
    """
    nodes = _Nodes(vocab)
    places, bases, size = _place(nodes)
    units = np.array(places[1:], np.int64)
    trie = DoubleArray(
        np.zeros(size, np.uint64),
        np.full(size, NO_TOKEN, np.uint64),
        np.full(size, NO_LABEL, np.uint64),
        bases[0],
    )
    trie.bases[units] = bases[1:]
    trie.ids[units] = nodes.ids[1:]
    trie.labels[units] = np.frombuffer(bytes(nodes.labels), np.uint8)[1:]
    return trie


def base_of(trie: DoubleArray, key: bytes) -> int:
    """The base of the node that a key leads to; 0 where no longer key begins with it."""
    base = trie.root
    for byte in key:
        if trie.labels[base + byte] != byte:
            return 0
        base = int(trie.bases[base + byte])
    return base


class _Nodes:
    """The nodes in depth-first order, node 0 the root: labels, ids, and children by node."""

    def __init__(self, vocab: Mapping[bytes, int]) -> None:
        self.labels = bytearray(1)
        self.ids = [NO_TOKEN]
        self.children: dict[int, list[int]] = {0: []}
        path = [0]  # the nodes of the last key, from the root on
        last = b""
        for key in sorted(vocab):
            shared = 0
            for left, right in zip(last, key, strict=False):
                if left != right:
                    break
                shared += 1
            del path[shared + 1 :]
            for byte in key[shared:]:
                node = len(self.labels)
                self.labels.append(byte)
                self.ids.append(NO_TOKEN)
                self.children.setdefault(path[-1], []).append(node)
                path.append(node)
            if key:
                self.ids[path[-1]] = vocab[key]
            last = key


def _place(nodes: _Nodes) -> tuple[list[int], list[int], int]:
    """The place of each node, the base of each node, and the number of units.

    Nodes are placed in depth-first order, so that what is read together lies together. Every base
    leaves room for 256 labels.
    """
    places = [0] * len(nodes.labels)
    bases = [0] * len(nodes.labels)
    taken = _Flags()  # places that hold a node
    used = _Flags()  # bases that a node has
    labels = nodes.labels
    end = 1  # nothing stands from here on
    start = 1  # all places before are taken
    # For an only child with a label: where the search goes on. Places before are taken, or their
    # base is used, and stay so.
    resume = [1 + label for label in range(256)]
    for node, children in nodes.children.items():
        first = labels[children[0]] if children else 0
        if len(children) == 1:
            place = taken.next_free(resume[first])
            while used[place - first]:
                place = taken.next_free(place + 1)
            resume[first] = place + 1
            base = place - first
        else:
            base = 0
            if len(children) <= _CROWD:
                place = start
                for _ in range(_PATIENCE):
                    place = taken.next_free(max(place + 1, 1 + first))
                    base = place - first
                    if not used[base] and not any(
                        taken[base + labels[child]] for child in children
                    ):
                        break
                    base = 0
            if base == 0:
                base = max(1, end - first)
                while used[base]:
                    base += 1
        bases[node] = base
        used.set(base)
        for child in children:
            places[child] = place = base + labels[child]
            taken.set(place)
            end = max(end, place + 1)
        start = max(start, taken.next_free(start))
    return places, bases, max(bases) + 256


class _Flags:
    """Bits of any number, false at first."""

    def __init__(self) -> None:
        self._flags = bytearray(1 << 12)

    def __getitem__(self, index: int) -> bool:
        return index < len(self._flags) and self._flags[index] != 0

    def set(self, index: int) -> None:
        if index >= len(self._flags):
            self._flags += bytes(index)
        self._flags[index] = 1

    def next_free(self, index: int) -> int:
        found = self._flags.find(b"\0", index)
        return max(index, len(self._flags)) if found < 0 else found
