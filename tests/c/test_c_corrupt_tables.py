"""Tables too large to check on opening: a value out of range is TKX_E_CORRUPT on use."""

import struct
from collections.abc import Iterator
from typing import Any

import golden_files
import golden_run
import pytest
import tokexport_reader
from c_harness import Library
from golden_files import Changes, fill, numbers, parts, patched, rebuilt, section

from tokexport.file.layout import LabelsHeader, LabelTable, Tag

OK, SECTION_SIZE, SPLITS, CORRUPT = 0, -33, -34, -37
SMALLEST, NONE = "smallest-bpe", 0xFFFFFFFF
MAP_FIELDS, CHARSMAP_HEADER = 16, 24


def ids_of_index(tag: bytes, start: int, words: int) -> Changes:
    """Ids that do not exist, in each slot of an index that is not empty."""
    (slots,) = numbers(SMALLEST, tag, 0, 1)
    values = numbers(SMALLEST, tag, start, words * slots)[::words]
    return [
        (tag, start + 4 * words * slot, "I", value | 0x1FFFFF)
        for slot, value in enumerate(values)
        if value != NONE
    ]


def added_tokens() -> Iterator[Changes]:
    """Damage in the tables of added tokens: ids, tokens, edges and children."""
    count, nodes, edges = numbers("added", b"ADDT", 0, 3)
    node = 96 + 16 * count
    edge = node + 8 * (nodes + 1)
    tokens = numbers("added", b"ADDT", node, 2 * nodes)[1::2]
    offsets = [node + 8 * number + 4 for number in range(1, nodes) if tokens[number] != NONE]
    children = enumerate(numbers("added", b"ADDT", edge, edges))
    yield fill(b"ADDT", 96, count, "I", 100_000, 16)
    yield [(b"ADDT", offset, "I", count) for offset in offsets]
    yield [(b"ADDT", node + 8, "I", edges + 1)]
    yield [(b"ADDT", edge + 4 * number, "I", child | 0xFFFFFF) for number, child in children]


def normalizer() -> dict[str, tuple[int, int]]:
    """The offset of each part of NORM, and its number of entries."""
    (table,) = numbers("normalized", b"NORM", 16 + 12, 1)
    _, middles, leaves, entries, points, compositions = numbers("normalized", b"NORM", table, 6)
    levels = {"top": (272, 2), "middle": (64 * middles, 2), "leaves": (64 * leaves, 2)}
    tables = {"entries": (entries, 8), "points": (points, 4), "compositions": (compositions, 12)}
    return parts(table + 32, **levels, **tables)


def characters(name: str) -> dict[str, tuple[int, int]]:
    """The offset of each part of CHRS, and its number of entries."""
    _, places, middles, leaves = numbers(name, b"CHRS", 0, 4)
    return parts(16, top=(272 * places, 2), middle=(64 * middles, 2), leaves=(64 * leaves, 4))


def table_of(name: str, op: int) -> int:
    """The offset in NORM of the table of an operation."""
    return numbers(name, b"NORM", 16 + 32 * op + 12, 1)[0]


def damaged_map() -> Iterator[tuple[Changes, str, str]]:
    """Changes in the map to lower case, a text that uses them, and one that does not."""
    at = table_of("rewriting", 1)
    middles, leaves, entries, text = numbers("rewriting", b"NORM", at, 4)
    levels = {"top": (272, 2), "middle": (64 * middles, 2), "leaves": (64 * leaves, 2)}
    tables = parts(at + MAP_FIELDS + 128, **levels, entries=(entries, 8), text=(text, 1))
    for level in levels:
        yield fill(b"NORM", *tables[level], "H", 0xFFFF), "\u00c0", "ascii needs no levels"
    first, count = tables["entries"][0] + 8, entries - 1
    for offset, struct_format, number in (
        (0, "I", 0xFFFFFF00),
        (0, "I", 4241),
        (4, "H", 0xFFFF),
        (6, "B", 2),  # the letters of a character that is not a Hangul syllable
    ):
        yield fill(b"NORM", first + offset, count, struct_format, number, 8), "\u00c0", ""
    yield fill(b"NORM", *tables["text"], "B", 0xC3), "\u00c0", ""


