"""Tables that are too large to check at opening: a value out of its range is TKX_E_CORRUPT when it
is met, never anything else.
"""

from __future__ import annotations

import struct

import pytest
from c_harness import COMPILERS, Library
from golden_files import filled, numbers, patched, section

OK, SECTION_SIZE, SPLITS, CORRUPT = 0, -33, -34, -37

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")


def test_a_record_that_points_out_of_the_bytes(library: Library) -> None:
    assert library.open(patched("smallest-bpe", (b"RECS", 0, "I", 0xFFFFFFFF))) == OK
    assert library.look_up("tkx_token_bytes", 0, results=2) == CORRUPT
    assert library.decode(0) == CORRUPT
    assert library.look_up("tkx_token_bytes", 1, results=2) == OK


def test_a_record_that_is_one_byte_too_long(library: Library) -> None:
    sizes = numbers("smallest-bpe", b"RECS", 0, 6)
    last = max(range(3), key=lambda token: sizes[2 * token] + (sizes[2 * token + 1] & 0xFFFF))
    length = sizes[2 * last + 1] & 0xFFFF
    assert library.open(patched("smallest-bpe", (b"RECS", 8 * last + 4, "H", length + 1))) == OK
    assert library.decode(last) == CORRUPT


def test_a_byte_with_an_id_that_does_not_exist(library: Library) -> None:
    assert library.open(patched("smallest-bpe", (b"BIDS", 4 * ord("a"), "I", 3))) == OK
    assert library.encode(b"aba")[0] == CORRUPT


def test_a_token_index_with_an_id_that_does_not_exist(library: Library) -> None:
    slots = numbers("smallest-bpe", b"TIDX", 0, 1)[0]
    slot_values = numbers("smallest-bpe", b"TIDX", 8, slots)
    full = [index for index, value in enumerate(slot_values) if value != 0xFFFFFFFF]
    changes = [(b"TIDX", 8 + 4 * index, "I", slot_values[index] | 0x1FFFFF) for index in full]
    assert library.open(patched("smallest-bpe", *changes)) == OK
    assert library.encode(b"a")[0] == CORRUPT


def test_a_merge_with_a_product_that_does_not_exist(library: Library) -> None:
    slots = numbers("smallest-bpe", b"PIDX", 0, 1)[0]
    values = numbers("smallest-bpe", b"PIDX", 16, 2 * slots)
    full = [index for index in range(slots) if values[2 * index] != 0xFFFFFFFF]
    changes = [(b"PIDX", 16 + 8 * index, "I", values[2 * index] | 0x1FFFFF) for index in full]
    assert library.open(patched("smallest-bpe", *changes)) == OK
    assert library.encode(b"aab")[0] == CORRUPT
    assert library.encode(b"ab" * 100)[0] == CORRUPT  # the way of long pieces


@pytest.mark.parametrize(
    ("offset", "function", "arguments"), [(0, "tkx_special_id", (0,)), (20, "tkx_stop_id", (0,))]
)
def test_a_role_with_an_id_that_does_not_exist(
    library: Library, offset: int, function: str, arguments: tuple[int, ...]
) -> None:
    assert library.open(patched("added", (b"SPID", offset, "I", 100_000))) == OK
    assert library.look_up(function, *arguments, results=1) == CORRUPT


@pytest.mark.parametrize(("offset", "number"), [(8, 3), (12, 100_000)])
def test_a_template_with_an_unknown_kind_or_id(library: Library, offset: int, number: int) -> None:
    assert library.open(patched("added", (b"POST", offset, "I", number))) == OK
    assert library.look_up("tkx_template", 0, 0, results=3) == CORRUPT


@pytest.mark.parametrize(("offset", "number"), [(0, 100_000), (4, 0xFFFFFFFF), (8, 0xFFFFFFFF)])
def test_an_added_token_out_of_its_range(library: Library, offset: int, number: int) -> None:
    assert library.open(patched("added", (b"ADDT", 96 + offset, "I", number))) == OK
    assert library.look_up("tkx_added_token", 0, results=4) == CORRUPT


