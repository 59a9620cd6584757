"""Files that a reader must refuse; each differs from a good file in one violated rule. Their names
begin with the error.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence

from sections import contents_of, file_of

from tokexport.file.layout import Header, LabelTable, Section, SplitsHeader, Stage, Tag

SECTION_TABLE: int = Header.sizeof()
ENTRY: int = Section.sizeof()
RECS, BYTS, BIDS, TIDX, PIDX, SPLT = range(
    6
)  # the sections of the good files, in their order; a decode-only one has two
TOKEN_INDEX, PAIR_INDEX, SPLITS = 0x580, 0x5C0, 0x600  # their offsets in the encodable file

Change = Callable[[bytearray], None]


def refused_files(decode: bytes, bpe: bytes) -> dict[str, bytes]:
    """Every refused file, by its name, made from smallest-decode.bin and smallest-bpe.bin."""
    files = _unsealed(decode)
    for good, changes in ((decode, _changes_of_any_file()), (bpe, _changes_of_an_encoder())):
        for name, change in changes.items():
            changed = bytearray(good)
            change(changed)
            files[name] = _sealed(changed, sections=good[12])
    return files


def _unsealed(good: bytes) -> dict[str, bytes]:
    """Damage that checksums, or the checks before them, detect."""
    return {
        "EMPTY.bin": b"",
        "MAGIC-another-file.bin": b"\x89PNG\r\n\x1a\n" + good[8:],
        "MAGIC-too-short.bin": b"GGUF",
        "MANGLED-seven-bits.bin": b"\x09" + good[1:],
        "MANGLED-line-ends.bin": good.replace(b"\r\n", b"\n", 1),
        "MANGLED-utf8.bin": good.decode("latin-1").encode(),
        "MANGLED-replaced.bin": good.decode(errors="replace").encode(),
        "MANGLED-short.bin": b"\x09TKX\r",
        "TRUNCATED-magic.bin": good[:5],
        "TRUNCATED-header.bin": good[:63],
        "TRUNCATED-table.bin": good[:100],
        "TRUNCATED-one-byte.bin": good[:-1],
        "TRAILING-one-byte.bin": good + b"\0",
        "HEADER_CRC-flipped-header.bin": _flipped(good, 24),
        "HEADER_CRC-flipped-table.bin": _flipped(good, SECTION_TABLE + 24),
        "CRC-flipped-byte.bin": _flipped(good, 192),
        "PADDING.bin": _flipped(good, 150),
    }


def _changes_of_any_file() -> dict[str, Change]:
    """Changes of smallest-decode.bin after which all checksums are recomputed."""
    return {
        "VERSION-major-2.bin": _set(8, 2, 2),
        "VERSION-major-0.bin": _set(8, 2, 0),
        "HEADER-table-after-the-end.bin": _set(12, 4, 64),
        "HEADER-no-ids.bin": _set(24, 4, 0),
        "HEADER-too-many-ids.bin": _set(24, 4, 1 << 21),
        "HEADER-more-tokens-than-ids.bin": _set(28, 4, 2),
        "HEADER-unknown-flag.bin": _set(36, 4, 1 << 6),
        "HEADER-longest-token.bin": _set(40, 4, 1 << 16),
        "HEADER-unknown-id.bin": _set(44, 4, 1),
        "HEADER-reserved.bin": _set(59, 1, 1),
        "MODEL-six.bin": _set(32, 4, 6),
        "MODEL-zero.bin": _set(32, 4, 0),
        "SECTION-misaligned.bin": _set(_entry(BYTS) + 8, 8, 193),
        "SECTION-gap.bin": _apart,
        "SECTION-overlap.bin": _set(_entry(BYTS) + 8, 8, 128),
        "SECTION-order.bin": _swapped,
        "SECTION-after-the-end.bin": _set(_entry(BYTS) + 16, 8, 2),
        "SECTION-huge.bin": _set(_entry(BYTS) + 16, 8, (1 << 64) - 1),
        "SECTION-not-to-the-end.bin": _set(_entry(BYTS) + 16, 8, 0),
        "SECTION-unknown-flag.bin": _set(_entry(RECS) + 4, 4, 3),
        "SECTION-reserved.bin": _set(_entry(RECS) + 28, 4, 1),
        "SECTION-none.bin": _set(12, 4, 0),
        "DUPLICATE.bin": _tagged(BYTS, b"RECS"),
        "UNKNOWN-required.bin": _tagged(BYTS, b"NOPE"),
        "MISSING-records.bin": _tagged(RECS, b"recs", required=False),
        "MISSING-bytes.bin": _tagged(BYTS, b"byts", required=False),
        "MISSING-all-but-byte-ids.bin": _tagged(BYTS, b"BIDS"),
        "SECTION_SIZE-records.bin": _set(24, 4, 4),
    }


def _changes_of_an_encoder() -> dict[str, Change]:
    """Changes of smallest-bpe.bin after which all checksums are recomputed."""
    return {
        "MISSING-byte-ids.bin": _tagged(BIDS, b"bids", required=False),
        "MISSING-token-index.bin": _tagged(TIDX, b"tidx", required=False),
        "MISSING-pair-index.bin": _tagged(PIDX, b"pidx", required=False),
        "MISSING-splits.bin": _tagged(SPLT, b"splt", required=False),
        "MISSING-trie.bin": _set(32, 4, 5),
        "SECTION_SIZE-token-index.bin": _set(TOKEN_INDEX, 4, 5),
        "SECTION_SIZE-token-index-no-slots.bin": _indexes(TOKEN_INDEX, 0, 9),
        "SECTION_SIZE-pair-index-no-buckets.bin": _set(PAIR_INDEX + 4, 4, 0),
        "SECTION_SIZE-pair-index-overflow.bin": _indexes(PAIR_INDEX, 0x20000002, 1),
        "SECTION_SIZE-pair-index-row-shift.bin": _set(PAIR_INDEX + 8, 4, 22),
        "SECTION_SIZE-pair-index-reserved.bin": _set(PAIR_INDEX + 12, 4, 1),
        "SECTION_SIZE-splits.bin": _set(SPLITS, 4, 1),
        "SECTION_SIZE-cuts.bin": _without_encoder(b"CUTS"),
        "MISSING-decoder.bin": _without_encoder(b"EDIT"),
        "SPLITS-reserved.bin": _set(SPLITS + 4, 1, 1),
        "SECTION_SIZE-labels.bin": _with_labels(table_count=2),
        **{f"CORRUPT-{name}.bin": change for name, change in _unreachable().items()},
        **{f"SPLITS-{name}.bin": _with_stages(stages) for name, stages in _stages().items()},
        **{f"SPLITS-labels-{name}.bin": _with_labels(**value) for name, value in _labels().items()},
    }


def _unreachable() -> dict[str, Change]:
    """A slot of an index, other than the one that its key or pair leads to."""
    slot, pair = TOKEN_INDEX + 8, PAIR_INDEX + 16
    return {
        "token-index-id": _set(slot, 4, 0xE0400003),
        "token-index-fingerprint": _set(slot, 4, 0xE0600002),
        "token-index-displacement": _set(slot + 16, 2, 0),
        "token-index-long-key": _set(40, 4, 1),
        "pair-index-left": _set(pair, 8, 3 << 42 | 1 << 21 | 2),
        "pair-index-right": _set(pair, 8, 3 << 21 | 2),
        "pair-index-merged": _set(pair, 8, 1 << 21 | 3),
        "pair-index-row": _set(pair + 16, 4, 1),
    }


def _stages() -> dict[str, list[dict[str, int]]]:
    """Stages with one fault each; fields not given are valid (on bytes, one class, one state)."""
    text = {"flags": 0, "middle_count": 1, "leaf_count": 1}
    return {
        "behavior": [{"behavior": 5}],
        "no-classes": [{"class_count": 0}],
        "no-states": [{"state_count": 0}],
        "memo": [{"memo_count": 1}],
        "row-too-short": [{"row_shift": 0}],
        "classes-misaligned": [{"classes_offset": 1}],
        "classes-outside": [{"classes_offset": 620}],
        "classes-on-bytes-with-blocks": [{"leaf_count": 1}],
        "starts-outside": [{"starts_offset": 872}],
        "starts-misaligned": [{"starts_offset": 866}],
        "starts-far-outside": [{"starts_offset": -200}],
        "transitions-outside": [{"transitions_offset": 872}],
        "transitions-misaligned": [{"transitions_offset": 866}],
        "class": [{"classes_offset": -4}],
        "start": [{"starts_offset": -8}],
        "next-state": [{"transitions_offset": -8}],
        "search-starts-outside": [{"flags": 18, "starts_offset": 868}],
        "search-start": [{"flags": 18, "starts_offset": 868, "after": 1}],
        "search-starts-and-empty-matches": [{"flags": 26, "after": 0}],
        "stage-first-op": [{"first_op": 1}],
        "stage-op-count": [{"op_count": 1}],
        "text-table-outside": [{**text, "middle_count": 2}],
        "text-top": [{**text, "middle_count": 0}],
        "text-middle": [{**text, "leaf_count": 0}],
        "text-class": [{**text, "classes_offset": -4}],
        "text-after-bytes": [{}, text],
        "second-stage": [text, {"behavior": 9}],
    }


def _entry(index: int) -> int:
    return SECTION_TABLE + ENTRY * index


def _labels() -> dict[str, dict[str, int]]:
    """Label tables with one fault each; fields not given are valid for a stage of one class."""
    return {
        "reserved": {"reserved": 1},
        "of-no-stage": {"stage": 1},
        "without-classes": {"class_count": 0},
        "too-many-classes": {"class_count": 255, "state_count": 0},
        "without-states": {"state_count": 0},
        "too-many-states": {"state_count": 4097},
        "outside": {"offset": 20},
        "misaligned": {"offset": 18},
        "label": {"entry": 1},
        "next-state": {"entry": 1 << 8},
    }


def _set(offset: int, size: int, value: int) -> Change:
    def change(content: bytearray) -> None:
        content[offset : offset + size] = value.to_bytes(size, "little")

    return change


def _tagged(index: int, tag: bytes, *, required: bool = True) -> Change:
    """Gives a section another tag; unless it is required, a reader skips unknown sections."""

    def change(content: bytearray) -> None:
        content[_entry(index) : _entry(index) + 4] = tag
        content[_entry(index) + 4] = required

    return change


def _without_encoder(last: bytes) -> Change:
    """A decode-only file of sections without a meaning, except for the tag of the last one."""

    def change(content: bytearray) -> None:
        for index, tag in ((BIDS, b"bids"), (TIDX, b"tidx"), (PIDX, b"pidx"), (SPLT, last)):
            _tagged(index, tag, required=False)(content)

    return change


def _indexes(offset: int, slot_count: int, bucket_count: int) -> Change:
    def change(content: bytearray) -> None:
        _set(offset, 4, slot_count)(content)
        _set(offset + 4, 4, bucket_count)(content)

    return change


def _swapped(content: bytearray) -> None:
    first, second, third = _entry(RECS), _entry(BYTS), _entry(BIDS)
    content[first:third] = content[second:third] + content[first:second]


def _apart(content: bytearray) -> None:
    """Inserts 64 bytes before the last section."""
    start = int.from_bytes(content[_entry(BYTS) + 8 : _entry(BYTS) + 16], "little")
    content[start:start] = bytes(64)
    _set(_entry(BYTS) + 8, 8, start + 64)(content)
    _set(16, 8, len(content))(content)


def _with_stages(stages: Sequence[Mapping[str, int]]) -> Change:
    """Puts stages into SPLT, the last section: each is valid except for the fields given, and all
    share their tables.

    Offsets are relative to the start of the tables. Before the tables there are 8 bytes of 255, out
    of range for everything, or ``before``. ``after`` adds eight bytes at the end.
    """
    tables = SplitsHeader.sizeof() + Stage.sizeof() * len(stages) + 8
    good = dict.fromkeys(
        ("behavior", "memo_count", "classes_offset", "first_op", "op_count", "skip_leads"), 0
    )
    good |= {
        "flags": 2,
        "class_count": 1,
        "state_count": 1,
        "row_shift": 1,
        "middle_count": 0,
        "leaf_count": 0,
    }
    good |= {"starts_offset": 864, "transitions_offset": 868}
    before, after = bytes([stages[-1].get("before", 255)]) * 8, b""
    section = bytearray(SplitsHeader.build({"stage_count": len(stages), "reserved": None}))
    for fields in stages:
        values = {**good, **fields}
        if "after" in fields:
            after = fields["after"].to_bytes(8, "little")
        for name in ("classes_offset", "starts_offset", "transitions_offset"):
            values[name] = (values[name] + tables) & 0xFFFFFFFF
        section += Stage.build(values)
    section += before + bytes(864 + 4 + 4) + after

    def change(content: bytearray) -> None:
        start = int.from_bytes(content[_entry(SPLT) + 8 : _entry(SPLT) + 16], "little")
        content[start:] = section
        _set(_entry(SPLT) + 16, 8, len(section))(content)
        _set(16, 8, len(content))(content)

    return change


def _with_labels(table_count: int = 1, reserved: int = 0, entry: int = 0, **fields: int) -> Change:
    """A valid stage, and LABL with a table of one entry for it."""
    table = LabelTable.build(
        {"stage": 0, "class_count": 1, "state_count": 1, "offset": 16} | fields
    )
    numbers = (each.to_bytes(4, "little") for each in (table_count, reserved))
    section = b"".join([*numbers, table, entry.to_bytes(4, "little")])

    def change(content: bytearray) -> None:
        _with_stages([{}])(content)
        sections = contents_of(bytes(content))
        content[:] = file_of(Header.parse(content), sections | {Tag.LABELS: section})

    return change


def _flipped(good: bytes, offset: int) -> bytes:
    return good[:offset] + bytes([good[offset] ^ 0x10]) + good[offset + 1 :]


def _sealed(content: bytearray, sections: int) -> bytes:
    """Recomputes the checksums, as far as header and table allow; ``sections``: their true
    number.
    """
    for at in map(_entry, range(sections)):
        start, size = (
            int.from_bytes(content[at + field : at + field + 8], "little") for field in (8, 16)
        )
        content[at + 24 : at + 28] = zlib.crc32(content[start : start + size]).to_bytes(4, "little")
    table_end = _entry(int.from_bytes(content[12:16], "little"))
    content[60:64] = zlib.crc32(content[:60] + content[SECTION_TABLE:table_end]).to_bytes(
        4, "little"
    )
    return bytes(content)
