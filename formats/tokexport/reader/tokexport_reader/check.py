"""The full check: I24 to I26 (SPEC 4.3)."""

from __future__ import annotations

from .container import check_sections
from .data import NONE, require, u32, u32s, u64
from .file import File
from .lookup import ID_MASK, MASK, hash_bytes, key_of, pair_slot, token_slot


def check_file(file: File) -> None:
    """Checks the whole file: checksums, padding, then the two indexes."""
    check_sections(file.data, file.table)
    if b"TIDX" in file.sections:
        check_token_index(file)
    if b"PIDX" in file.sections:
        check_pair_index(file)


def check_token_index(file: File) -> None:
    """I26: each slot of TIDX that is not empty is the one that its key leads to."""
    index = file.sections[b"TIDX"]
    for number, slot in enumerate(u32s(index, 8, u32(index, 0))):
        if slot == NONE:
            continue
        require(slot & ID_MASK < file.header.id_count, "TKX_E_CORRUPT")
        key = key_of(file, slot & ID_MASK)
        h = hash_bytes(key)
        require(len(key) <= file.header.max_token_bytes, "TKX_E_CORRUPT")
        require(slot >> 21 == h >> 53 and token_slot(file, h) == number, "TKX_E_CORRUPT")


def check_pair_index(file: File) -> None:
    """I26: the same for PIDX and pairs."""
    index, ids = file.sections[b"PIDX"], file.header.id_count
    for number in range(u32(index, 0)):
        slot = u64(index, 16 + 8 * number)
        if slot == MASK:
            continue
        left, right = slot >> 42, slot >> 21 & ID_MASK
        require(left < ids and right < ids and slot & ID_MASK < ids, "TKX_E_CORRUPT")
        require(pair_slot(file, left, right) == number, "TKX_E_CORRUPT")