def damaged_sequences() -> Iterator[tuple[Changes, str, str]]:
    """The same in the sequences of the file ``sequences``, and in its protected texts."""
    at = table_of("sequences", 0)
    units, nodes, edges, program, size = numbers("sequences", b"NORM", at, 5)
    counts = {"units": (units, 4), "nodes": (nodes + 1, 8), "edges": (edges, 4)}
    tables = parts(at + CHARSMAP_HEADER, **counts, program=(program, 1), text=(size, 1))
    yield fill(b"NORM", *tables["text"], "B", 0xFF), "aa", "plin"
    start, _ = tables["units"]
    values = numbers("sequences", b"NORM", start, units)
    full = [unit for unit, value in enumerate(values) if value >> 31]
    yield [(b"NORM", start + 4 * unit, "I", 0xFFFFFFFF) for unit in full], "aa", ""
    # A sequence that ends inside a character.
    offset = [(value >> 10) << ((value & 0x200) >> 6) for value in values]
    index = offset[0] ^ 0xC3
    assert values[index] & 0x800000FF == 0xC3
    changed = {index: values[index] | 0x100, index ^ offset[index]: 0x80000000}
    yield [(b"NORM", start + 4 * at, "I", unit) for at, unit in changed.items()], "\u00e8", ""
    first, _ = tables["edges"]
    children = enumerate(numbers("sequences", b"NORM", first, edges))
    yield [(b"NORM", tables["nodes"][0] + 8, "I", edges + 1)], "<a>", ""
    yield [(b"NORM", first + 4 * i, "I", child | 0xFFFFFF) for i, child in children], "<a>", ""


def damage() -> Iterator[tuple[str, Changes, str, str]]:
    """A file, changes in it, texts that use them, separated by "|", and a text that does not."""
    yield SMALLEST, [(b"BIDS", 4 * ord("a"), "I", 3)], "aba", ""
    yield SMALLEST, ids_of_index(b"TIDX", 8, 1), "a", ""
    yield SMALLEST, ids_of_index(b"PIDX", 16, 2), "aab|" + "ab" * 100, ""
    for changes in added_tokens():
        yield "added", changes, "a<s>b", "plain"
    middles, leaves = struct.unpack("<HH", section("added", b"ACLS")[:4])
    levels = parts(8 + 128, top=(272, 2), middle=(64 * middles, 2))
    for table, bound in zip(levels.values(), (middles, leaves), strict=True):
        yield "added", fill(b"ACLS", *table, "H", bound), "</s>\u3000x", ""
    norm = normalizer()
    for part in ("top", "middle", "leaves"):
        yield "normalized", fill(b"NORM", *norm[part], "H", 0xFFFF), "e\u0301", "ascii: no table"
    for part, stride, offset, number in (
        ("entries", 8, 0, 0xFFFFFF00),
        ("points", 4, 0, 0xD800),
        ("points", 4, 0, 0x110000),
        ("compositions", 12, 8, 0xDFFF),
    ):
        start, count = norm[part]
        changes = fill(b"NORM", start + offset, count, "I", number, stride)
        yield "normalized", changes, "\u00e9\u0323 e\u0301", ""
    outside = {"top": ("H", 0xFFFF), "middle": ("H", 0xFFFF), "leaves": ("I", 9999)}
    for name in ("byte-fallback", "affixes"):
        for part, table in characters(name).items():  # both algorithms, also for long pre-tokens
            yield name, fill(b"CHRS", *table, *outside[part]), "cbb xy|" + "xy" * 100, ""
    # A table of characters is also used before a text is cut.
    _, _, middles, leaves = numbers("byte-fallback", b"CHRS", 0, 4)
    bounds = {"top": ("H", middles), "middle": ("H", leaves), "leaves": ("I", 0xFFFFFFFE)}
    for part, table in characters("byte-fallback").items():
        yield "byte-fallback", fill(b"CHRS", *table, *bounds[part]), "\u0416\u0417", ""
    yield "byte-suffix", [(b"CHRS", 16 + 4 * ord("a"), "I", 9999)], "aab", ""
    yield "byte-fallback", [(b"BIDS", 4 * 0xA9, "I", 9999)], "\u00e9", "ab"
    keys = len(section("byte-suffix", b"KEYS")) // 8
    yield "byte-suffix", fill(b"KEYS", 0, keys, "I", 0xFFFFFFF0, 8), "ab", ""
    for row in damaged_map():
        yield "rewriting", *row
    for row in damaged_sequences():
        yield "sequences", *row


