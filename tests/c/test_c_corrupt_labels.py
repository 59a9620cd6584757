"""Damaged label tables are refused on opening, by the core and by the reader of SPEC.md."""

import golden_files
import golden_run
import tokexport_reader
from c_harness import NEEDS_COMPILER, Library

from tokexport.file.layout import LabelsHeader, LabelTable, Tag

OK, SPLITS = 0, -34
NAMES = {OK: "TKX_OK", SPLITS: "TKX_E_SPLITS"}

pytestmark = NEEDS_COMPILER


def labels() -> bytes:
    return golden_files.section("look-ahead", Tag.LABELS)


def with_fields(padding: int = 0, **fields: int) -> bytes:
    """Other values in the descriptor of the last table, and valid memory after the table."""
    count = LabelsHeader.parse(labels()).table_count
    at = LabelsHeader.sizeof() + LabelTable.sizeof() * (count - 1)
    changed = LabelTable.build({**LabelTable.parse(labels()[at:]), **fields})
    section = labels()[:at] + changed + labels()[at + LabelTable.sizeof() :] + bytes(padding)
    return golden_files.rebuilt("look-ahead", {Tag.LABELS: section})


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
