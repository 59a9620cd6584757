"""Header and section table: checks I1 to I15, I24 and I25 (SPEC 1.3, 4.1, 4.3)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from .data import NONE, TokexportError, require, u32

MAGIC = b"\x89TKX\r\n\x1a\n"
HEADER_SIZE, ENTRY_SIZE = 64, 32
MAX_IDS, MAX_TOKEN_BYTES, MAX_SECTIONS = 2_097_151, 65_535, 64
MODELS = BPE, UNIGRAM, WORDPIECE, WORDLEVEL, GREEDY = range(1, 6)
WHOLE_FIRST, FUSE_UNKNOWN, SEARCH_ANEW, RESCAN_SPECIAL = 1, 2, 4, 8
REPLACE_SURROGATES, UNKNOWN_STOPS = 16, 32
HEADER_FLAGS = 63
REQUIRED = 1
KNOWN_TAGS = frozenset(
    b"RECS BYTS DECO EDIT SCOR SC64 RANK BIDS CHRS KEYS TIDX PIDX XPRS TRIE SPLT LABL CUTS"
    b" NORM ADDT ACLS POST TRIM ALGN SORT FRAM SPID CHAT PROV TEST".split()
)


@dataclass(frozen=True)
class Header:
    """The fields of the header that a reader needs."""

    model: int
    id_count: int
    token_count: int
    flags: int
    max_token_bytes: int
    unknown_id: int


@dataclass(frozen=True)
class Entry:
    """One entry of the section table."""

    tag: bytes
    offset: int
    size: int
    crc32: int


def read_header(data: bytes) -> Header:
    """The header, after checks I1 to I11."""
    require(len(data) > 0, "TKX_E_EMPTY")
    if data[:8] != MAGIC[: len(data)]:
        # a transfer in text mode: the first byte lost a bit or became UTF-8, line ends changed
        raise TokexportError(
            "TKX_E_MANGLED" if data[:8].find(b"TKX") in (1, 2, 3) else "TKX_E_MAGIC"
        )
    require(len(data) >= HEADER_SIZE, "TKX_E_TRUNCATED")
    major, _, section_count, file_size = struct.unpack_from("<HHIQ", data, 8)
    require(major == 1, "TKX_E_VERSION")
    require(len(data) >= file_size, "TKX_E_TRUNCATED")
    require(len(data) <= file_size, "TKX_E_TRAILING")
    table_end = HEADER_SIZE + ENTRY_SIZE * section_count
    require(section_count <= MAX_SECTIONS and table_end <= file_size, "TKX_E_HEADER")
    require(
        zlib.crc32(data[:60] + data[HEADER_SIZE:table_end]) == u32(data, 60), "TKX_E_HEADER_CRC"
    )
    ids, tokens, model, flags, longest, unknown = struct.unpack_from("<6I", data, 24)
    require(1 <= ids <= MAX_IDS and tokens <= ids and longest <= MAX_TOKEN_BYTES, "TKX_E_HEADER")
    require(unknown == NONE or unknown < ids, "TKX_E_HEADER")
    require(flags & ~HEADER_FLAGS == 0 and data[48:60] == bytes(12), "TKX_E_HEADER")
    require(model in MODELS, "TKX_E_MODEL")
    return Header(model, ids, tokens, flags, longest, unknown)


def read_section_table(data: bytes) -> list[Entry]:
    """The section table, after checks I12 to I15; the header has been checked."""
    count = u32(data, 12)
    entries = []
    required = []
    end = HEADER_SIZE + ENTRY_SIZE * count
    for at in range(HEADER_SIZE, end, ENTRY_SIZE):
        tag, flags, offset, size, crc32, reserved = struct.unpack_from("<4sIQQII", data, at)
        require(flags & ~REQUIRED == 0 and reserved == 0, "TKX_E_SECTION")
        require(offset == next_section(end), "TKX_E_SECTION")  # the last one ends with the file
        end = offset + size
        entries.append(Entry(tag, offset, size, crc32))
        if flags & REQUIRED:
            required.append(tag)
    require(end == len(data), "TKX_E_SECTION")
    require(len({entry.tag for entry in entries}) == count, "TKX_E_DUPLICATE")
    require(KNOWN_TAGS.issuperset(required), "TKX_E_UNKNOWN")
    return entries


def next_section(end: int) -> int:
    """Where a section begins: the first multiple of 64 at or after the end of the previous one."""
    return -(-end // 64) * 64


def check_sections(data: bytes, entries: list[Entry]) -> None:
    """The full check: I24, then I25."""
    for entry in entries:
        crc32 = zlib.crc32(data[entry.offset : entry.offset + entry.size])
        require(crc32 == entry.crc32, "TKX_E_CRC")
    end = HEADER_SIZE + ENTRY_SIZE * len(entries)
    for entry in entries:
        require(not any(data[end : entry.offset]), "TKX_E_PADDING")
        end = entry.offset + entry.size
