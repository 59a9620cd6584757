"""The field tables and constants of SPEC.md are those of the declaration of the layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import construct
import numpy as np
import pytest
import spec_document

import tokexport.file.layout as layout
from tokexport.file.write import REQUIRED_TAGS

STRUCTS = {
    name: value for name, value in vars(layout).items() if isinstance(value, construct.Struct)
}
DTYPES = {name: value for name, value in vars(layout).items() if isinstance(value, np.dtype)}
RECORDS = {name: value for name, value in DTYPES.items() if value.names}
ENUMS = {
    name: value
    for name, value in vars(layout).items()
    if isinstance(value, type)
    and issubclass(value, IntEnum | layout.IntFlag)
    and value.__module__ == layout.__name__
}
FIELD_TABLES = spec_document.named_tables("Offset")
NAME_TABLES = spec_document.named_tables("Name")


def struct_fields(struct: construct.Struct) -> Iterator[tuple[int, str, str]]:
    """(offset, type, name) of each field, in the words of SPEC.md."""
    offset = 0
    for field in struct.subcons:
        size = field.sizeof()
        inner = getattr(field.subcon, "fmtstr", None)
        kind = (
            {"<B": "u8", "<H": "u16", "<I": "u32", "<L": "u32", "<Q": "u64", "<d": "f64"}[inner]
            if inner
            else f"u8[{size}]"
        )
        yield offset, kind, field.name
        offset += size


def dtype_type(dtype: np.dtype[Any]) -> str:
    """A numpy type in the words of SPEC.md."""
    return {"u": "u", "f": "f"}[dtype.kind] + str(8 * dtype.itemsize)


def table_fields(name: str) -> list[tuple[int, str, str]]:
    return [(int(row["Offset"]), row["Type"], row["Name"]) for row in FIELD_TABLES[name][1]]


def test_the_declaration_holds_what_these_tests_look_for() -> None:
    assert len(STRUCTS) == 24
    assert len(RECORDS) == 14
    assert len(ENUMS) == 19


def test_every_declared_struct_and_record_has_a_table_and_no_table_is_left_over() -> None:
    assert set(FIELD_TABLES) == {*STRUCTS, *RECORDS}


@pytest.mark.parametrize("name", STRUCTS)
def test_a_table_has_the_fields_of_the_declared_struct(name: str) -> None:
    assert table_fields(name) == list(struct_fields(STRUCTS[name]))


@pytest.mark.parametrize("name", RECORDS)
def test_a_table_has_the_fields_of_the_declared_record(name: str) -> None:
    fields = RECORDS[name].fields
    assert fields is not None
    assert table_fields(name) == [
        (offset, dtype_type(kind), field) for field, (kind, offset, *_) in fields.items()
    ]


@pytest.mark.parametrize("name", [*STRUCTS, *RECORDS])
def test_the_size_in_front_of_a_table_is_the_declared_size(name: str) -> None:
    size = STRUCTS[name].sizeof() if name in STRUCTS else RECORDS[name].itemsize
    assert f"`{name}`, {size} bytes" in FIELD_TABLES[name][0]


@pytest.mark.parametrize("name", [name for name in DTYPES if name not in RECORDS])
def test_plain_arrays_have_the_declared_type(name: str) -> None:
    assert re.search(rf"`{name}` ?\({dtype_type(DTYPES[name])}\)", spec_document.text())


def test_every_enumeration_has_a_table_and_no_table_is_left_over() -> None:
    assert set(NAME_TABLES) == set(ENUMS)


@pytest.mark.parametrize("name", ENUMS)
def test_a_table_has_the_names_and_values_of_the_declared_enumeration(name: str) -> None:
    rows = {row["Name"]: int(row["Value"]) for row in NAME_TABLES[name][1]}
    assert rows == {member: int(value) for member, value in ENUMS[name].__members__.items()}


def test_the_tags_are_the_declared_ones() -> None:
    rows = [
        row
        for _, found in spec_document.tables(spec_document.text())
        for row in found
        if "Tag" in row
    ]
    declared = {name: tag.decode() for name, tag in vars(layout.Tag).items() if name.isupper()}
    assert {row["Name"]: row["Tag"] for row in rows} == declared
    assert len(rows) == len(declared)


def test_the_required_sections_are_those_that_the_writer_marks() -> None:
    rows = [
        row
        for _, found in spec_document.tables(spec_document.text())
        for row in found
        if "Flag" in row
    ]
    assert {row["Tag"].encode() for row in rows if row["Flag"] == "required"} == REQUIRED_TAGS


def test_the_limits_are_the_declared_ones() -> None:
    header = {row["Name"]: row["Meaning"] for row in FIELD_TABLES["Header"][1]}
    stage = {row["Name"]: row["Meaning"] for row in FIELD_TABLES["Stage"][1]}
    splits = {row["Name"]: row["Meaning"] for row in FIELD_TABLES["SplitsHeader"][1]}
    assert f"1 to {layout.MAX_IDS:,}" in header["id_count"]
    assert f"at most {layout.MAX_SECTIONS}" in header["section_count"]
    assert header["magic"].startswith(layout.MAGIC.hex(" ").upper())
    assert header["version_major"] == str(layout.VERSION_MAJOR)
    assert header["version_minor"].startswith(str(layout.VERSION_MINOR))
    assert f"0 to {layout.MAX_STAGES}" in splits["stage_count"]
    assert f"1 to {layout.MAX_CLASSES}" in stage["class_count"]
    assert f"1 to {layout.MAX_STATES:,}" in stage["state_count"]
    rules = " ".join(spec_document.section("### 6.2 Sizes and ranges").split())
    assert f"stage_count is at most {layout.MAX_STAGES}" in rules
    assert f"class_count is 1 to {layout.MAX_CLASSES}" in rules
    assert f"state_count is 1 to {layout.MAX_STATES:,}" in rules
    assert f"the first multiple of {layout.ALIGNMENT}" in spec_document.section("3 Structure")
    assert f"`NONE` is 0x{layout.NONE:X}." in spec_document.text()
    assert f"(0x{layout.ACCEPT:04X}, `ACCEPT`)" in spec_document.text()
    assert f"op_count is at most {layout.MAX_OPS}" in rules
    assert f"that is below 0x{layout.MAP_OTHER:X} (`MAP_OTHER`)" in spec_document.text()
    assert (
        f"; {layout.MAP_LETTERS} (`MAP_LETTERS`): it is a Hangul syllable" in spec_document.text()
    )
    form = (
        f"{layout.FormHeader.sizeof()} + {2 * layout.CLASS_TOP} + {2 * layout.CLASS_BLOCK} *"
        " middle_count + "
    )
    form += (
        f"{2 * layout.CLASS_BLOCK} * leaf_count + {layout.NORMALIZER_ENTRY.itemsize} *"
        " entry_count + "
    )
    form += (
        f"{layout.NORMALIZER_POINT.itemsize} * point_count + {layout.COMPOSITION.itemsize} *"
        " composition_count bytes"
    )
    assert form in rules
    maps = f"{layout.MapHeader.sizeof()} + {layout.CLASS_ASCII} + {2 * layout.CLASS_TOP} + "
    maps += f"{2 * layout.CLASS_BLOCK} * middle_count + {2 * layout.CLASS_BLOCK} * leaf_count + "
    maps += f"{layout.MAP_ENTRY.itemsize} * entry_count + text_size bytes"
    assert maps in rules
    charsmap = f"{layout.CharsmapHeader.sizeof()} + {layout.CHARSMAP_UNIT.itemsize} * unit_count + "
    charsmap += (
        f"{layout.TRIE_NODE.itemsize} * (node_count + 1) + {layout.TRIE_EDGE.itemsize} *"
        " edge_count + "
    )
    assert charsmap + "program_size + text_size bytes" in rules
    assert f"at most {layout.MAX_CLUSTER} bytes (`MAX_CLUSTER`)" in spec_document.text()
    assert f"{layout.CUTS_SIZE:,} bytes" in spec_document.section("### 4.5 CUTS")


def test_the_class_table_has_the_declared_parts() -> None:
    ((_, rows),) = spec_document.tables(spec_document.section("### 4.3 Class tables"))
    block = layout.CLASS_BLOCK
    assert [(row["Part"], row["Type"], row["Entries"]) for row in rows] == [
        ("ascii", "u8", str(layout.CLASS_ASCII)),
        ("top", "u16", str(layout.CLASS_TOP)),
        ("middle", "u16", f"{block} * middle_count"),
        ("leaves", "u8", f"{block} * leaf_count"),
    ]


def test_the_sizes_of_sections_follow_from_the_declared_sizes() -> None:
    (_, rows), *_ = spec_document.tables(spec_document.section("### 6.2 Sizes and ranges"))
    size = {tag: row["Size"] for row in rows for tag in row["Section"].split(", ")}
    top = 2 * layout.CLASS_TOP
    blocks = f"{2 * layout.CLASS_BLOCK} * middle_count"
    index = layout.IndexHeader.sizeof()
    node, edge = layout.TRIE_NODE.itemsize, layout.TRIE_EDGE.itemsize
    assert size == {
        "RECS": f"{layout.RECORD.itemsize} * id_count",
        "DECO": (
            f"{layout.Decoder.sizeof()} + edit_text_size, and 256 + {layout.EDIT.itemsize} *"
            " edit_state_count * (edit_class_count + 1) more if edit_state_count is not 0"
        ),
        "SCOR": f"{layout.SCORE.itemsize} * id_count",
        "SC64": f"{layout.DOUBLE_SCORE.itemsize} * id_count",
        "TRIE": f"{layout.TrieHeader.sizeof()} + {layout.TRIE_UNIT.itemsize} * unit_count",
        "RANK": f"{layout.RANK.itemsize} * id_count",
        "BIDS": f"{256 * layout.BYTE_ID.itemsize:,}",
        "CHRS": (
            f"for unit CHARACTER: {layout.CharactersHeader.sizeof()} + {top} * place_count +"
            f" {blocks} + {layout.CLASS_BLOCK * layout.SYMBOL.itemsize} * leaf_count; for unit"
            f" BYTE: {layout.CharactersHeader.sizeof()} + {256 * layout.SYMBOL.itemsize:,} *"
            " place_count"
        ),
        "KEYS": f"{layout.KEY.itemsize} * id_count",
        "XPRS": f"{layout.CrossingsHeader.sizeof()} + {128 * 128 // 8:,} + (1 << bits) / 8",
        "TIDX": (
            f"{index} + {layout.TOKEN_SLOT.itemsize} * slot_count + {layout.DISPLACEMENT.itemsize}"
            " * bucket_count, both at least 1"
        ),
        "PIDX": (
            f"{layout.PairIndexHeader.sizeof()} + {layout.PAIR_SLOT.itemsize} * slot_count +"
            f" {layout.ROW_START.itemsize} * (((id_count - 1) >> row_shift) + 2) +"
            f" {layout.DISPLACEMENT.itemsize} * bucket_count, slot_count and bucket_count at"
            " least 1"
        ),
        "GRID": (
            f"{layout.GridHeader.sizeof()} + {layout.GRID_ENTRY.itemsize} * character_count *"
            " character_count"
        ),
        "SPLT": f"at least {layout.SplitsHeader.sizeof()} + {layout.Stage.sizeof()} * stage_count",
        "CUTS": f"{layout.CUTS_SIZE:,}",
        "NORM": (
            f"at least {layout.RewriteHeader.sizeof()} + {layout.RewriteOp.sizeof()} * op_count"
        ),
        "ADDT": (
            f"{layout.AddedHeader.sizeof()} + {layout.ADDED_TOKEN.itemsize} * token_count + {node}"
            f" * (raw_node_count + 1) + {edge} * raw_edge_count + {node} * (normalized_node_count +"
            f" 1) + {edge} * normalized_edge_count + text_size"
        ),
        "ACLS": (
            f"{layout.AddedClassesHeader.sizeof()} + {layout.CLASS_ASCII} + {top} + {blocks} + "
            f"{layout.CLASS_BLOCK} * leaf_count"
        ),
        "POST": (
            f"{layout.TemplateHeader.sizeof()} + {layout.TEMPLATE_PIECE.itemsize} * (single_count +"
            " pair_count)"
        ),
        "TRIM": (
            f"{layout.TrimmingHeader.sizeof()} + {layout.TRIMMING_EXCEPTION.itemsize} *"
            " exception_count"
        ),
        "UNUS": (
            f"{layout.UnusedHeader.sizeof()} + {layout.UNUSED_ENTRY.itemsize} * (unused_count + 1)"
            f" + {layout.UNUSED_PART.itemsize} * part_count"
        ),
        "ALGN": (
            f"{layout.AlignmentHeader.sizeof()} + {node} * (node_count + 1) + {edge} * edge_count"
        ),
        "SPID": f"{layout.SpecialIdsHeader.sizeof()} + 4 * stop_count",
        "TEST": (
            f"{layout.SelfTestHeader.sizeof()} + {layout.SELF_TEST_CASE.itemsize} * case_count + 4"
            " * id_count + text_size"
        ),
    }
