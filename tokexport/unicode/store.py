"""The tables made by fixtures/unicode_tables: a line of JSON, then sequences of integers in LEB128.

The header maps names to sequence numbers and says how many bytes each sequence has.
"""

from __future__ import annotations

import functools
import json
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

CODE_POINTS = 0x110000

CodePoints = npt.NDArray[np.bool_]


def unpack(packed: bytes) -> list[int]:
    """Unsigned integers in LEB128: seven bits per byte, lowest first; the high bit: more follow.

    >>> unpack(bytes.fromhex("01ac02"))
    [1, 300]
    """
    data = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(data < 0x80) + 1
    starts = np.append(0, ends)[:-1]
    shifts = 7 * (np.arange(len(data)) - np.repeat(starts, ends - starts))
    numbers: list[int] = np.add.reduceat((data & 0x7F).astype(np.int64) << shifts, starts).tolist()
    return numbers


def set_from_numbers(numbers: Sequence[int]) -> CodePoints:
    """A set from the distances between changes of membership: the first is the number of leading
    non-members. Read-only, shape (0x110000,).
    """
    members = np.zeros(CODE_POINTS, np.bool_)
    edges = np.cumsum(np.asarray(numbers, np.int64))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        members[start:stop] = True
    members.setflags(write=False)
    return members


class Reader:
    """A file of sequences: ``header`` is the parsed JSON; sequences are read by number."""

    def __init__(self, file: bytes) -> None:
        line, self._body = file.split(b"\n", 1)
        self.header: dict[str, Any] = json.loads(line)
        self._ends = np.cumsum([0, *self.header["lengths"]])

    def sequence(self, number: int) -> list[int]:
        return unpack(self._body[self._ends[number] : self._ends[number + 1]])

    def members(self, number: int) -> CodePoints:
        return set_from_numbers(self.sequence(number))

    def texts(self, number: int) -> dict[int, tuple[int, ...]]:
        """Code point -> what it becomes, from entries (distance, count, code points)."""
        numbers = iter(self.sequence(number))
        found: dict[int, tuple[int, ...]] = {}
        code_point = 0
        for distance in numbers:
            code_point += distance
            found[code_point] = tuple(next(numbers) for _ in range(next(numbers)))
        return found


@functools.cache
def shipped(name: str) -> Reader:
    # Importing importlib.resources would take 1 MB more.
    return Reader(pkgutil.get_data(__package__, name) or b"")


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The numbers of all code points, or bytes, where most neighbours are equal: the start of each
    interval of equal numbers, and its number. As an array they would take a megabyte.

    >>> numbers = Intervals.of(np.array([7, 7, 0, 7]))
    >>> numbers.starts.tolist(), numbers.values.tolist(), int(numbers[1]), numbers.array().tolist()
    ([0, 2, 3], [7, 0, 7], 7, [7, 7, 0, 7])
    """

    starts: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    size: int

    @classmethod
    def of(cls, numbers: npt.NDArray[Any]) -> Intervals:
        starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
        return cls(starts.astype(np.int32), numbers[starts], len(numbers))

    def array(self, values: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """The number of each code point, or the entry of ``values`` for that number."""
        found = self.values if values is None else values[self.values]
        return np.repeat(found, np.diff(self.starts, append=self.size))

    def __getitem__(self, points: npt.ArrayLike) -> npt.NDArray[Any]:
        return self.values[np.searchsorted(self.starts, points, "right") - 1]

    def __len__(self) -> int:
        return self.size


def distinct(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Same as ``np.unique``, which imports ``numpy.ma``: a megabyte and 15 ms."""
    ordered = np.sort(numbers, axis=None)
    return np.append(ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]])


def distinct_values(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Same as ``np.unique`` with ``return_inverse``, for the numbers of all code points, where most
    neighbours are equal: the distinct numbers, sorted, and for each code point the index of its
    number. Several times as fast, with a small index type.

    >>> [array.tolist() for array in distinct_values(np.array([7, 7, 0, 7]))]
    [[0, 7], [1, 1, 0, 1]]
    """
    intervals = Intervals.of(values)
    distinct, indices = np.unique(intervals.values, return_inverse=True)
    indices = indices.reshape(-1).astype(np.min_scalar_type(len(distinct)))
    return distinct, replace(intervals, values=indices).array()