@pytest.mark.parametrize(("name", "changes", "affected", "unaffected"), [*damage()])
def test_corruption_that_encoding_detects(
    library: Library, name: str, changes: Changes, affected: str, unaffected: str
) -> None:
    assert changes
    assert library.open(patched(name, *changes)) == OK
    for text in affected.split("|"):
        assert library.encode(text.encode())[0] == CORRUPT
    assert library.encode(unaffected.encode())[0] == OK


def test_a_record_that_points_outside_the_bytes(library: Library) -> None:
    assert library.open(patched(SMALLEST, (b"RECS", 0, "I", 0xFFFFFFFF))) == OK
    assert library.look_up("tkx_token_bytes", 0, results=2) == CORRUPT
    assert library.decode(0) == CORRUPT
    assert library.look_up("tkx_token_bytes", 1, results=2) == OK


def test_a_record_that_is_one_byte_too_long(library: Library) -> None:
    sizes = numbers(SMALLEST, b"RECS", 0, 6)
    last = max(range(3), key=lambda token: sizes[2 * token] + (sizes[2 * token + 1] & 0xFFFF))
    length = sizes[2 * last + 1] & 0xFFFF
    assert library.open(patched(SMALLEST, (b"RECS", 8 * last + 4, "H", length + 1))) == OK
    assert library.decode(last) == CORRUPT


@pytest.mark.parametrize(
    ("change", "function", "arguments", "results"),
    [
        ((b"SPID", 0, "I", 100_000), "tkx_special_id", (0,), 1),
        ((b"SPID", 20, "I", 100_000), "tkx_stop_id", (0,), 1),
        ((b"POST", 8, "I", 3), "tkx_template", (0, 0), 3),  # an unknown kind
        ((b"POST", 12, "I", 100_000), "tkx_template", (0, 0), 3),
        ((b"ADDT", 96, "I", 100_000), "tkx_added_token", (0,), 4),
        ((b"ADDT", 100, "I", NONE), "tkx_added_token", (0,), 4),
        ((b"ADDT", 104, "I", NONE), "tkx_added_token", (0,), 4),
    ],
)
def test_corruption_that_a_lookup_detects(
    library: Library, change: Any, function: str, arguments: tuple[int, ...], results: int
) -> None:
    assert library.open(patched("added", change)) == OK
    assert library.look_up(function, *arguments, results=results) == CORRUPT


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
def test_a_self_test_that_points_outside(library: Library, offset: int) -> None:
    assert library.open(patched("added", (b"TEST", 16 + offset, "I", 0xFFFFFFFF))) == OK
    assert library.self_test()[0] == CORRUPT


def test_a_self_test_whose_text_is_not_utf8(library: Library) -> None:
    cases, ids, size = numbers("added", b"TEST", 0, 3)
    text = 16 + 20 * cases + 4 * ids
    assert library.open(patched("added", *fill(b"TEST", text, size, "B", 0xFF))) == OK
    assert library.self_test() == (CORRUPT, 0)


@pytest.mark.parametrize(
    ("offset", "number"),
    [
        (0, 32),  # a flag without a name
        (0, 2),  # BY_CHARACTER without BYTE_FALLBACK
        (0, 8 | 16),  # two contradictory definitions of the first token
        (4, 128),  # a character to strip that is not ASCII
        (4, 0x100),
    ],
)
def test_a_decoder_with_contradictory_rules(library: Library, offset: int, number: int) -> None:
    assert library.open(patched("decode-first", (b"DECO", offset, "I", number))) == OK
    assert library.decode(3) == CORRUPT
    assert library.start_stream() == CORRUPT