def test_a_found_added_token_with_an_id_that_does_not_exist(library: Library) -> None:
    count = numbers("added", b"ADDT", 0, 1)[0]
    changes = [(b"ADDT", 96 + 16 * index, "I", 100_000) for index in range(count)]
    assert library.open(patched("added", *changes)) == OK
    assert library.encode(b"a<s>b")[0] == CORRUPT
    assert library.encode(b"plain")[0] == OK


@pytest.mark.parametrize("what", ["token", "first edge", "child"])
def test_a_trie_that_points_outside(library: Library, what: str) -> None:
    count, nodes, edges = numbers("added", b"ADDT", 0, 3)
    first_node = 96 + 16 * count
    first_edge = first_node + 8 * (nodes + 1)
    values = numbers("added", b"ADDT", first_edge, edges)
    changes = {
        "token": [
            (b"ADDT", first_node + 8 * node + 4, "I", count)
            for node in range(1, nodes)
            if numbers("added", b"ADDT", first_node + 8 * node + 4, 1) != [0xFFFFFFFF]
        ],
        "first edge": [(b"ADDT", first_node + 8, "I", edges + 1)],
        "child": [
            (b"ADDT", first_edge + 4 * edge, "I", values[edge] | 0xFFFFFF) for edge in range(edges)
        ],
    }
    assert library.open(patched("added", *changes[what])) == OK
    assert library.encode(b"a<s>b")[0] == CORRUPT


@pytest.mark.parametrize("level", ["top", "middle"])
def test_classes_of_white_space_that_lie_outside(library: Library, level: str) -> None:
    middles, leaves = struct.unpack("<HH", struct.pack("<I", numbers("added", b"ACLS", 0, 1)[0]))
    top = 8 + 128
    offsets = {"top": (top, 272, middles), "middle": (top + 544, 64 * middles, leaves)}
    start, count, bound = offsets[level]
    assert library.open(filled("added", b"ACLS", start, count, "H", bound)) == OK
    assert library.encode("</s>\u3000x".encode())[0] == CORRUPT


def form_table() -> int:
    """Where the table of the one operation begins in NORM."""
    return numbers("normalized", b"NORM", 16 + 12, 1)[0]


def normalizer_parts() -> dict[str, tuple[int, int]]:
    """Where each part of NORM begins, and its number of entries."""
    table = form_table()
    _, middles, leaves, entries, points, compositions = numbers("normalized", b"NORM", table, 6)
    parts: dict[str, tuple[int, int]] = {}
    at = table + 32
    for name, count, size in [
        ("top", 272, 2),
        ("middle", 64 * middles, 2),
        ("leaves", 64 * leaves, 2),
        ("entries", entries, 8),
        ("points", points, 4),
        ("compositions", compositions, 12),
    ]:
        parts[name] = (at, count)
        at += size * count
    return parts


@pytest.mark.parametrize("part", ["top", "middle", "leaves"])
def test_normalizer_levels_that_point_outside(library: Library, part: str) -> None:
    damaged = filled("normalized", b"NORM", *normalizer_parts()[part], "H", 0xFFFF)
    assert library.open(damaged) == OK
    assert library.encode("e\u0301".encode())[0] == CORRUPT
    assert library.encode(b"ascii needs no table")[0] == OK


@pytest.mark.parametrize(
    ("part", "stride", "offset", "number"),
    [
        ("entries", 8, 0, 0xFFFFFF00),
        ("points", 4, 0, 0xD800),
        ("points", 4, 0, 0x110000),
        ("compositions", 12, 8, 0xDFFF),
    ],
)
def test_normalizer_entries_out_of_their_range(
    library: Library, part: str, stride: int, offset: int, number: int
) -> None:
    start, count = normalizer_parts()[part]
    changes = [(b"NORM", start + stride * index + offset, "I", number) for index in range(count)]
    assert library.open(patched("normalized", *changes)) == OK
    assert library.encode("\u00e9\u0323 e\u0301".encode())[0] == CORRUPT


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
def test_a_self_test_that_points_outside(library: Library, offset: int) -> None:
    assert library.open(patched("added", (b"TEST", 16 + offset, "I", 0xFFFFFFFF))) == OK
    assert library.self_test()[0] == CORRUPT


