"""Hashing, and the two indexes: keys to ids, and pairs to merged ids (SPEC 2.4, 2.5)."""

from __future__ import annotations

from .data import NONE, require, u16, u32, u32s, u64
from .file import File

MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
ID_MASK = 0x1FFFFF


def mix(h: int, word: int) -> int:
    """One step of the hash."""
    h = (h ^ word) * K1 & MASK
    return h ^ h >> 32


def finish(h: int) -> int:
    """The last step of both hashes."""
    h = h * K2 & MASK
    return h ^ h >> 29


def hash_bytes(b: bytes) -> int:
    """The hash of a key."""
    n = len(b)
    h = n * K0 & MASK
    if 1 <= n < 4:
        h = mix(h, b[0] | b[n >> 1] << 8 | b[n - 1] << 16)
    elif 4 <= n < 8:
        h = mix(h, u32(b, 0) | u32(b, n - 4) << 32)
    elif n >= 8:
        for i in range(0, n - 8, 8):
            h = mix(h, u64(b, i)) * K2 & MASK
        h = mix(h, u64(b, n - 8))
    return finish(h)


def hash_pair(left: int, right: int) -> int:
    """The hash of two adjacent ids."""
    return finish(mix(0, left << 21 | right))


def bucket_of(h: int, bucket_count: int) -> int:
    """The index of the displacement for a hash."""
    return (h & 0xFFFFFFFF) * bucket_count >> 32


def slot_of(h: int, displacement: int, slot_count: int) -> int:
    """The index of the slot for a hash."""
    x = (h ^ displacement * K3 & MASK) * K1 & MASK
    return (x >> 32) * slot_count >> 32


def token_slot(file: File, h: int) -> int:
    """The only slot of TIDX for a key with this hash."""
    slots, buckets = u32s(file.sections[b"TIDX"], 0, 2)
    displacement = u16(file.sections[b"TIDX"], 8 + 4 * slots + 2 * bucket_of(h, buckets))
    return slot_of(h, displacement, slots)


def token_id(file: File, key: bytes) -> int | None:
    """The id of a key, or None."""
    h = hash_bytes(key)
    slot = u32(file.sections[b"TIDX"], 8 + 4 * token_slot(file, h))
    if slot == NONE or slot >> 21 != h >> 53:
        return None
    token = slot & ID_MASK
    require(token < file.header.id_count, "TKX_E_CORRUPT")
    return token if key_of(file, token) == key else None


def key_of(file: File, token: int) -> bytes:
    """The key by which TIDX finds an id."""
    keys = file.sections.get(b"KEYS", file.sections[b"RECS"])
    offset, length = u32(keys, 8 * token), u16(keys, 8 * token + 4)
    require(offset + length <= len(file.sections[b"BYTS"]), "TKX_E_CORRUPT")
    return file.sections[b"BYTS"][offset : offset + length]


def pair_slot(file: File, left: int, right: int) -> int:
    """The only slot of PIDX for two adjacent ids."""
    index = file.sections[b"PIDX"]
    slots, buckets, row_shift = u32s(index, 0, 3)
    rows_at = 16 + 8 * slots
    displacements_at = rows_at + 4 * (((file.header.id_count - 1) >> row_shift) + 2)
    start, end = u32s(index, rows_at + 4 * (left >> row_shift), 2)
    require(start <= end < slots, "TKX_E_CORRUPT")
    h = hash_pair(left, right)
    displacement = u16(index, displacements_at + 2 * bucket_of(h, buckets))
    return start + slot_of(h, displacement, end - start)


def merged_id(file: File, left: int, right: int) -> int | None:
    """The merged id of two adjacent ids, or None."""
    slot = u64(file.sections[b"PIDX"], 16 + 8 * pair_slot(file, left, right))
    if slot == MASK or slot >> 42 != left or slot >> 21 & ID_MASK != right:
        return None
    merged = slot & ID_MASK
    require(merged < file.header.id_count, "TKX_E_CORRUPT")
    return merged
