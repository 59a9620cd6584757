"""Tables that several sections use: by code point (SPEC 2.2), and tries of bytes (SPEC 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

from .data import NONE, require, u16, u32

TOP, BLOCK = 272, 64


@dataclass(frozen=True)
class Levels:
    """A table of three levels over code points, stored in ``data`` from ``at`` on.

    ``width``: bytes of an entry of the third level; ``tops``: the number of first levels.
    """

    data: bytes
    at: int
    middle_count: int
    leaf_count: int
    width: int
    tops: int = 1

    @property
    def size(self) -> int:
        """Its size in bytes."""
        blocks = 2 * self.middle_count + self.width * self.leaf_count
        return 2 * TOP * self.tops + BLOCK * blocks

    def find(self, c: int, top: int = 0) -> int:
        """The entry of a code point; block numbers are checked when they are used."""
        middle_at = self.at + 2 * TOP * self.tops
        leaves_at = middle_at + 2 * BLOCK * self.middle_count
        block = u16(self.data, self.at + 2 * (TOP * top + (c >> 12)))
        require(block < self.middle_count, "TKX_E_CORRUPT")
        block = u16(self.data, middle_at + 2 * (BLOCK * block + (c >> 6 & 63)))
        require(block < self.leaf_count, "TKX_E_CORRUPT")
        entry = leaves_at + self.width * (BLOCK * block + (c & 63))
        return int.from_bytes(self.data[entry : entry + self.width], "little")


@dataclass(frozen=True)
class ClassTable:
    """The class of each code point, or of each of 256 bytes if ``levels`` is None."""

    low: bytes
    levels: Levels | None

    def __getitem__(self, c: int) -> int:
        if c < len(self.low) or self.levels is None:
            return self.low[c]
        return self.levels.find(c)


def class_table(data: bytes, at: int, middle_count: int, leaf_count: int) -> ClassTable:
    """A class table of code points."""
    return ClassTable(data[at : at + 128], Levels(data, at + 128, middle_count, leaf_count, 1))


@dataclass(frozen=True)
class ByteTrie:
    """A trie of byte strings, stored in ``data`` from ``at`` on."""

    data: bytes
    at: int
    node_count: int
    edge_count: int

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return 8 * (self.node_count + 1) + 4 * self.edge_count

    def child(self, node: int, byte: int) -> int:
        """The child of a node for a byte; 0, the root, if it has none."""
        first, end = u32(self.data, self.at + 8 * node), u32(self.data, self.at + 8 * node + 8)
        require(first <= end <= self.edge_count, "TKX_E_CORRUPT")
        edges_at = self.at + 8 * (self.node_count + 1)
        for edge in range(first, end):
            label, child = divmod(u32(self.data, edges_at + 4 * edge), 1 << 24)
            if label == byte:
                require(child < self.node_count, "TKX_E_CORRUPT")
                return child
        return 0

    def longest(self, text: bytes, at: int) -> tuple[int, int]:
        """Where the longest string of the trie that occurs at an offset of a text ends, and its
        token; (at, NONE) if there is none.
        """
        found = at, NONE
        node = 0
        for end in range(at + 1, len(text) + 1 if self.node_count else 0):
            node = self.child(node, text[end - 1])
            if node == 0:
                break
            require(end - at <= self.node_count, "TKX_E_CORRUPT")  # otherwise there is a cycle
            token = u32(self.data, self.at + 8 * node + 4)
            if token != NONE:
                found = end, token
        return found