def test_a_self_test_whose_text_is_not_utf8(library: Library) -> None:
    cases, ids, size = numbers("added", b"TEST", 0, 3)
    text = 16 + 20 * cases + 4 * ids
    assert library.open(filled("added", b"TEST", text, size, "B", 0xFF)) == OK
    assert library.self_test() == (CORRUPT, 0)


@pytest.mark.parametrize(
    ("offset", "number"),
    [
        (0, 32),  # a flag without a name
        (0, 2),  # BY_CHARACTER without BYTE_FALLBACK
        (0, 8 | 16),  # two ways to say which is the first
        (4, 128),  # a character to strip that is not ASCII
        (4, 0x100),
    ],
)
def test_a_decoder_with_rules_that_do_not_go_together(
    library: Library, offset: int, number: int
) -> None:
    assert library.open(patched("decode-first", (b"DECO", offset, "I", number))) == OK
    assert library.decode(3) == CORRUPT
    assert library.start_stream() == CORRUPT


@pytest.mark.parametrize(
    ("name", "tag", "offset", "form", "number"),
    [
        ("decode-edited", b"EDIT", 4, "I", 1),  # the class of tokens, which DECO does not allow
        ("decode-runs", b"DECO", 0, "I", 1 | 4),
        ("decode-edited", b"EDIT", 4, "I", 2),  # a flag without a name
        ("decode-edited", b"DECO", 4, "I", 0x20),  # stripped and edited
        ("decode-edited", b"EDIT", 12, "I", 1),
        ("decode-edited", b"EDIT", 16, "B", 250),  # a class that there is not
        ("decode-edited", b"EDIT", 271, "B", 250),
        ("decode-runs", b"EDIT", 16, "B", 4),  # the class of tokens for a byte
        ("decode-edited", b"EDIT", 272, "H", 0xFFFF),  # a state that there is not
        ("decode-edited", b"EDIT", 274, "H", 0x7FFF),  # more text than there is
        ("decode-edited", b"EDIT", 276, "I", 0xFFFFFFFF),
    ],
)
def test_edits_out_of_their_range_are_not_opened(
    library: Library, name: str, tag: bytes, offset: int, form: str, number: int
) -> None:
    assert library.open(patched(name)) == OK
    assert library.open(patched(name, (tag, offset, form, number))) == CORRUPT


@pytest.mark.parametrize(
    ("offset", "length", "flags"),
    [
        (0, 0, 1 << 5),  # FIRST_SKIP of more than there is
        (1, 0, 2 << 10),  # FIRST_MORE of what lies before BYTS
        (0, 0, 1 << 12),  # LAST_SKIP of more than there is
        (1, 1, 1 << 5 | 1 << 12),  # both of one byte
    ],
)
def test_a_form_of_a_token_out_of_its_range(
    library: Library, offset: int, length: int, flags: int
) -> None:
    changes = ((b"RECS", 0, "I", offset), (b"RECS", 4, "H", length), (b"RECS", 6, "H", 1 | flags))
    assert library.open(patched("decode-first", *changes)) == OK
    assert library.decode(0) == CORRUPT
    assert library.look_up("tkx_token_bytes", 0, results=2) == OK


def character_parts(name: str) -> dict[str, tuple[int, int]]:
    """Where each part of CHRS begins, and its number of entries."""
    _, places, middles, leaves = numbers(name, b"CHRS", 0, 4)
    top = 16
    middle = top + 544 * places
    return {
        "top": (top, 272 * places),
        "middle": (middle, 64 * middles),
        "leaves": (middle + 128 * middles, 64 * leaves),
    }


@pytest.mark.parametrize("name", ["byte-fallback", "affixes"])
@pytest.mark.parametrize(
    ("part", "form", "number"),
    [("top", "H", 0xFFFF), ("middle", "H", 0xFFFF), ("leaves", "I", 9999)],
)
def test_a_table_of_characters_that_points_outside(
    library: Library, name: str, part: str, form: str, number: int
) -> None:
    damaged = filled(name, b"CHRS", *character_parts(name)[part], form, number)
    assert library.open(damaged) == OK
    assert library.encode(b"cbb xy")[0] == CORRUPT
    assert library.encode(b"xy" * 100)[0] == CORRUPT  # the way of long pieces


