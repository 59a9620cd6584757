"""A large vocabulary in columns: the joined strings, with their ends and ids as arrays. Python
objects would take ten times the memory, and most of the time of a conversion.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from tokexport._core import differing_places, joined_parts

Numbers = npt.NDArray[np.integer[Any]]
U32 = npt.NDArray[np.uint32]

_SEPARATOR: Final = 0xFF  # never occurs in UTF-8
PART: Final = 1 << 14


def ranges(first: Numbers, counts: Numbers) -> npt.NDArray[np.int64]:
    """For each i, ``counts[i]`` consecutive numbers from ``first[i]`` on.

    >>> ranges(np.array([5, 1]), np.array([2, 3])).tolist()
    [5, 6, 1, 2, 3]
    """
    ends = np.cumsum(counts, dtype=np.int64)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + counts, counts)


@dataclass(frozen=True, eq=False)
class ByteStrings(Sequence[bytes]):
    """Byte strings: string i is ``data[ends[i - 1]:ends[i]]``, and string 0 begins at 0.

    >>> strings = ByteStrings.of([b"ab", b"", b"c"])
    >>> strings[0], [*strings], strings.ends.tolist()
    (b'ab', [b'ab', b'', b'c'], [2, 2, 3])
    """

    data: bytes
    ends: U32

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> ByteStrings:
        if isinstance(strings, cls):
            return strings
        data, sizes = bytearray(), array("I")
        for string in strings:
            data += string
            sizes.append(len(string))
        return cls(bytes(data), _ends(np.array(sizes)))

    @classmethod
    def joined(cls, parts: Sequence[ByteStrings]) -> ByteStrings:
        """The strings of all parts, one after the other."""
        sizes = np.concatenate([np.zeros(0, np.uint32), *(part.sizes for part in parts)])
        return cls(b"".join(part.data for part in parts), _ends(sizes))

    @property
    def begins(self) -> U32:
        return np.concatenate([np.zeros(1, np.uint32), self.ends[:-1]])[: len(self)]

    @property
    def sizes(self) -> U32:
        """The length of each string in bytes."""
        sizes: U32 = self.ends.copy()
        sizes[1:] -= self.ends[:-1]
        return sizes

    @property
    def units(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.data, np.uint8)

    def parts(self) -> Iterator[ByteStrings]:
        """The strings in parts of 16,384, so that arrays with an entry per byte stay small."""
        return (self[at : at + PART] for at in range(0, len(self), PART))

    def take(self, indices: Numbers) -> ByteStrings:
        """The strings at the given indexes.

        >>> [*ByteStrings.of([b"a", b"bc"]).take(np.array([1, 0, 1]))]
        [b'bc', b'a', b'bc']
        """
        if len(indices) == len(self) and (indices[1:] > indices[:-1]).all():
            return self  # all of them
        begins = self.ends[np.maximum(indices, 1) - 1] * (indices > 0)
        return self._at(begins, self.ends[indices] - begins)

    def within(self, skipped: Numbers, sizes: Numbers) -> ByteStrings:
        """``sizes`` bytes of each string, after its first ``skipped`` bytes.

        >>> [*ByteStrings.of([b"abc", b"de"]).within(np.array([1, 0]), np.array([2, 1]))]
        [b'bc', b'd']
        """
        return self._at(self.begins + skipped, sizes)

    def _at(self, begins: Numbers, sizes: Numbers) -> ByteStrings:
        data = joined_parts(self.data, begins.astype(np.uint32), sizes.astype(np.uint32))
        return ByteStrings(data, _ends(sizes))

    def replaced(self, others: Mapping[int, bytes]) -> ByteStrings:
        """The strings, with those at some indexes replaced.

        >>> [*ByteStrings.of([b"a", b"bc"]).replaced({0: b"xyz"})]
        [b'xyz', b'bc']
        """
        if not others:
            return self
        begins, sizes, done, parts = self.begins, self.sizes, 0, []
        for index in sorted(others):
            parts += [self.data[done : begins[index]], others[index]]
            done = int(self.ends[index])
            sizes[index] = len(others[index])
        return ByteStrings(b"".join([*parts, self.data[done:]]), _ends(sizes))

    def changed(self, change: Callable[[bytes], bytes]) -> ByteStrings:
        """The strings, in UTF-8, after ``change``, which is given many strings joined by a byte
        that never occurs in UTF-8 and must keep that byte.

        >>> [*ByteStrings.of([b"a b", b"c"]).changed(lambda text: text.replace(b" ", b"__"))]
        [b'a__b', b'c']
        """
        return ByteStrings.joined([part._changed(change) for part in self.parts()])

    def _changed(self, change: Callable[[bytes], bytes]) -> ByteStrings:
        is_unit = np.ones(len(self.data) + len(self), np.bool_)
        is_unit[self.ends + np.arange(len(self))] = False
        joined = np.full(len(is_unit), _SEPARATOR, np.uint8)
        joined[is_unit] = self.units
        units = np.frombuffer(change(joined.tobytes()), np.uint8)
        is_end = units == _SEPARATOR
        ends = np.flatnonzero(is_end) - np.arange(len(self))
        return ByteStrings(units[~is_end].tobytes(), ends.astype(np.uint32))

    def indices_of_prefix(self, prefix: bytes, *, alone: bool = False) -> Numbers:
        """The indexes of the strings that begin with ``prefix``; ``alone``: that equal it."""
        begins, sizes, units = self.begins, self.sizes, self.units
        wanted = sizes == len(prefix) if alone else sizes >= len(prefix)
        for offset, byte in enumerate(prefix):
            wanted[wanted] = units[begins[wanted] + offset] == byte
        return np.flatnonzero(wanted)

    def indices_of_others(self, other: ByteStrings) -> Numbers:
        """The indexes at which ``other``, which has the same length, differs.

        >>> ByteStrings.of([b"a", b"b", b""]).indices_of_others(ByteStrings.of([b"a", b"c", b"d"]))
        array([1, 2], dtype=uint32)
        """
        return differing_places(self.data, self.ends, other.data, other.ends)

    def __repr__(self) -> str:
        return f"<ByteStrings {len(self):,}>"

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> ByteStrings: ...
    def __getitem__(self, index: int | slice) -> bytes | ByteStrings:
        if isinstance(index, slice):
            first, end, _ = index.indices(len(self))
            begin = self.ends[first - 1] if first else np.uint32(0)
            ends = self.ends[first:end]
            return ByteStrings(self.data[begin : ends[-1] if len(ends) else begin], ends - begin)
        index = range(len(self))[index]
        return self.data[self.ends[index - 1] if index else 0 : self.ends[index]]

    def __iter__(self) -> Iterator[bytes]:
        begin = 0
        for end in self.ends.data:
            yield self.data[begin:end]
            begin = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Suffixes:
    """The strings of ``whole`` without the first bytes of each: only how many is stored."""

    whole: ByteStrings
    skipped: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, strings: ByteStrings, whole: ByteStrings) -> ByteStrings | Suffixes:
        """The strings, as suffixes of as many others if they are."""
        found = [np.zeros(0, np.uint8)]
        for part, other in zip(strings.parts(), whole.parts(), strict=True):
            skipped = other.sizes - part.sizes  # wraps around where the other is shorter
            if skipped.max() > 0xFF:
                return strings
            if len(part.indices_of_others(other.within(skipped, part.sizes))):
                return strings
            found.append(skipped.astype(np.uint8))
        return cls(whole, np.concatenate(found))

    def take(self, indices: Numbers) -> ByteStrings:
        whole, skipped = self.whole.take(indices), self.skipped[indices]
        return whole.within(skipped, whole.sizes - skipped)

    def indices_of_others(self, whole: ByteStrings) -> Numbers:
        """The indexes at which the whole strings differ."""
        return np.flatnonzero(self.skipped).astype(np.uint32)

    def __getitem__(self, index: int) -> bytes:
        return self.whole[index][self.skipped[index] :]

    def __iter__(self) -> Iterator[bytes]:
        return map(lambda string, skipped: string[skipped:], self.whole, self.skipped.tolist())


@dataclass(frozen=True, eq=False)
class Vocabulary(Mapping[bytes, int]):
    """The ids of distinct strings. A lookup is linear: for many lookups, build an index.

    >>> vocabulary = Vocabulary.of({b"a": 7, b"bc": 9})
    >>> vocabulary[b"bc"], b"b" in vocabulary, vocabulary == {b"a": 7, b"bc": 9}
    (9, False, True)
    """

    strings: ByteStrings
    ids: U32

    @classmethod
    def of(cls, ids: Mapping[bytes, int]) -> Vocabulary:
        if isinstance(ids, cls):
            return ids
        return cls(ByteStrings.of(ids), np.fromiter(ids.values(), np.uint32, len(ids)))

    @property
    def without_empty(self) -> Vocabulary:
        """The vocabulary without the empty string, which is never a pre-token."""
        sizes = self.strings.sizes
        return self if sizes.all() else self.at(np.flatnonzero(sizes))

    def at(self, indices: Numbers) -> Vocabulary:
        return Vocabulary(self.strings.take(indices), self.ids[indices])

    def __getitem__(self, key: bytes) -> int:
        indices = self.strings.indices_of_prefix(key, alone=True)
        if not len(indices):
            raise KeyError(key)
        return int(self.ids[indices[0]])

    def items(self) -> ItemsView[bytes, int]:
        """All items at once, without a lookup for each."""
        return dict(zip(self.strings, self.ids.tolist(), strict=True)).items()

    def __len__(self) -> int:
        return len(self.strings)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.strings)


def _ends(sizes: Numbers) -> U32:
    return np.cumsum(sizes, dtype=np.uint32)
