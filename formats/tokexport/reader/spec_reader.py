"""A slow, obvious reader of tokexport files, written from ``formats/tokexport/SPEC.md`` and from
nothing else.

It knows none of the project's own code, so it is a second opinion. :func:`open_file` makes the
checks of the specification in their order and refuses a file with the error of the first that
fails; :func:`check_file` adds checksums and padding; :class:`SpecFile` looks up. Encoding is in
``spec_encoder.py`` and what that imports, decoding in ``spec_decoder.py``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

MAGIC = b"\x89TKX\r\n\x1a\n"
NONE = 0xFFFFFFFF
MASK = (1 << 64) - 1
K0, K1, K2, K3 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53

HEADER_FLAGS, STAGE_FLAGS, SECTION_FLAGS = 0x3F, 0x1B, 0x01  # the flag bits that have a name
KIND_HOLE, KIND_MASK, RECORD_SPECIAL = 0, 3, 4
STRIPPING_FLAGS = 2 | 4 | 8  # SINGLE_WORD, LSTRIP, RSTRIP
ON_BYTES, REWRITE, EMPTY_MATCHES, SEARCH_STARTS = 2, 4, 8, 16
STAGE_SIZE = 36
LAST_BEHAVIOR, LAST_FORM = 4, 3
BY_CLUSTER = 8
COLLAPSE = 32
FORM, MAP, REPLACE, CHARSMAP, AFFIX, BYTES = 0, 1, 2, 3, 4, 5
OP_FLAGS = {FORM: 0, MAP: 0, REPLACE: 0, CHARSMAP: 0x28, AFFIX: 0x17, BYTES: 0}
UNIT_CHARACTER, UNIT_BYTE = 0, 1

BPE, UNIGRAM, WORDPIECE, WORDLEVEL, GREEDY = range(1, 6)
ENCODER_TAGS = (b"BIDS", b"TIDX", b"PIDX", b"SPLT")
KNOWN_TAGS = frozenset(
    b"RECS BYTS DECO EDIT SCOR SC64 RANK BIDS CHRS KEYS TIDX PIDX XPRS TRIE SPLT LABL CUTS"
    b" NORM ADDT ACLS POST TRIM ALGN SPID CHAT PROV TEST".split()
)


class RefusalError(Exception):
    """A file or a call is refused: ``name`` is the error's name in the specification, ``detail``
    its number.
    """

    def __init__(self, name: str, detail: int = 0) -> None:
        super().__init__(name)
        self.name = name
        self.detail = detail


def require(truth: bool, name: str) -> None:
    """Refuse with ``name`` unless ``truth``."""
    if not truth:
        raise RefusalError(name)


# ---- Hashing ------------------------------------------------------------


def mix(h: int, word: int) -> int:
    """One step of the hash."""
    h = ((h ^ word) * K1) & MASK
    return h ^ (h >> 32)


def finish(h: int) -> int:
    """The last step of both hashes."""
    h = (h * K2) & MASK
    return h ^ (h >> 29)


def hash_bytes(b: bytes) -> int:
    """The hash of a token's bytes."""
    n = len(b)
    h = (n * K0) & MASK
    if n == 0:
        pass
    elif n < 4:
        h = mix(h, b[0] | b[n >> 1] << 8 | b[n - 1] << 16)
    elif n < 8:
        h = mix(h, int.from_bytes(b[0:4], "little") | int.from_bytes(b[n - 4 :], "little") << 32)
    else:
        for i in range(0, n - 8, 8):
            h = mix(h, int.from_bytes(b[i : i + 8], "little")) * K2 & MASK
        h = mix(h, int.from_bytes(b[n - 8 :], "little"))
    return finish(h)


def hash_pair(left: int, right: int) -> int:
    """The hash of two neighbouring ids."""
    return finish(mix(0, left << 21 | right))


def bucket_of(h: int, bucket_count: int) -> int:
    """Which displacement belongs to a hash."""
    return ((h & 0xFFFFFFFF) * bucket_count) >> 32


def slot_of(h: int, displacement: int, slot_count: int) -> int:
    """Which slot a hash has."""
    x = ((h ^ (displacement * K3 & MASK)) * K1) & MASK
    return ((x >> 32) * slot_count) >> 32


def row_starts(id_count: int, row_shift: int) -> int:
    """How many starts of rows PIDX has, with the end of the last row."""
    return ((id_count - 1) >> row_shift) + 2


# ---- Reading numbers ------------------------------------------------------------