@pytest.mark.parametrize(
    ("part", "form", "number"), [("top", "H", 1), ("middle", "H", 3), ("leaves", "I", 0xFFFFFFFE)]
)
def test_a_table_of_characters_is_looked_at_before_a_text_is_cut(
    library: Library, part: str, form: str, number: int
) -> None:
    bound = {
        "top": numbers("byte-fallback", b"CHRS", 8, 1)[0],
        "middle": numbers("byte-fallback", b"CHRS", 12, 1)[0],
    }
    place = character_parts("byte-fallback")[part]
    damaged = filled("byte-fallback", b"CHRS", *place, form, bound.get(part, number))
    assert library.open(damaged) == OK
    assert library.encode("\u0416\u0417".encode())[0] == CORRUPT


def test_a_symbol_of_a_byte_that_does_not_exist(library: Library) -> None:
    assert library.open(patched("byte-suffix", (b"CHRS", 16 + 4 * ord("a"), "I", 9999))) == OK
    assert library.encode(b"aab")[0] == CORRUPT


def test_a_byte_of_an_unknown_character_with_an_id_that_does_not_exist(library: Library) -> None:
    assert library.open(patched("byte-fallback", (b"BIDS", 4 * 0xA9, "I", 9999))) == OK
    assert library.encode("\u00e9".encode())[0] == CORRUPT
    assert library.encode(b"ab")[0] == OK


def test_a_key_that_points_out_of_the_bytes(library: Library) -> None:
    ids = len(section("byte-suffix", b"KEYS")) // 8
    changes = ((b"KEYS", 8 * i, "I", 0xFFFFFFF0) for i in range(ids))
    assert library.open(patched("byte-suffix", *changes)) == OK
    assert library.encode(b"ab")[0] == CORRUPT


@pytest.mark.parametrize(
    ("tag", "offset", "number"),
    [
        (b"CHRS", 0, 2),
        (b"CHRS", 0, 1),
        (b"CHRS", 4, 2),
        (b"CHRS", 4, 0),
        (b"CHRS", 8, 0),
        (b"CHRS", 12, 4294967295),
        (b"XPRS", 0, 3),
        (b"XPRS", 4, 5),
        (b"XPRS", 4, 27),
        (b"XPRS", 4, 10),
        (b"PIDX", 8, 22),
        (b"PIDX", 8, 0),
        (b"PIDX", 12, 1),
    ],
)
def test_a_head_that_does_not_fit_its_tables(
    library: Library, tag: bytes, offset: int, number: int
) -> None:
    assert library.open(patched("byte-fallback", (tag, offset, "I", number))) == SECTION_SIZE


def test_a_bitmap_of_crossings_may_hold_anything(library: Library) -> None:
    size = len(section("byte-fallback", b"XPRS"))
    for byte in (0x00, 0xFF):
        assert library.open(filled("byte-fallback", b"XPRS", 8, size - 8, "B", byte)) == OK
        assert library.encode("ab\u4e2d\u6587 \u00e9\u00ea".encode())[0] == OK


def test_a_row_of_merges_that_ends_before_it_begins_or_after_the_last_slot(
    library: Library,
) -> None:
    (slots,) = numbers("smallest-bpe", b"PIDX", 0, 1)
    row = 16 + 8 * slots
    for start, end in ((1, 0), (0, slots), (0xFF000000, 1), (0, 0xFFFFFFFF), (1, 1), (0, 1)):
        bounds = ((b"PIDX", row, "I", start), (b"PIDX", row + 4, "I", end))
        assert library.open(patched("smallest-bpe", *bounds)) == OK
        expected = OK if start <= end < slots else CORRUPT
        assert library.encode(b"aba")[0] == expected
        assert library.encode(b"ab" * 100)[0] == expected  # the way of long pieces


def test_a_row_of_merges_that_begins_too_late_is_not_read_past_its_end(library: Library) -> None:
    """Golden bytes that once gave other ids without a word."""
    assert library.open(patched("ranked", (b"PIDX", 43, "B", 255))) == OK
    assert library.encode(b"bcab") == (CORRUPT, [])


def test_characters_are_not_looked_for_behind_a_stage_on_bytes(library: Library) -> None:
    assert library.open(patched("affixes", (b"SPLT", 9, "B", 2))) == SPLITS
