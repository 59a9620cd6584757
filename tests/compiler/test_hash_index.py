"""Every key is found with one probe, and the hash functions match the specification."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import displace
from tokexport.compiler.hashing import build_index, hash_contents, hash_pairs

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53


def slow_hash(content: bytes) -> int:
    """The definition in SPEC.md, literally."""
    size = len(content)
    words = []
    if 0 < size < 4:
        words = [bytes((content[0], content[size >> 1], content[size - 1]))]
    elif 4 <= size < 8:
        words = [content[:4] + content[-4:]]
    elif size >= 8:
        words = [*(content[start : start + 8] for start in range(0, size - 8, 8)), content[-8:]]
    value = size * K0 & MASK
    for number, word in enumerate(int.from_bytes(word, "little") for word in words):
        if number:
            value = value * K2 & MASK
        value = (value ^ word) * K1 & MASK
        value ^= value >> 32
    value = value * K2 & MASK
    return value ^ value >> 29


@given(st.lists(st.binary(max_size=70), min_size=1, max_size=20))
def test_contents_hash_as_the_specification_says(contents: list[bytes]) -> None:
    assert hash_contents(contents).tolist() == [*map(slow_hash, contents)]


@given(st.integers(0, 2**21 - 1), st.integers(0, 2**21 - 1))
def test_pairs_hash_as_the_specification_says(left: int, right: int) -> None:
    value = (left << 21 | right) * K1 & MASK
    value ^= value >> 32
    value = value * K2 & MASK
    value ^= value >> 29
    assert int(hash_pairs(np.array([left], np.uint64), np.array([right], np.uint64))[0]) == value


@pytest.mark.parametrize(
    ("letters", "count"),
    [
        *product(("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "中国人民日本語学生先"), (4, 6, 8)),
        *product(("abcdefghijklmnopqrstuvwxyz", "ab01", "нетворсил"), (9, 12, 16, 22)),
    ],
)
def test_words_of_few_letters_have_distinct_hashes(letters: str, count: int) -> None:
    rows = np.random.default_rng(count).integers(0, len(letters), (200_000, count))
    (width,) = {len(letter.encode()) for letter in letters}
    encoded = np.array([letter.encode() for letter in letters])
    words = np.unique(encoded[rows].view(f"S{width * count}")).tolist()
    assert len(np.unique(hash_contents(words))) == len(words)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100, 20_000])
def test_every_key_has_its_own_slot_found_by_one_probe(count: int) -> None:
    hashes = np.random.default_rng(count).integers(0, MASK, count, np.uint64, endpoint=True)
    index = build_index(hashes)
    assert len(set(index.slots.tolist())) == count
    assert len(index.displacements) >= 1
    for key, slot in zip(hashes.tolist(), index.slots.tolist(), strict=True):
        bucket = (key & 0xFFFFFFFF) * len(index.displacements) >> 32
        displacement = int(index.displacements[bucket])
        mixed = (key ^ displacement * K3 & MASK) * K1 & MASK
        assert (mixed >> 32) * index.slot_count >> 32 == slot < index.slot_count


@pytest.mark.parametrize("row_count", [1, 3])
def test_each_bucket_has_the_smallest_displacement_that_fits(row_count: int) -> None:
    r = np.random.default_rng(3)
    hashes = r.integers(0, MASK, 90, np.uint64, endpoint=True)
    rows = (np.arange(90) % row_count).astype(np.uint32)
    starts = np.cumsum([0, *np.bincount(rows) + 2]).astype(np.uint32)
    index = displace(hashes, rows, starts, 20)
    assert index is not None
    slots, displacements = index
    buckets: list[list[int]] = [[] for _ in range(20)]
    for key, value in enumerate(hashes.tolist()):
        buckets[(value & 0xFFFFFFFF) * 20 >> 32].append(key)
    taken: set[int] = set()
    # Large buckets first, buckets of equal size in order.
    for bucket in sorted(range(20), key=lambda bucket: -len(buckets[bucket])):
        keys = buckets[bucket]
        for trial in range(displacements[bucket] + 1):
            mixed = [((int(hashes[key]) ^ trial * K3 & MASK) * K1 & MASK) >> 32 for key in keys]
            firsts = [int(starts[rows[key]]) for key in keys]
            sizes = [int(starts[rows[key] + 1] - starts[rows[key]]) for key in keys]
            positions = {
                first + (mix * size >> 32)
                for first, mix, size in zip(firsts, mixed, sizes, strict=True)
            }
            fits = len(positions) == len(keys) and not positions & taken
            assert fits == (trial == displacements[bucket])
        assert positions == {*slots[keys].tolist()}
        taken |= positions


def test_with_too_few_slots_there_is_no_index() -> None:
    rows, starts = np.zeros(3, np.uint32), np.array([0, 2], np.uint32)
    assert displace(np.arange(3, dtype=np.uint64), rows, starts, 1) is None


@pytest.mark.parametrize(
    ("rows", "starts", "bucket_count"),
    [
        ([0], [0, 5], 1),
        ([0, 0], [5], 1),
        ([0, 0], [], 1),
        ([0, 0], [0, 5], 0),
        ([0, 1], [0, 5], 1),
        ([0, 1], [0, 5, 5], 1),
        ([0, 1], [5, 0, 5], 1),
    ],
)
def test_arrays_that_do_not_match_are_refused(
    rows: list[int], starts: list[int], bucket_count: int
) -> None:
    hashes = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match=r"key|row"):
        displace(hashes, np.array(rows, np.uint32), np.array(starts, np.uint32), bucket_count)


def test_two_keys_with_one_hash_are_refused() -> None:
    with pytest.raises(ValueError, match="same 64-bit hash"):
        build_index(np.array([7, 7], np.uint64))
