"""An open file: its sections, and the checks of them, I16 to I18 (SPEC 2.1, 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .container import BPE, UNIGRAM, Entry, Header, read_header, read_section_table
from .data import NONE, require, u16, u16s, u32, u32s
from .operations import OPERATION_SIZE, Operation, read_operations
from .stages import LABEL_TABLE_SIZE, STAGE_SIZE, Stage, read_stages
from .tables import TOP, ByteTrie

HOLE, KIND_MASK = 0, 3
UNIT_CHARACTER, UNIT_BYTE = 0, 1
STRIPPING_FLAGS = 2 | 4 | 8  # SINGLE_WORD, LSTRIP, RSTRIP
# The smallest size of a section whose size depends on its own first fields.
HEADS = {
    b"TIDX": 8,
    b"PIDX": 16,
    b"CHRS": 16,
    b"XPRS": 8,
    b"TRIE": 32,
    b"SPLT": 8,
    b"LABL": 8,
    b"EDIT": 16,
    b"NORM": 16,
    b"ADDT": 96,
    b"ACLS": 8,
    b"POST": 8,
    b"TRIM": 8,
    b"ALGN": 16,
    b"SPID": 20,
    b"TEST": 16,
}
WRONG = -1  # no size is valid


@dataclass
class File:
    """A tokexport file that has passed the checks on opening."""

    data: bytes
    header: Header
    table: list[Entry]

    @cached_property
    def sections(self) -> dict[bytes, bytes]:
        """The bytes of each section, by its tag."""
        return {
            entry.tag: self.data[entry.offset : entry.offset + entry.size] for entry in self.table
        }

    @cached_property
    def operations(self) -> list[Operation]:
        """The operations of NORM; the first ``normalizer_count`` are the normalizer."""
        return read_operations(self.sections[b"NORM"]) if b"NORM" in self.sections else []

    @property
    def normalizer(self) -> list[Operation]:
        """The operations that each segment goes through."""
        norm = self.sections.get(b"NORM", bytes(8))
        return self.operations[: u32(norm, 4)]

    @cached_property
    def stages(self) -> list[Stage]:
        """The stages of SPLT."""
        if b"SPLT" not in self.sections:
            return []
        by_character = self.header.model == UNIGRAM or self.unit == UNIT_CHARACTER
        labels = self.sections.get(b"LABL", bytes(8))
        return read_stages(self.sections[b"SPLT"], labels, len(self.operations), by_character)

    @property
    def unit(self) -> int:
        """What BPE starts from, according to CHRS: characters or bytes."""
        return u32(self.sections[b"CHRS"], 0) if b"CHRS" in self.sections else UNIT_BYTE

    def record(self, token: int) -> tuple[int, int, int]:
        """Offset, length and flags of an id that is not a hole."""
        require(0 <= token < self.header.id_count, "TKX_E_ID")
        records = self.sections[b"RECS"]
        offset, length, flags = (
            u32(records, 8 * token),
            u16(records, 8 * token + 4),
            u16(records, 8 * token + 6),
        )
        require(flags & KIND_MASK != HOLE, "TKX_E_ID")
        require(offset + length <= len(self.sections[b"BYTS"]), "TKX_E_CORRUPT")
        return offset, length, flags

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token."""
        offset, length, _ = self.record(token)
        return self.sections[b"BYTS"][offset : offset + length]

    def byte_id(self, byte: int) -> int:
        """The id of a byte in BIDS, or NONE."""
        token = u32(self.sections[b"BIDS"], 4 * byte)
        require(token == NONE or token < self.header.id_count, "TKX_E_CORRUPT")
        return token


def open_file(data: bytes) -> File:
    """Opens a file: checks I1 to I18, in order."""
    header = read_header(data)
    file = File(data, header, read_section_table(data))
    check_present(file)
    for tag, section in file.sections.items():
        size = wanted_size(tag, section, header.id_count, header.token_count)
        require(size is None or size == len(section), "TKX_E_SECTION_SIZE")
    _ = file.operations, file.stages  # reading them checks them
    return file


