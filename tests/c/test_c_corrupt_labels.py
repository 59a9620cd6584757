"""Damaged label tables are refused on opening, by the core and by the reader of SPEC.md."""

from typing import Any

import golden_files
import golden_run
import numpy as np
import pytest
import tokexport_reader
from c_harness import COMPILERS, NEEDS_COMPILER, SANITIZED, Builder, Library, run
from repository import SLOW

from tokexport.file.layout import LABEL, LabelsHeader, LabelTable, Tag

OK, SPLITS = 0, -34
NAMES = {OK: "TKX_OK", SPLITS: "TKX_E_SPLITS"}

pytestmark = NEEDS_COMPILER


def labels() -> bytes:
    """LABL of the golden file."""
    return golden_files.section("look-ahead", Tag.LABELS)


def described(number: int = -1) -> tuple[int, Any]:
    """The offset of the descriptor of a label table, and its fields."""
    count = LabelsHeader.parse(labels()).table_count
    at = LabelsHeader.sizeof() + LabelTable.sizeof() * range(count)[number]
    return at, LabelTable.parse(labels()[at:])


def with_fields(padding: int = 0, number: int = -1, **fields: int) -> bytes:
    """Other values in a descriptor, and valid memory after the last table."""
    at, table = described(number)
    changed = LabelTable.build({**table, **fields})
    section = labels()[:at] + changed + labels()[at + LabelTable.sizeof() :] + bytes(padding)
    return golden_files.rebuilt("look-ahead", {Tag.LABELS: section})


def with_entry(number: int, *, label: int = 0, state: int = 0) -> bytes:
    """Another entry in the last label table."""
    section = bytearray(labels())
    entries = np.frombuffer(section, LABEL, offset=described()[1].offset)
    entries[number] = state << 8 | label
    return golden_files.rebuilt("look-ahead", {Tag.LABELS: bytes(section)})


def opened(library: Library, content: bytes) -> int:
    """The code of the core, which must equal that of the reader."""
    answer = library.open(content)
    assert golden_run.opened(tokexport_reader, content) == NAMES[answer]
    return answer


def test_the_numbers_of_classes_and_states_are_bounded(library: Library) -> None:
    assert opened(library, with_fields()) == OK
    for field, limit in (("class_count", 254), ("state_count", 4096)):
        assert opened(library, with_fields(padding=1 << 22, **{field: limit})) == OK
        assert opened(library, with_fields(padding=1 << 22, **{field: limit + 1})) == SPLITS
        assert opened(library, with_fields(**{field: 0})) == SPLITS


def test_a_table_must_be_within_the_section(library: Library) -> None:
    _, table = described()
    larger = {"state_count": table.state_count + 1}
    size = LABEL.itemsize * table.class_count
    assert opened(library, with_fields(padding=size, **larger)) == OK
    assert opened(library, with_fields(padding=size - 4, **larger)) == SPLITS
    assert opened(library, with_fields(padding=4, offset=table.offset + 2)) == SPLITS


def test_each_table_must_belong_to_a_different_stage_with_a_program(library: Library) -> None:
    _, first = described(0)
    _, last = described()
    assert first.stage < last.stage
    assert opened(library, with_fields(stage=first.stage)) == SPLITS
    assert opened(library, with_fields(stage=last.stage + 1)) == SPLITS
    assert opened(library, with_fields(number=0, stage=last.stage)) == SPLITS
    descriptors = golden_files.section("look-ahead", Tag.LABELS)[8:]
    empty = golden_files.rebuilt("look-ahead", {Tag.LABELS: bytes(8) + descriptors})
    assert opened(library, empty) == SPLITS  # the first stage has classes of its label table


def test_every_label_and_every_state_is_checked(library: Library) -> None:
    _, table = described()
    states = table.state_count
    largest = int(max(np.frombuffer(labels(), LABEL, offset=table.offset) & 0xFF))
    for number in range(states * table.class_count):
        assert opened(library, with_entry(number, label=largest, state=states - 1)) == OK
        assert opened(library, with_entry(number, label=largest + 1)) == SPLITS
        assert opened(library, with_entry(number, state=states)) == SPLITS


@pytest.mark.parametrize("section", ["SPLT", "LABL"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_changed_byte_of_the_stages_makes_it_access_other_memory(
    compiler: str, section: str, build: Builder
) -> None:
    program = build(compiler, "damaged_section", *SANITIZED)
    texts = ["1233 22333 13321", "abbc abb  ; abc", "\u00e91234 b\u0661  ;c"]
    golden = golden_files.FOLDER / "look-ahead.bin"
    answer = run([program, golden, section, "1" if SLOW else "5", *texts])
    refused, _ = map(int, answer.split())
    assert refused > 0
