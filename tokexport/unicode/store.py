"""The file that the Unicode tables are shipped in: one line of JSON, then sequences of integers as
LEB128 bytes.

The header maps names to sequence numbers and says how many bytes each sequence has. The same tables
always make the same bytes: no compression library, no time stamp, sorted keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

CODE_POINTS = 0x110000

CodePoints = npt.NDArray[np.bool_]


def pack(numbers: Iterable[int]) -> bytes:
    """Write unsigned integers as LEB128: seven bits a byte, lowest first, the high bit set on all
    but the last.

    >>> pack([1, 300]).hex()
    '01ac02'
    """
    packed = bytearray()
    for number in numbers:
        while number >= 0x80:
            packed.append(number & 0x7F | 0x80)
            number >>= 7
        packed.append(number)
    return bytes(packed)


def unpack(packed: bytes) -> list[int]:
    """Read what :func:`pack` wrote.

    >>> unpack(pack([1, 300]))
    [1, 300]
    """
    numbers: list[int] = []
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
    return numbers


def set_to_numbers(members: CodePoints) -> list[int]:
    """Code points as distances between the places where membership changes: the first says how many
    non-members come first.

    >>> members = np.zeros(CODE_POINTS, np.bool_)
    >>> members[5:8] = True
    >>> set_to_numbers(members)
    [5, 3]
    """
    edges = np.flatnonzero(np.diff(members, prepend=False, append=False))
    return [int(distance) for distance in np.diff(edges, prepend=0)]


def set_from_numbers(numbers: Sequence[int]) -> CodePoints:
    """Undo :func:`set_to_numbers`; the array, of shape (0x110000,), is read-only, so that it can be
    shared.
    """
    members = np.zeros(CODE_POINTS, np.bool_)
    edges = np.cumsum(np.asarray(numbers, np.int64))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        members[start:stop] = True
    members.setflags(write=False)
    return members


class Writer:
    """Collects sequences, each stored once however often it is added."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def add(self, numbers: Iterable[int]) -> int:
        """Keep a sequence; its number is what the header refers to."""
        return self._numbers.setdefault(pack(numbers), len(self._numbers))

    def file(self, header: dict[str, Any]) -> bytes:
        """The whole file: ``header`` gains the key ``lengths``."""
        head = header | {"lengths": [len(packed) for packed in self._numbers]}
        line = json.dumps(head, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return line.encode() + b"\n" + b"".join(self._numbers)


class Reader:
    """A file of sequences: ``header`` as JSON has it, and each sequence by its number."""

    def __init__(self, file: bytes) -> None:
        line, self._body = file.split(b"\n", 1)
        self.header: dict[str, Any] = json.loads(line)
        self._ends = np.cumsum([0, *self.header["lengths"]])

    def sequence(self, number: int) -> list[int]:
        """One sequence, as it was added."""
        return unpack(self._body[self._ends[number] : self._ends[number + 1]])
