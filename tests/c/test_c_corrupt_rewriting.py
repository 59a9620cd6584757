"""Damaged MAP, REPLACE and CHARSMAP of NORM cause TKX_E_CORRUPT on use."""

from collections.abc import Iterator

import golden_files
import pytest
from c_harness import COMPILERS, NEEDS_COMPILER, SANITIZED, Builder, Library, run
from golden_files import Changes, fill, numbers, parts, patched
from repository import SLOW

OK, CORRUPT = 0, -37
MAP_FIELDS, CHARSMAP_HEADER = 16, 24
COLLAPSE = 32
TEXT = "e\u0301 \u00a9\u0915\u094d\r\n \u00c0B \u4f60\ufb01 <a<a> abab! aa\u00e9"

pytestmark = NEEDS_COMPILER


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
    tables = parts(
        at + CHARSMAP_HEADER,
        units=(units, 4),
        nodes=(nodes + 1, 8),
        edges=(edges, 4),
        program=(program, 1),
        text=(size, 1),
    )
    not_utf8 = fill(b"NORM", *tables["text"], "B", 0xFF)
    yield not_utf8, "aa", "plin"
    yield [(b"NORM", 16 + 1, "B", COLLAPSE), *not_utf8], "aa", "plin"
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


@pytest.mark.parametrize(
    ("name", "changes", "affected", "unaffected"),
    [
        *(("rewriting", *row) for row in damaged_map()),
        *(("sequences", *row) for row in damaged_sequences()),
    ],
)
def test_corruption_that_encoding_detects(
    library: Library, name: str, changes: Changes, affected: str, unaffected: str
) -> None:
    assert changes
    assert library.open(patched(name, *changes)) == OK
    assert library.encode(affected.encode())[0] == CORRUPT
    assert library.encode(unaffected.encode())[0] == OK


def test_sequences_may_drop_spaces(library: Library) -> None:
    assert library.open(patched("sequences", (b"NORM", 16 + 1, "B", COLLAPSE))) == OK
    assert library.encode(TEXT.encode())[0] == OK


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("name", "step"),
    [("sequences", 1), ("rewriting", 31)] if SLOW else [("sequences", 5), ("rewriting", 31)],
)
def test_no_changed_byte_of_the_operations_makes_it_access_other_memory(
    compiler: str, name: str, step: int, build: Builder
) -> None:
    program = build(compiler, "damaged_section", *SANITIZED)
    golden = golden_files.FOLDER / f"{name}.bin"
    answer = run([program, golden, "NORM", str(step), TEXT, "aa<a>\u00e9"])
    refused, corrupt = map(int, answer.split())
    assert refused > 0
    assert corrupt > 0
