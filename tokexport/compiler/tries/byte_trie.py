"""Tries that find the longest of some contents at a position in a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from tokexport.compiler.tables import Trie

MAX_NODES = 1 << 24  # a child is 24 bits of an edge


@dataclass(slots=True)
class _Node:
    children: dict[int, _Node] = field(default_factory=dict)
    token: int = -1


def build_trie(contents: Iterable[tuple[int, bytes]]) -> Trie:
    """Builds a trie over (number, content), nodes in breadth-first order.

    Contents are distinct and not empty.

    >>> trie = build_trie([(0, b"<s>"), (1, b"</s>")])
    >>> len(trie.tokens), len(trie.edges)
    (7, 6)
    """
    root = _Node()
    starts = bytearray(32)
    for token, content in contents:
        starts[content[0] >> 3] |= 1 << (content[0] & 7)
        node = root
        for byte in content:
            node = node.children.setdefault(byte, _Node())
        node.token = token
    order = [root] if root.children else []
    firsts: list[int] = []
    edges: list[tuple[int, int]] = []
    for node in order:
        firsts.append(len(edges))
        for byte in sorted(node.children):
            edges.append((byte, len(order)))
            order.append(node.children[byte])
    if len(order) > MAX_NODES:
        raise ValueError(f"texts need {len(order)} trie nodes; at most {MAX_NODES} are possible")
    return Trie(
        np.array([*firsts, len(edges)], np.int64),
        np.array([node.token for node in order], np.int64),
        np.array(edges, np.int64).reshape(-1, 2),
        bytes(starts),
    )