def u16(b: bytes, at: int) -> int:
    """A 16-bit number."""
    return int(struct.unpack_from("<H", b, at)[0])


def u32(b: bytes, at: int) -> int:
    """A 32-bit number."""
    return int(struct.unpack_from("<I", b, at)[0])


def u64(b: bytes, at: int) -> int:
    """A 64-bit number."""
    return int(struct.unpack_from("<Q", b, at)[0])


def align(n: int, to: int = 64) -> int:
    """The next multiple."""
    return -(-n // to) * to


@dataclass
class ClassTable:
    """A three-level table from code points to small numbers, or one of 256 bytes."""

    ascii: bytes
    top: Sequence[int]
    middle: Sequence[int]
    leaves: Sequence[int]

    def __getitem__(self, c: int) -> int:
        if c < len(self.ascii):
            return self.ascii[c]
        block = self.middle[self.top[c >> 12] * 64 + (c >> 6 & 63)]
        return int(self.leaves[block * 64 + (c & 63)])


@dataclass
class Stage:
    """One pre-tokenizer stage."""

    behavior: int
    flags: int
    class_count: int
    row_shift: int
    classes: ClassTable
    starts: Sequence[int]
    transitions: Sequence[int]
    labels: Sequence[int] = ()
    label_class_count: int = 0
    first_op: int = 0
    op_count: int = 0


@dataclass
class Op:
    """One operation of NORM. ``program``: of REPLACE."""

    kind: int
    flags: int
    table: bytes
    content: bytes
    program: Stage | None


@dataclass
class SpecFile:
    """An open file: header fields and sections."""

    data: bytes
    version: tuple[int, int]
    model: int
    id_count: int
    token_count: int
    flags: int
    max_token_bytes: int
    unknown_id: int
    sections: dict[bytes, bytes] = field(default_factory=dict)
    places: list[tuple[bytes, int, int, int]] = field(
        default_factory=list
    )  # tag, offset, size, crc32
    stages: list[Stage] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    normalizer_count: int = 0

    # ---- decoding

    def record(self, token: int) -> tuple[int, int, int]:
        """Offset, length and flags of an id."""
        require(0 <= token < self.id_count, "TKX_E_ID")
        offset, length, flags = struct.unpack_from("<IHH", self.sections[b"RECS"], 8 * token)
        return offset, length, flags

    def token_bytes(self, token: int) -> bytes:
        """The bytes of an id."""
        offset, length, flags = self.record(token)
        require(flags & KIND_MASK != KIND_HOLE, "TKX_E_ID")
        require(offset + length <= len(self.sections[b"BYTS"]), "TKX_E_CORRUPT")
        return self.sections[b"BYTS"][offset : offset + length]

    # ---- look-ups

    def token_id(self, piece: bytes) -> int | None:
        """The model token with these bytes."""
        index = self.sections[b"TIDX"]
        slots, buckets = u32(index, 0), u32(index, 4)
        h = hash_bytes(piece)
        displacement = u16(index, 8 + 4 * slots + 2 * bucket_of(h, buckets))
        slot = u32(index, 8 + 4 * slot_of(h, displacement, slots))
        if slot == NONE or slot >> 21 != h >> 53:
            return None
        token = slot & 0x1FFFFF
        require(token < self.id_count, "TKX_E_CORRUPT")
        return token if self.key(token) == piece else None

    def key(self, token: int) -> bytes:
        """What TIDX finds an id by."""
        if b"KEYS" not in self.sections:
            return self.token_bytes(token)
        offset, length = struct.unpack_from("<IH", self.sections[b"KEYS"], 8 * token)
        require(offset + length <= len(self.sections[b"BYTS"]), "TKX_E_CORRUPT")
        return self.sections[b"BYTS"][offset : offset + length]

    def symbol(self, unit: int, place: int) -> int:
        """What CHRS has for a code point or a byte at a place."""
        section = self.sections[b"CHRS"]
        kind, places, middles, leaves = struct.unpack_from("<4I", section)
        place = place if places > 1 else 0
        if kind == UNIT_BYTE:
            symbol = u32(section, 16 + 4 * (256 * place + unit))
        else:
            block = u16(section, 16 + 2 * (272 * place + (unit >> 12)))
            require(block < middles, "TKX_E_CORRUPT")
            block = u16(section, 16 + 544 * places + 2 * (64 * block + (unit >> 6 & 63)))
            require(block < leaves, "TKX_E_CORRUPT")
            symbol = u32(
                section, 16 + 544 * places + 128 * middles + 4 * (64 * block + (unit & 63))
            )
        require(symbol < self.id_count or symbol == NONE, "TKX_E_CORRUPT")
        return symbol

    def product(self, left: int, right: int) -> int | None:
        """What two neighbours merge to."""
        index = self.sections[b"PIDX"]
        slots, buckets, row_shift = struct.unpack_from("<3I", index)
        starts = 16 + 8 * slots
        displacements = starts + 4 * row_starts(self.id_count, row_shift)
        start, behind = struct.unpack_from("<II", index, starts + 4 * (left >> row_shift))
        h = hash_pair(left, right)
        displacement = u16(index, displacements + 2 * bucket_of(h, buckets))
        slot = start + slot_of(h, displacement, (behind - start) & 0xFFFFFFFF)
        slot = u64(index, 16 + 8 * min(slot, slots - 1))
        if slot == MASK or slot >> 42 != left or slot >> 21 & 0x1FFFFF != right:
            return None
        require(slot & 0x1FFFFF < self.id_count, "TKX_E_CORRUPT")
        return slot & 0x1FFFFF

    def rank(self, token: int) -> int:
        """The rank of the merge that makes a token."""
        ranks = self.sections.get(b"RANK")
        return token if ranks is None else u32(ranks, 4 * token)


def read_class_table(section: bytes, at: int, middle: int, leaves: int) -> ClassTable:
    """A class table with leaves of one byte."""
    require(at + 672 + 128 * middle + 64 * leaves <= len(section), "TKX_E_SPLITS")
    top = struct.unpack_from("<272H", section, at + 128)
    middles = struct.unpack_from(f"<{64 * middle}H", section, at + 672)
    leaf_at = at + 672 + 128 * middle
    return ClassTable(
        section[at : at + 128], top, middles, section[leaf_at : leaf_at + 64 * leaves]
    )


# ---- Opening ------------------------------------------------------------


def open_file(data: bytes) -> SpecFile:
    """Open a file: checks I1 to I18, in order."""
    require(len(data) > 0, "TKX_E_EMPTY")
    if data[:8] != MAGIC[: len(data)]:
        require(data[:8].find(b"TKX") not in (1, 2, 3), "TKX_E_MANGLED")
        raise RefusalError("TKX_E_MAGIC")
    require(len(data) >= 64, "TKX_E_TRUNCATED")
    major, minor, section_count, file_size = struct.unpack_from("<HHIQ", data, 8)
    require(major == 1, "TKX_E_VERSION")
    require(len(data) >= file_size, "TKX_E_TRUNCATED")
    require(len(data) <= file_size, "TKX_E_TRAILING")
    table_end = 64 + 32 * section_count
    require(section_count <= 64 and table_end <= file_size, "TKX_E_HEADER")
    require(zlib.crc32(data[:60] + data[64:table_end]) == u32(data, 60), "TKX_E_HEADER_CRC")
    ids, tokens, model, flags, longest, unknown = struct.unpack_from("<6I", data, 24)
    require(1 <= ids <= 2_097_151 and tokens <= ids and longest <= 65_535, "TKX_E_HEADER")
    require((unknown == NONE or unknown < ids) and flags & ~HEADER_FLAGS == 0, "TKX_E_HEADER")
    require(data[48:60] == bytes(12), "TKX_E_HEADER")
    require(BPE <= model <= GREEDY, "TKX_E_MODEL")
    file = SpecFile(data, (major, minor), model, ids, tokens, flags, longest, unknown)
    end = table_end
    required = []
    for i in range(section_count):
        at = 64 + 32 * i
        tag, section_flags, offset, size, crc = struct.unpack_from("<4sIQQI", data, at)
        require(
            section_flags & ~SECTION_FLAGS == 0 and data[at + 28 : at + 32] == bytes(4),
            "TKX_E_SECTION",
        )
        require(offset == align(end) and offset + size <= file_size, "TKX_E_SECTION")
        end = offset + size
        file.places.append((tag, offset, size, crc))
        file.sections.setdefault(tag, data[offset:end])
        if section_flags & 1:
            required.append(tag)
    require(end == file_size, "TKX_E_SECTION")
    require(len(file.sections) == section_count, "TKX_E_DUPLICATE")
    require(all(tag in KNOWN_TAGS for tag in required), "TKX_E_UNKNOWN")
    sections = file.sections
    require(b"RECS" in sections and b"BYTS" in sections, "TKX_E_MISSING")
    require(b"EDIT" not in sections or b"DECO" in sections, "TKX_E_MISSING")
    encoder = ENCODER_TAGS if model == BPE else (b"TRIE", b"SPLT")
    require(len({tag in sections for tag in encoder}) == 1, "TKX_E_MISSING")
    if model == UNIGRAM and b"TRIE" in sections:
        require(b"SCOR" in sections or b"SC64" in sections, "TKX_E_MISSING")
    added = sections.get(b"ADDT", b"")
    if len(added) >= 28 and u32(added, 24) & STRIPPING_FLAGS:
        require(b"ACLS" in sections, "TKX_E_MISSING")
    for tag, section in sections.items():
        size = wanted_size(tag, section, ids)
        require(size is None or size == len(section), "TKX_E_SECTION_SIZE")
    if b"NORM" in sections:
        file.normalizer_count = u32(sections[b"NORM"], 4)
        file.ops = read_ops(sections[b"NORM"])
    if b"SPLT" in sections:
        file.stages = read_stages(sections[b"SPLT"], len(file.ops), sections.get(b"LABL"))
        if b"CHRS" in sections and u32(sections[b"CHRS"], 0) == UNIT_CHARACTER:
            require(not any(stage.flags & ON_BYTES for stage in file.stages), "TKX_E_SPLITS")
    return file


def wanted_size(tag: bytes, section: bytes, ids: int) -> int | None:
    """The size that a section must have by section 6.2; None: any. -1: it has no room for what says
    its size.
    """
    heads = {
        b"EDIT": 16,
        b"CHRS": 16,
        b"XPRS": 8,
        b"TIDX": 8,
        b"PIDX": 16,
        b"SPLT": 8,
        b"LABL": 8,
        b"TRIE": 32,
        b"NORM": 16,
        b"ADDT": 96,
        b"ACLS": 8,
        b"POST": 8,
        b"TRIM": 8,
        b"ALGN": 16,
        b"SPID": 20,
        b"TEST": 16,
    }
    if len(section) < heads.get(tag, 0):
        return -1
    number = [u32(section, 4 * i) for i in range(heads.get(tag, 0) // 4)]
    if tag == b"RECS":
        return 8 * ids
    if tag in (b"SCOR", b"RANK"):
        return 4 * ids
    if tag == b"SC64":
        return 8 * ids
    if tag == b"TRIE":
        return 32 + 8 * number[0]
    if tag == b"BIDS":
        return 1024
    if tag == b"CHRS":
        kind, places, middle, leaves = number
        if kind > UNIT_BYTE or places not in (1, 4) or (kind == UNIT_BYTE and (middle or leaves)):
            return -1
        return 16 + (
            1024 * places if kind == UNIT_BYTE else 544 * places + 128 * middle + 256 * leaves
        )
    if tag == b"KEYS":
        return 8 * ids
    if tag == b"XPRS":
        rule, bits = number
        return 8 + 2048 + (1 << bits) // 8 if rule <= 2 and 6 <= bits <= 26 else -1
    if tag == b"DECO":
        return 8
    if tag == b"EDIT":
        states, classes = number[0] & 0xFFFF, number[0] >> 16
        return 16 + 256 + 8 * states * (classes + 1) + number[2]
    if tag == b"TIDX":
        return 8 + 4 * number[0] + 2 * number[1] if number[0] and number[1] else -1
    if tag == b"PIDX":
        slots, buckets, row_shift, reserved = number
        if not slots or not buckets or row_shift > 21 or reserved:
            return -1
        return 16 + 8 * slots + 4 * row_starts(ids, row_shift) + 2 * buckets
    if tag == b"SPLT":
        return None if len(section) >= 8 + STAGE_SIZE * number[0] else -1
    if tag == b"LABL":
        return None if len(section) >= 8 + 8 * number[0] else -1
    if tag == b"CUTS":
        return 2048
    if tag == b"NORM":
        return None if len(section) >= 16 + 32 * number[0] else -1
    if tag == b"ADDT":
        count, raw_nodes, raw_edges, nodes, edges, text = number[:6]
        return (
            96
            + 16 * count
            + 8 * (raw_nodes + 1)
            + 4 * raw_edges
            + 8 * (nodes + 1)
            + 4 * edges
            + text
        )
    if tag == b"ACLS":
        return 8 + 128 + 544 + 128 * u16(section, 0) + 64 * u16(section, 2)
    if tag == b"POST":
        return 8 + 12 * (number[0] + number[1])
    if tag == b"TRIM":
        return 8 + 8 * number[1]
    if tag == b"ALGN":
        return 16 + 8 * (number[1] + 1) + 4 * number[2]
    if tag == b"SPID":
        return 20 + 4 * number[4]
    if tag == b"TEST":
        return 16 + 20 * number[0] + 4 * number[1] + number[2]
    return None


def read_ops(section: bytes) -> list[Op]:
    """The operations of NORM, with the checks of I18."""
    count, normalizer_count = struct.unpack_from("<II", section)
    require(count <= 24 and normalizer_count <= count and section[8:16] == bytes(8), "TKX_E_SPLITS")
    return [read_op(section, 16 + 32 * i) for i in range(count)]


def read_op(section: bytes, at: int) -> Op:
    """One operation."""
    kind, flags = section[at : at + 2]
    _, _, table_at, table_size, content_at, content_size = struct.unpack_from(
        "<6I", section, at + 4
    )
    require(
        section[at + 2 : at + 4] == bytes(2) and section[at + 28 : at + 32] == bytes(4),
        "TKX_E_SPLITS",
    )
    require(kind in OP_FLAGS and flags & ~OP_FLAGS[kind] == 0, "TKX_E_SPLITS")
    require(flags & (BY_CLUSTER | COLLAPSE) != BY_CLUSTER | COLLAPSE, "TKX_E_SPLITS")
    require(table_at % 4 == content_at % 4 == 0 and content_size <= 65535, "TKX_E_SPLITS")
    require(
        table_at + table_size <= len(section) and content_at + content_size <= len(section),
        "TKX_E_SPLITS",
    )
    table = section[table_at : table_at + table_size]
    content = section[content_at : content_at + content_size]
    require(is_utf8(content), "TKX_E_SPLITS")
    program = None
    if kind == FORM:
        require(len(table) >= 32, "TKX_E_SPLITS")
        form, middle, leaves, entries, points, compositions = struct.unpack_from("<6I", table)
        size = 32 + 544 + 128 * middle + 128 * leaves + 8 * entries + 4 * points + 12 * compositions
        require(form <= LAST_FORM and size == len(table), "TKX_E_SPLITS")
    elif kind == MAP:
        require(len(table) >= 24, "TKX_E_SPLITS")
        middle, leaves, entries, text = struct.unpack_from("<4I", table)
        require(
            24 + 128 + 544 + 128 * middle + 128 * leaves + 8 * entries + text == len(table),
            "TKX_E_SPLITS",
        )
    elif kind == REPLACE:
        require(len(table) >= STAGE_SIZE, "TKX_E_SPLITS")
        program = read_stage(table, 0)
        require(program.flags & ~EMPTY_MATCHES == 0, "TKX_E_SPLITS")
    elif kind == CHARSMAP:
        require(len(table) >= 24, "TKX_E_SPLITS")
        units, nodes, edges, program_size, text, first_plain = struct.unpack_from("<6I", table)
        size = 24 + 4 * units + 8 * (nodes + 1) + 4 * edges + program_size + text
        require(size == len(table) and units >= 1, "TKX_E_SPLITS")
        code = table[len(table) - text - program_size : len(table) - text]
        require(
            len(code) >= STAGE_SIZE if flags & BY_CLUSTER else len(code) == first_plain == 0,
            "TKX_E_SPLITS",
        )
        if flags & BY_CLUSTER:
            program = read_stage(code, 0)
            require(nodes == 0 and program.flags == 0 and u16(code, 6) == 0, "TKX_E_SPLITS")
            require(first_plain <= program.class_count, "TKX_E_SPLITS")
    else:
        require(len(table) == 0, "TKX_E_SPLITS")
    return Op(kind, flags, table, content, program)


def is_utf8(content: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_stages(section: bytes, op_count: int, labels: bytes | None = None) -> list[Stage]:
    """The stages of SPLT, with the checks of I18; ``labels``: LABL."""
    count = u32(section, 0)
    require(count <= 16 and section[4:8] == bytes(4), "TKX_E_SPLITS")
    tables: dict[int, tuple[int, int, int]] = {}
    if labels is not None:
        require(labels[4:8] == bytes(4), "TKX_E_SPLITS")
        fields = struct.iter_unpack("<BBHI", labels[8 : 8 + 8 * u32(labels, 0)])
        described = [(number, tuple(others)) for number, *others in fields]
        numbers = [number for number, _ in described]
        require(numbers == sorted({*numbers} & {*range(count)}), "TKX_E_SPLITS")
        tables = dict(described)
    stages = []
    for i in range(count):
        stage = read_stage(section, 8 + STAGE_SIZE * i, op_count, labels or b"", tables.get(i))
        stages.append(stage)
    on_bytes = [bool(stage.flags & ON_BYTES) for stage in stages]
    require(on_bytes == sorted(on_bytes), "TKX_E_SPLITS")
    return stages


def read_stage(
    section: bytes,
    at: int,
    op_count: int = 0,
    labl: bytes = b"",
    described: tuple[int, int, int] | None = None,
) -> Stage:
    """One stage; ``described``: what LABL says of its label table."""
    if section[at + 1] & REWRITE:
        first, count = section[at + 24], section[at + 25]
        require(section[at : at + 24] == bytes([0, REWRITE]) + bytes(22), "TKX_E_SPLITS")
        require(section[at + 26 : at + STAGE_SIZE] == bytes(10), "TKX_E_SPLITS")
        require(first + count <= op_count and described is None, "TKX_E_SPLITS")
        return Stage(
            0, REWRITE, 0, 0, ClassTable(b"", (), (), ()), (), (), first_op=first, op_count=count
        )
    behavior, flags, class_count, row_shift, state_count, memo_count, middle, leaves = (
        struct.unpack_from("<4B4H", section, at)
    )
    classes_at, starts_at, transitions_at = struct.unpack_from("<3I", section, at + 12)
    require(behavior <= LAST_BEHAVIOR and flags & ~STAGE_FLAGS == 0, "TKX_E_SPLITS")
    require(not (flags & EMPTY_MATCHES and flags & SEARCH_STARTS), "TKX_E_SPLITS")
    require(section[at + 24 : at + 28] == bytes(4), "TKX_E_SPLITS")
    require(
        1 <= class_count <= 254 and 1 <= state_count <= 4096 and memo_count < state_count,
        "TKX_E_SPLITS",
    )
    require(row_shift <= 8 and 1 << row_shift > class_count, "TKX_E_SPLITS")
    require(classes_at % 4 == starts_at % 4 == transitions_at % 4 == 0, "TKX_E_SPLITS")
    entries = state_count << row_shift
    start_count = (class_count + 1) * (2 if flags & SEARCH_STARTS else 1)
    require(starts_at + 2 * start_count <= len(section), "TKX_E_SPLITS")
    require(transitions_at + 2 * entries <= len(section), "TKX_E_SPLITS")
    labels: Sequence[int] = ()
    read_classes = 0
    if described is not None:
        read_classes, states, labels_at = described
        require(1 <= read_classes <= 254 and 1 <= states <= 4096, "TKX_E_SPLITS")
        require(labels_at % 4 == 0, "TKX_E_SPLITS")
        require(labels_at + 4 * states * read_classes <= len(labl), "TKX_E_SPLITS")
        labels = struct.unpack_from(f"<{states * read_classes}I", labl, labels_at)
        require(all(n & 0xFF < class_count and n >> 8 < states for n in labels), "TKX_E_SPLITS")
    if flags & ON_BYTES:
        require(middle == leaves == 0 and classes_at + 256 <= len(section), "TKX_E_SPLITS")
        table = ClassTable(section[classes_at : classes_at + 256], (), (), ())
    else:
        table = read_class_table(section, classes_at, middle, leaves)
        require(all(block < middle for block in table.top), "TKX_E_SPLITS")
        require(all(block < leaves for block in table.middle), "TKX_E_SPLITS")
    bound = read_classes or class_count
    require(all(number < bound for number in (*table.ascii, *table.leaves)), "TKX_E_SPLITS")
    starts = struct.unpack_from(f"<{start_count}H", section, starts_at)
    transitions = struct.unpack_from(f"<{entries}H", section, transitions_at)
    require(all(state < state_count for state in starts), "TKX_E_SPLITS")
    require(all(t & 0x7FFF < state_count for t in transitions), "TKX_E_SPLITS")
    tables = (table, starts, transitions, labels, read_classes)
    return Stage(behavior, flags, class_count, row_shift, *tables)


def check_file(file: SpecFile) -> None:
    """The full check: I24, then I25."""
    for _, offset, size, crc in file.places:
        require(zlib.crc32(file.data[offset : offset + size]) == crc, "TKX_E_CRC")
    end = 64 + 32 * len(file.places)
    for _, offset, size, _ in file.places:
        require(not any(file.data[end:offset]), "TKX_E_PADDING")
        end = offset + size
