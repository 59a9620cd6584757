"""The hash functions of the file and the one-probe indexes built on them.

An index is made by hash and displace (Belazzougui, Botelho and Dietzfelbinger, 2009): keys fall
into buckets of about four, and each bucket gets the smallest displacement that puts all its keys
into free slots. A look-up reads one displacement and one slot, hit or miss, so it needs no loop and
cannot run on in a damaged file.

The slots can be parted into rows, each with its own keys. Keys that are looked up together lie side
by side then.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tokexport._core import displace
from tokexport.compiler.tables import PerfectIndex
from tokexport.model import ByteStrings

U64 = npt.NDArray[np.uint64]

K0 = 0x9E3779B97F4A7C15
K1 = 0xD6E8FEB86659FD93
K2 = 0xFF51AFD7ED558CCD

KEYS_PER_BUCKET = 4
LOAD = 0.96  # at 0.98 it takes 1.5 times as long and saves 2 % of two sections


def hash_pairs(left: U64, right: U64) -> U64:
    """Hashes pairs of ids (two arrays of one shape) to 64 bits.

    >>> hex(int(hash_pairs(np.array([1], np.uint64), np.array([2], np.uint64))[0]))
    '0x3417f04a7ae9d540'
    """
    value = (left << np.uint64(21) | right) * np.uint64(K1)
    return _finish(_folded(value, 32))


def hash_contents(contents: Iterable[bytes]) -> U64:
    """Hashes byte strings to 64 bits each; shape (len(contents),).

    >>> [hex(int(value)) for value in hash_contents([b"", b"a", b"token", b"a longer token"])]
    ['0x0', '0xc0485ad377343c80', '0xb42693316ff5daae', '0xd5506ed81764b898']
    """
    strings = ByteStrings.of(contents)
    hashes = np.zeros(len(strings), np.uint64)
    data, lengths, begins = strings.units, strings.sizes, strings.begins
    for length in np.unique(lengths).tolist():
        indexes = np.flatnonzero(lengths == length)
        rows = data[begins[indexes, None] + np.arange(length)]
        hashes[indexes] = _hash_rows(rows, length)
    return hashes


def build_index(hashes: U64) -> PerfectIndex:
    """Finds a displacement for every bucket; raises ValueError when two keys have one hash.

    >>> build_index(hash_contents([b"one", b"two"])).slot_count
    3
    """
    return build_rows(hashes, np.zeros(len(hashes), np.int64), 1, spare=1)


def build_rows(
    hashes: U64, rows: npt.NDArray[np.int64], row_count: int, spare: int = 0
) -> PerfectIndex:
    """The same with rows: key i is in row ``rows[i]``, of room for its keys and ``spare`` more."""
    if (np.diff(np.sort(hashes)) == 0).any():
        raise ValueError("two keys have the same 64-bit hash")
    sizes = np.bincount(rows, minlength=row_count)
    load = LOAD
    while True:
        rooms = (sizes / load).astype(np.int64) + spare
        index = _try_build(hashes, rows, np.concatenate(([0], np.cumsum(rooms))))
        if index is not None:
            return index
        load *= 0.98


def _try_build(
    hashes: U64, rows: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]
) -> PerfectIndex | None:
    bucket_count = max(1, len(hashes) // KEYS_PER_BUCKET)
    buckets = ((hashes & np.uint64(0xFFFFFFFF)) * np.uint64(bucket_count) >> np.uint64(32)).astype(
        np.int64
    )
    sizes = np.bincount(buckets, minlength=bucket_count)
    # Large buckets first, while most slots are free.
    order = np.argsort(-sizes, kind="stable")
    turns = np.empty_like(order)
    turns[order] = np.arange(bucket_count)
    members = np.argsort(turns[buckets], kind="stable")
    firsts = starts[rows[members]]
    rooms = starts[rows[members] + 1] - firsts
    found = displace(
        hashes[members],
        firsts.astype(np.uint64),
        rooms.astype(np.uint64),
        sizes[order].astype(np.uint64),
        int(starts[-1]),
    )
    if found is None:
        return None
    slots = np.zeros(len(hashes), np.int64)
    displacements = np.zeros(bucket_count, np.uint16)
    slots[members], displacements[order] = found
    return PerfectIndex(slots, displacements, starts)


def _hash_rows(rows: npt.NDArray[np.uint8], length: int) -> U64:
    value = np.full(len(rows), length * K0 & 0xFFFFFFFFFFFFFFFF, np.uint64)
    if length == 0:
        pass
    elif length < 4:
        word = _little_endian(rows[:, [0, length >> 1, length - 1]])
        value = _mix(value, word)
    elif length < 8:
        word = _little_endian(rows[:, :4]) | _little_endian(rows[:, length - 4 :]) << np.uint64(32)
        value = _mix(value, word)
    else:
        for start in range(0, length - 8, 8):
            value = _mix(value, _little_endian(rows[:, start : start + 8])) * np.uint64(K2)
        value = _mix(value, _little_endian(rows[:, length - 8 :]))
    return _finish(value)


def _little_endian(columns: npt.NDArray[np.uint8]) -> U64:
    word = np.zeros(len(columns), np.uint64)
    for index in range(columns.shape[1]):
        word |= columns[:, index].astype(np.uint64) << np.uint64(8 * index)
    return word


def _mix(value: U64, word: U64) -> U64:
    mixed: U64 = (value ^ word) * np.uint64(K1)
    return _folded(mixed, 32)


def _finish(value: U64) -> U64:
    return _folded(value * np.uint64(K2), 29)


def _folded(value: U64, bits: int) -> U64:
    folded: U64 = value ^ value >> np.uint64(bits)
    return folded
