"""Added tokens as two tries: one over the text as it is, one over the normalized text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tokexport.file.layout import NONE, TRIE_EDGE, TRIE_NODE

MAX_NODES = 1 << 24  # a child is 24 bits of an edge


@dataclass(frozen=True, slots=True)
class Trie:
    """``nodes``: TRIE_NODE, one more than there are nodes (its ``first_edge`` closes the last
    node); ``edges``: TRIE_EDGE, by byte.

    ``starts``: 32 bytes, bit b set where some content starts with byte b.
    """

    nodes: npt.NDArray[np.void]
    edges: npt.NDArray[np.uint32]
    starts: bytes


@dataclass(slots=True)
class _Node:
    children: dict[int, _Node] = field(default_factory=dict)
    token: int = NONE


def build_trie(contents: Iterable[tuple[bytes, int]]) -> Trie:
    """Builds a trie over (content, index of its token), nodes in breadth-first order.

    Contents are distinct and not empty.

    >>> trie = build_trie([(b"<s>", 0), (b"</s>", 1)])
    >>> len(trie.nodes) - 1, len(trie.edges)
    (7, 6)
    """
    root = _Node()
    starts = bytearray(32)
    empty = True
    for content, token in contents:
        empty = False
        starts[content[0] >> 3] |= 1 << (content[0] & 7)
        node = root
        for byte in content:
            node = node.children.setdefault(byte, _Node())
        node.token = token
    if empty:
        return Trie(np.array([(0, NONE)], TRIE_NODE), np.zeros(0, TRIE_EDGE), bytes(starts))
    nodes: list[tuple[int, int]] = []
    edges: list[int] = []
    order = [root]
    for node in order:
        nodes.append((len(edges), node.token))
        for byte in sorted(node.children):
            edges.append(byte << 24 | len(order))
            order.append(node.children[byte])
    if len(order) > MAX_NODES:
        raise ValueError(
            f"added tokens need {len(order)} trie nodes; at most {MAX_NODES} are possible"
        )
    nodes.append((len(edges), NONE))
    return Trie(np.array(nodes, TRIE_NODE), np.array(edges, TRIE_EDGE), bytes(starts))
