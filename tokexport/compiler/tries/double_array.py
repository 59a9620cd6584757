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

from tokexport import _core
from tokexport.compiler.tables import DoubleArray
from tokexport.limits import MAX_IDS

NO_TOKEN: Final = MAX_IDS
NO_LABEL: Final = 256


def double_array(vocab: Mapping[bytes, int]) -> DoubleArray:
    """The trie of a vocabulary; an empty key is left out, as no text has it.

    >>> trie = double_array({b"a": 7, b"ab": 8})
    >>> int(trie.ids[trie.root + ord("a")]), base_of(trie, b"b")
    (7, 0)
    """
    keys = {key: number for key, number in vocab.items() if key}
    ends = np.cumsum([*map(len, keys)], dtype=np.uint64)
    ids = np.fromiter(keys.values(), np.uint64, len(keys))
    return DoubleArray(*_core.double_array(b"".join(keys), ends, ids, NO_TOKEN))


def base_of(trie: DoubleArray, key: bytes) -> int:
    """The base of the node that a key leads to; 0 where no longer key begins with it."""
    base = trie.root
    for byte in key:
        if trie.labels[base + byte] != byte:
            return 0
        base = int(trie.bases[base + byte])
    return base
