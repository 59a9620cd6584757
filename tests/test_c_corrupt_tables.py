"""Tables that are too large to check at opening: a value out of its range is TKX_E_CORRUPT when it is met, never anything else."""

from __future__ import annotations

import struct

import golden_files
import pytest
from c_harness import COMPILERS, Library

OK, CORRUPT = 0, -37

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("library"))


def patched(name: str, *changes: tuple[bytes, int, str, int]) -> bytes:
    """A golden file with numbers of sections replaced: tag, offset in the section, struct format, number. The section table stays right."""
    content = bytearray(golden_files.content(name))
    places = {
        bytes(content[at : at + 4]): struct.unpack_from("<Q", content, at + 8)[0]
        for at in range(64, 64 + 32 * content[12], 32)
    }
    for tag, offset, form, number in changes:
        struct.pack_into("<" + form, content, places[tag] + offset, number)
    return bytes(content)


def numbers(name: str, tag: bytes, offset: int, count: int) -> list[int]:
    """Some u32 of a section of a golden file."""
    content = golden_files.content(name)
    for at in range(64, 64 + 32 * content[12], 32):
        if content[at : at + 4] == tag:
            start = struct.unpack_from("<Q", content, at + 8)[0] + offset
            return list(struct.unpack_from(f"<{count}I", content, start))
    raise KeyError(tag)


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
    values = numbers("smallest-bpe", b"PIDX", 8, 2 * slots)
    full = [index for index in range(slots) if values[2 * index] != 0xFFFFFFFF]
    changes = [(b"PIDX", 8 + 8 * index, "I", values[2 * index] | 0x1FFFFF) for index in full]
    assert library.open(patched("smallest-bpe", *changes)) == OK
    assert library.encode(b"aab")[0] == CORRUPT
    assert library.encode(b"ab" * 100)[0] == CORRUPT  # the way of long pieces


@pytest.mark.parametrize(("offset", "function", "arguments"), [(0, "tkx_special_id", (0,)), (20, "tkx_stop_id", (0,))])
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
        "child": [(b"ADDT", first_edge + 4 * edge, "I", values[edge] | 0xFFFFFF) for edge in range(edges)],
    }
    assert library.open(patched("added", *changes[what])) == OK
    assert library.encode(b"a<s>b")[0] == CORRUPT


@pytest.mark.parametrize("level", ["top", "middle"])
def test_classes_of_white_space_that_lie_outside(library: Library, level: str) -> None:
    middles, leaves = struct.unpack("<HH", struct.pack("<I", numbers("added", b"ACLS", 0, 1)[0]))
    top = 8 + 128
    offsets = {"top": (top, 272, middles), "middle": (top + 544, 64 * middles, leaves)}
    start, count, bound = offsets[level]
    changes = [(b"ACLS", start + 2 * index, "H", bound) for index in range(count)]
    assert library.open(patched("added", *changes)) == OK
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
    start, count = normalizer_parts()[part]
    assert library.open(patched("normalized", *((b"NORM", start + 2 * i, "H", 0xFFFF) for i in range(count)))) == OK
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
    assert library.open(patched("added", *((b"TEST", text + i, "B", 0xFF) for i in range(size)))) == OK
    assert library.self_test() == (CORRUPT, 0)