def check_present(file: File) -> None:
    """I16: required sections are present."""
    sections = file.sections
    require(b"RECS" in sections and b"BYTS" in sections, "TKX_E_MISSING")
    require(b"DECO" in sections or b"EDIT" not in sections, "TKX_E_MISSING")
    encoder = [b"BIDS", b"TIDX", b"PIDX"] if file.header.model == BPE else [b"TRIE"]
    require(len({tag in sections for tag in [*encoder, b"SPLT"]}) == 1, "TKX_E_MISSING")
    if file.header.model == UNIGRAM and b"TRIE" in sections:
        require(b"SCOR" in sections or b"SC64" in sections, "TKX_E_MISSING")
    added = sections.get(b"ADDT", b"")
    if len(added) >= 28 and u32(added, 24) & STRIPPING_FLAGS:
        require(b"ACLS" in sections, "TKX_E_MISSING")


def wanted_size(tag: bytes, section: bytes, ids: int, tokens: int) -> int | None:
    """I17: the size that a section must have, or None for any."""
    head = HEADS.get(tag, 0)
    if len(section) < head:
        return WRONG
    number = u32s(section, 0, head // 4)
    fixed = {b"RECS": 8 * ids, b"KEYS": 8 * ids, b"SC64": 8 * ids, b"SCOR": 4 * ids}
    fixed |= {b"RANK": 4 * ids, b"BIDS": 1024, b"CUTS": 2048, b"DECO": 8, b"SORT": 4 * tokens}
    match tag:
        case b"TIDX":
            slots, buckets = number
            return 8 + 4 * slots + 2 * buckets if slots and buckets else WRONG
        case b"PIDX":
            slots, buckets, row_shift, reserved = number
            if not slots or not buckets or row_shift > 21 or reserved:
                return WRONG
            return 16 + 8 * slots + 4 * (((ids - 1) >> row_shift) + 2) + 2 * buckets
        case b"CHRS":
            return characters_size(*number)
        case b"XPRS":
            rule, bits = number
            first = 8192 if rule == 3 else 2048
            return 8 + first + (1 << bits) // 8 if rule <= 3 and 6 <= bits <= 26 else WRONG
        case b"TRIE":
            return 32 + 8 * number[0]
        case b"SPLT":
            return None if len(section) >= 8 + STAGE_SIZE * number[0] else WRONG
        case b"LABL":
            return None if len(section) >= 8 + LABEL_TABLE_SIZE * number[0] else WRONG
        case b"EDIT":
            states, classes = u16s(section, 0, 2)
            return 16 + 256 + 8 * states * (classes + 1) + number[2]
        case b"NORM":
            return None if len(section) >= 16 + OPERATION_SIZE * number[0] else WRONG
        case b"ADDT":
            tries = ByteTrie(b"", 0, *number[1:3]).size + ByteTrie(b"", 0, *number[3:5]).size
            return 96 + 16 * number[0] + tries + number[5]
        case b"ACLS":
            return 8 + 128 + 2 * TOP + 128 * u16(section, 0) + 64 * u16(section, 2)
        case b"POST":
            return 8 + 12 * (number[0] + number[1])
        case b"TRIM":
            return 8 + 8 * number[1]
        case b"ALGN":
            return 16 + ByteTrie(b"", 0, *number[1:3]).size
        case b"SPID":
            return 20 + 4 * number[4]
        case b"TEST":
            return 16 + 20 * number[0] + 4 * number[1] + number[2]
    return fixed.get(tag)


def characters_size(unit: int, places: int, middle_count: int, leaf_count: int) -> int:
    """The size of CHRS."""
    if unit > UNIT_BYTE or places not in (1, 4):
        return WRONG
    if unit == UNIT_BYTE:
        return WRONG if middle_count or leaf_count else 16 + 1024 * places
    return 16 + 2 * TOP * places + 128 * middle_count + 256 * leaf_count
