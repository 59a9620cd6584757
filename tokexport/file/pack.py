"""Numbers and arrays as bytes, according to the layout."""

from typing import Any

import numpy as np
import numpy.typing as npt
from construct import Struct

import tokexport.file.layout as layout
from tokexport.compiler.tables import ClassTable, Trie

Part = bytes | memoryview


def view(array: npt.NDArray[Any]) -> memoryview:
    """The bytes of an array, without a copy, as it may be large."""
    return array.reshape(-1).view(np.uint8).data


def struct(declared: Struct, **fields: Any) -> bytes:
    """The bytes of a struct; omitted fields are zero."""
    return bytes(declared.build(fields))


def rows(declared: np.dtype[Any], numbers: npt.ArrayLike) -> bytes:
    """The bytes of records, one for each row of numbers; fields beyond the row length are zero.

    >>> rows(layout.TRIMMING_EXCEPTION, [(1, 2, 3)]).hex()
    '0100000002000300'
    """
    columns = np.asarray(numbers, np.int64).reshape(-1, np.shape(numbers)[-1]).T
    packed = np.zeros(columns.shape[1], declared)
    for name, column in zip(declared.names or (), columns, strict=False):
        packed[name] = column
    return packed.tobytes()


def class_counts(table: ClassTable) -> dict[str, int]:
    """The header fields with the size of a class table."""
    return {"middle_count": len(table.middle), "leaf_count": len(table.leaves)}


def levels(table: ClassTable, leaf: str, *, ascii: bool = False) -> bytes:
    """A class table with leaves of type ``leaf``; ``ascii``: preceded by the values of ASCII."""
    size = layout.CLASS_ASCII // layout.CLASS_BLOCK
    first = table.leaves[table.middle[table.top[0], :size]] if ascii else table.leaves[:0]
    types = (leaf, "<u2", "<u2", leaf)
    parts = (first, table.top, table.middle, table.leaves)
    return b"".join(part.astype(kind).tobytes() for part, kind in zip(parts, types, strict=True))


def bits(pairs: npt.NDArray[np.bool_]) -> bytes:
    """Bits by rows, the lowest bit of each byte first."""
    return np.packbits(pairs, axis=-1, bitorder="little").tobytes()


def trie(texts: Trie) -> bytes:
    """Nodes, with one extra at the end, and edges."""
    nodes = np.zeros(len(texts.first_edges), layout.TRIE_NODE)
    nodes["first_edge"] = texts.first_edges
    nodes["token"] = np.append(texts.tokens, -1).astype("<u4")
    edges = texts.edges[:, 0] << 24 | texts.edges[:, 1]
    return nodes.tobytes() + edges.astype(layout.TRIE_EDGE).tobytes()


def padded(part: bytes) -> bytes:
    """A part padded with zeros to a multiple of 4 bytes."""
    return part + bytes(-len(part) % 4)