EDITS = [
    ("decode-edited", b"EDIT", 4, "I", 1),  # the class of tokens, which DECO does not allow
    ("decode-runs", b"DECO", 0, "I", 1 | 4),
    ("decode-edited", b"EDIT", 4, "I", 2),  # a flag without a name
    ("decode-edited", b"DECO", 4, "I", 0x20),  # stripped and edited
    ("decode-edited", b"EDIT", 12, "I", 1),
    ("decode-edited", b"EDIT", 16, "B", 250),  # a class that does not exist
    ("decode-edited", b"EDIT", 271, "B", 250),
    ("decode-runs", b"EDIT", 16, "B", 4),  # the class of tokens for a byte
    ("decode-edited", b"EDIT", 272, "H", 0xFFFF),  # a state that does not exist
    ("decode-edited", b"EDIT", 274, "H", 0x7FFF),  # more text than there is
    ("decode-edited", b"EDIT", 276, "I", 0xFFFFFFFF),
]
# Changes in headers, after which the tables of the section do not fit.
HEADS = {
    b"CHRS": ((0, "I", 2), (0, "I", 1), (4, "I", 2), (4, "I", 0), (8, "I", 0), (12, "I", NONE)),
    b"XPRS": ((0, "I", 4), (4, "I", 5), (4, "I", 27), (4, "I", 10)),
    b"PIDX": ((8, "I", 22), (8, "I", 0), (12, "I", 1)),
}


@pytest.mark.parametrize(
    ("name", "tag", "offset", "struct_format", "number", "code"),
    [
        *((*row, CORRUPT) for row in EDITS),
        *(
            ("byte-fallback", tag, *head, SECTION_SIZE)
            for tag, heads in HEADS.items()
            for head in heads
        ),
        ("spelled", b"XPRS", 4, "I", 10, SECTION_SIZE),  # a larger map than there is
    ],
)
def test_corruption_that_opening_detects(
    library: Library, name: str, tag: bytes, offset: int, struct_format: str, number: int, code: int
) -> None:
    assert library.open(patched(name)) == OK
    assert library.open(patched(name, (tag, offset, struct_format, number))) == code


@pytest.mark.parametrize(("field", "limit"), [("class_count", 254), ("state_count", 4096)])
def test_a_number_of_labels_out_of_range(library: Library, field: str, limit: int) -> None:
    """In the descriptor of the last table, with valid memory after the table."""
    labels = section("look-ahead", Tag.LABELS)
    count = LabelsHeader.parse(labels).table_count
    at, size = LabelsHeader.sizeof() + LabelTable.sizeof() * (count - 1), LabelTable.sizeof()
    for number, code in ((limit, OK), (limit + 1, SPLITS), (0, SPLITS)):
        changed = LabelTable.build({**LabelTable.parse(labels[at:]), field: number})
        padded = labels[:at] + changed + labels[at + size :] + bytes(1 << 22)
        content = rebuilt("look-ahead", {Tag.LABELS: padded})
        assert library.open(content) == code
        error = "TKX_OK" if code == OK else "TKX_E_SPLITS"
        assert golden_run.opened(tokexport_reader, content) == error


@pytest.mark.parametrize(
    ("offset", "length", "flags"),
    [
        (0, 0, 1 << 5),  # FIRST_SKIP of more than there is
        (1, 0, 2 << 10),  # FIRST_MORE of bytes before BYTS
        (0, 0, 1 << 12),  # LAST_SKIP of more than there is
        (1, 1, 1 << 5 | 1 << 12),  # both of one byte
    ],
)
def test_a_surface_form_out_of_range(
    library: Library, offset: int, length: int, flags: int
) -> None:
    changes = ((b"RECS", 0, "I", offset), (b"RECS", 4, "H", length), (b"RECS", 6, "H", 1 | flags))
    assert library.open(patched("decode-first", *changes)) == OK
    assert library.decode(0) == CORRUPT
    assert library.look_up("tkx_token_bytes", 0, results=2) == OK


