"""The constants and sizes in the prose of SPEC.md are those of the declaration of the layout."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import spec_document

import tokexport.file.layout as layout
from tokexport import limits

ARRAYS = {
    name: value
    for name, value in vars(layout).items()
    if isinstance(value, np.dtype) and not value.names
}
FIELD_TABLES = spec_document.named_tables("Offset")


def dtype_type(dtype: np.dtype[Any]) -> str:
    """A numpy type in the words of SPEC.md."""
    return {"u": "u", "f": "f"}[dtype.kind] + str(8 * dtype.itemsize)


@pytest.mark.parametrize("name", ARRAYS)
def test_plain_arrays_have_the_declared_type(name: str) -> None:
    assert re.search(rf"`{name}` ?\({dtype_type(ARRAYS[name])}\)", spec_document.text())


def test_the_limits_are_the_declared_ones() -> None:
    header = {row["Name"]: row["Meaning"] for row in FIELD_TABLES["Header"][1]}
    assert header["magic"].startswith(layout.MAGIC.hex(" ").upper())
    assert header["version_major"] == str(layout.VERSION_MAJOR)
    assert header["version_minor"].startswith(str(layout.VERSION_MINOR))
    rules = " ".join(spec_document.section("### 6.2 Sizes and ranges").split())
    assert f"stage_count is at most {limits.MAX_STAGES}" in rules
    assert f"class_count is 1 to {limits.MAX_CLASSES}" in rules
    assert f"state_count is 1 to {limits.MAX_STATES:,}" in rules
    assert f"the first multiple of {layout.ALIGNMENT}" in spec_document.section("3 Structure")
    assert f"`NONE` is 0x{layout.NONE:X}." in spec_document.text()
    assert f"(0x{layout.ACCEPT:04X}, `ACCEPT`)" in spec_document.text()
    assert f"op_count is at most {limits.MAX_OPS}" in rules
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
    assert f"at most {limits.MAX_CLUSTER} bytes (`MAX_CLUSTER`)" in spec_document.text()
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
        "DECO": f"{layout.Decoder.sizeof()}",
        "EDIT": (
            f"{layout.EditsHeader.sizeof()} + 256 + {layout.EDIT.itemsize} * state_count *"
            " (class_count + 1) + text_size"
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
        "SPLT": f"at least {layout.SplitsHeader.sizeof()} + {layout.Stage.sizeof()} * stage_count",
        "LABL": f"at least {layout.LabelsHeader.sizeof()} + {layout.LabelTable.sizeof()} * table_count",
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
        "ALGN": (
            f"{layout.AlignmentHeader.sizeof()} + {node} * (node_count + 1) + {edge} * edge_count"
        ),
        "SPID": f"{layout.SpecialIdsHeader.sizeof()} + 4 * stop_count",
        "TEST": (
            f"{layout.SelfTestHeader.sizeof()} + {layout.SELF_TEST_CASE.itemsize} * case_count + 4"
            " * id_count + text_size"
        ),
    }
