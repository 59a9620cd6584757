"""Damaged operations of NORM: MAP, REPLACE and CHARSMAP are refused at opening or give
TKX_E_CORRUPT when they are met.
"""

from __future__ import annotations

import golden_files
import pytest
from c_harness import COMPILERS, SANITIZED, Builder, Library, run
from golden_files import filled, numbers, patched
from repository import SLOW

OK, SPLITS, CORRUPT = 0, -34, -37
MAP_FIELDS, CHARSMAP_HEADER = 16, 24
BY_CLUSTER, COLLAPSE = 8, 32
TEXT = "e\u0301 \u00a9\u0915\u094d\r\n \u00c0B \u4f60\ufb01 <a<a> abab! aa\u00e9"

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")


def table_of(name: str, op: int) -> int:
    """Where the table of an operation begins in NORM."""
    return numbers(name, b"NORM", 16 + 32 * op + 12, 1)[0]


def map_parts() -> dict[str, tuple[int, int]]:
    """Where each part of the map to lower case begins in NORM, and its number of entries."""
    at = table_of("rewriting", 1)
    middles, leaves, entries, text = numbers("rewriting", b"NORM", at, 4)
    parts: dict[str, tuple[int, int]] = {}
    at += MAP_FIELDS + 128
    for part, count, size in [
        ("top", 272, 2),
        ("middle", 64 * middles, 2),
        ("leaves", 64 * leaves, 2),
        ("entries", entries, 8),
        ("text", text, 1),
    ]:
        parts[part] = (at, count)
        at += size * count
    return parts


@pytest.mark.parametrize("part", ["top", "middle", "leaves"])
def test_levels_of_a_map_that_point_outside(library: Library, part: str) -> None:
    assert library.open(filled("rewriting", b"NORM", *map_parts()[part], "H", 0xFFFF)) == OK
    assert library.encode("\u00c0".encode())[0] == CORRUPT
    assert library.encode(b"ascii needs no levels")[0] == OK


@pytest.mark.parametrize(
    ("offset", "form", "number"), [(0, "I", 0xFFFFFF00), (0, "I", 4241), (4, "H", 0xFFFF)]
)
def test_entries_of_a_map_that_point_out_of_its_text(
    library: Library, offset: int, form: str, number: int
) -> None:
    start, count = map_parts()["entries"]
    changes = [(b"NORM", start + 8 * index + offset, form, number) for index in range(1, count)]
    assert library.open(patched("rewriting", *changes)) == OK
    assert library.encode("\u00c0".encode())[0] == CORRUPT


def test_a_map_to_what_is_not_utf8(library: Library) -> None:
    assert library.open(filled("rewriting", b"NORM", *map_parts()["text"], "B", 0xC3)) == OK
    assert library.encode("\u00c0".encode())[0] == CORRUPT


def test_a_map_to_the_letters_of_what_is_no_hangul_syllable(library: Library) -> None:
    start, count = map_parts()["entries"]
    changes = [(b"NORM", start + 8 * index + 6, "B", 2) for index in range(1, count)]
    assert library.open(patched("rewriting", *changes)) == OK
    assert library.encode("\u00c0".encode())[0] == CORRUPT


@pytest.mark.parametrize(
    ("op", "offset"), [(0, 0), (0, 4), (0, 8), (0, 12), (0, 16), (1, 0), (1, 4), (1, 8), (1, 12)]
)
def test_tables_of_another_size_than_their_counts_say(
    library: Library, op: int, offset: int
) -> None:
    at = table_of("rewriting", op) + offset
    (number,) = numbers("rewriting", b"NORM", at, 1)
    assert library.open(patched("rewriting", (b"NORM", at, "I", number + 1))) == SPLITS


@pytest.mark.parametrize(
    ("offset", "form", "number"),
    [
        (1, "B", 2),
        (2, "H", 0),
        (4, "H", 0),
        (3, "B", 9),
        (12, "I", 0xFFFFFFFC),
        (16, "I", 2),
        (20, "I", 1200),
        (24, "I", 1),
    ],
)
def test_a_program_to_replace_with_that_is_none(
    library: Library, offset: int, form: str, number: int
) -> None:
    at = table_of("rewriting", 2)
    assert library.open(patched("rewriting", (b"NORM", at + offset, form, number))) == SPLITS


@pytest.mark.parametrize("field", [16, 20, 24], ids=["classes", "starts", "transitions"])
def test_a_program_to_replace_with_whose_tables_point_outside(library: Library, field: int) -> None:
    at = table_of("rewriting", 2)
    at += numbers("rewriting", b"NORM", at + field, 1)[0]
    assert library.open(filled("rewriting", b"NORM", at, 4, "B", 0xFF)) == SPLITS