@pytest.mark.parametrize("name", ["byte-fallback", "spelled"])
def test_a_bitmap_of_crossings_may_have_any_value(library: Library, name: str) -> None:
    size = len(section(name, b"XPRS"))
    for byte in (0x00, 0xFF):
        assert library.open(patched(name, *fill(b"XPRS", 8, size - 8, "B", byte))) == OK
        assert library.encode("ab\u4e2d\u6587 \u00e9\u00ea".encode())[0] == OK


def test_a_byte_of_a_character_may_have_no_id(library: Library) -> None:
    """Once its pairs were looked up nevertheless, with this row_shift 32 MB outside the file."""
    for byte in "\u00e9\u4e2d".encode():
        changes = (b"PIDX", 8, "I", 9), (b"BIDS", 4 * byte, "I", NONE)
        assert library.open(patched("normalized", *changes)) == OK
        assert library.encode("a\u00e9 \u00e9\u4e2da \u4e2d\u4e2d".encode())[0] == OK


def test_a_row_of_merges_that_ends_before_it_begins_or_after_all_slots(library: Library) -> None:
    (slots,) = numbers(SMALLEST, b"PIDX", 0, 1)
    row = 16 + 8 * slots
    for start, end in ((1, 0), (0, slots), (0xFF000000, 1), (0, 0xFFFFFFFF), (1, 1), (0, 1)):
        bounds = ((b"PIDX", row, "I", start), (b"PIDX", row + 4, "I", end))
        assert library.open(patched(SMALLEST, *bounds)) == OK
        expected = OK if start <= end < slots else CORRUPT
        assert library.encode(b"aba")[0] == expected
        assert library.encode(b"ab" * 100)[0] == expected  # the algorithm for long pre-tokens


def test_a_row_of_merges_that_begins_too_late_is_not_read_past_its_end(library: Library) -> None:
    """Golden bytes that once produced other ids without an error."""
    assert library.open(patched("ranked", (b"PIDX", 43, "B", 255))) == OK
    assert library.encode(b"bcab") == (CORRUPT, [])


@pytest.mark.parametrize("name", [name for name in golden_files.REFUSED_NAMES if "CORRUPT" in name])
def test_a_slot_that_its_key_or_pair_does_not_lead_to_is_found_on_request(
    library: Library, name: str
) -> None:
    content = golden_files.refused(name)
    assert (library.open(content), library.check()) == (OK, CORRUPT)
    assert golden_run.opened(tokexport_reader, content) == "TKX_E_CORRUPT"


@pytest.mark.parametrize(
    ("name", "tag", "header", "slot_size"),
    [("byte-fallback", b"PIDX", 16, 8), ("stopping", b"PIDX", 16, 8), ("holes", b"TIDX", 8, 4)],
)
def test_a_wrong_row_start_or_displacement_is_found_on_request_or_gives_no_other_ids(
    library: Library, name: str, tag: bytes, header: int, slot_size: int
) -> None:
    first = header + slot_size * numbers(name, tag, 0, 1)[0]
    cases = [case for case in golden_files.expected(name)["encode"] if case["special"]]
    codes = []
    for at, byte in enumerate(section(name, tag)[first:], first):
        for changed in {*range(256)} - {byte} if tag == b"PIDX" else (byte ^ 1, byte ^ 0x80):
            content = patched(name, (tag, at, "B", changed))
            assert library.open(content) == OK
            codes.append(library.check())
            error = "TKX_OK" if codes[-1] == OK else "TKX_E_CORRUPT"
            assert golden_run.opened(tokexport_reader, content) == error
            for case in cases if codes[-1] == OK else ():
                result = library.encode(case["text"].encode())
                assert result in ((OK, case["ids"]), (CORRUPT, []))
    assert CORRUPT in codes