def test_content_that_is_not_utf8(library: Library) -> None:
    at = numbers("rewriting", b"NORM", 16 + 32 * 2 + 20, 1)[0]
    assert library.open(patched("rewriting", (b"NORM", at, "B", 0xFF))) == SPLITS


def charsmap_parts() -> tuple[int, int, int, int, int]:
    """Of the sequences of ``sequences``: where units, nodes, edges and text begin in NORM, and the
    size of the text.
    """
    at = table_of("sequences", 0)
    units, nodes, edges, program, text = numbers("sequences", b"NORM", at, 5)
    first_node = at + CHARSMAP_HEADER + 4 * units
    first_edge = first_node + 8 * (nodes + 1)
    return at + CHARSMAP_HEADER, first_node, first_edge, first_edge + 4 * edges + program, text


def test_spaces_are_not_dropped_by_cluster(library: Library) -> None:
    for flags in (BY_CLUSTER, COLLAPSE, BY_CLUSTER | COLLAPSE):
        expected = OK if flags == BY_CLUSTER else SPLITS
        assert library.open(patched("rewriting", (b"NORM", 16 + 1, "B", flags))) == expected


def test_damaged_sequences_that_drop_spaces(library: Library) -> None:
    start, size = charsmap_parts()[3:]
    collapse = (b"NORM", 16 + 1, "B", COLLAPSE)
    assert library.open(patched("sequences", collapse)) == OK
    assert library.encode(TEXT.encode())[0] == OK
    damage = ((b"NORM", start + i, "B", 0xFF) for i in range(size))
    assert library.open(patched("sequences", collapse, *damage)) == OK
    assert library.encode(b"aa")[0] == CORRUPT
    assert library.encode(b"plin")[0] == OK


def test_replacements_that_are_not_utf8(library: Library) -> None:
    *_, text, size = charsmap_parts()
    assert library.open(filled("sequences", b"NORM", text, size, "B", 0xFF)) == OK
    assert library.encode(b"aa")[0] == CORRUPT
    assert library.encode(b"plin")[0] == OK


def test_replacements_that_lie_outside(library: Library) -> None:
    units, first_node, *_ = charsmap_parts()
    values = numbers("sequences", b"NORM", units, (first_node - units) // 4)
    changes = [
        (b"NORM", units + 4 * i, "I", 0xFFFFFFFF) for i, value in enumerate(values) if value >> 31
    ]
    assert changes
    assert library.open(patched("sequences", *changes)) == OK
    assert library.encode(b"aa")[0] == CORRUPT


def test_a_sequence_that_ends_inside_a_character(library: Library) -> None:
    units, first_node, *_ = charsmap_parts()
    values = numbers("sequences", b"NORM", units, (first_node - units) // 4)
    offset = [(value >> 10) << ((value & 0x200) >> 6) for value in values]
    place = offset[0] ^ 0xC3
    assert values[place] & 0x800000FF == 0xC3
    child = place ^ offset[place]
    changes = [
        (b"NORM", units + 4 * place, "I", values[place] | 0x100),
        (b"NORM", units + 4 * child, "I", 0x80000000),
    ]
    assert library.open(patched("sequences", *changes)) == OK
    assert library.encode("\u00e8".encode())[0] == CORRUPT


@pytest.mark.parametrize("what", ["first edge", "child"])
def test_protected_texts_whose_trie_points_outside(library: Library, what: str) -> None:
    _, first_node, first_edge, text, _ = charsmap_parts()
    edges = (text - first_edge) // 4
    values = numbers("sequences", b"NORM", first_edge, edges)
    changes = {
        "first edge": [(b"NORM", first_node + 8, "I", edges + 1)],
        "child": [
            (b"NORM", first_edge + 4 * i, "I", value | 0xFFFFFF) for i, value in enumerate(values)
        ],
    }
    assert library.open(patched("sequences", *changes[what])) == OK
    assert library.encode(b"<a>")[0] == CORRUPT


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("name", "step"),
    [("sequences", 1), ("rewriting", 31)] if SLOW else [("sequences", 5), ("rewriting", 31)],
)
def test_no_byte_of_the_operations_makes_it_touch_what_is_not_its_own(
    compiler: str, name: str, step: int, build: Builder
) -> None:
    program = build(compiler, "damaged_section", *SANITIZED)
    answer = run(
        [
            str(program),
            str(golden_files.FOLDER / f"{name}.bin"),
            "NORM",
            str(step),
            TEXT,
            "aa<a>\u00e9",
        ]
    )
    refused, corrupt = map(int, answer.split())
    assert refused > 0
    assert corrupt > 0
