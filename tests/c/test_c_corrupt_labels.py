"""Stages with damaged label tables are refused at opening, by the core as by the reader of the
document.
"""

from __future__ import annotations

from typing import Any

import golden_files
import numpy as np
import pytest
import spec_reader
from c_harness import COMPILERS, SANITIZED, Builder, Library, run
from construct import Array
from repository import SLOW

from tokexport.file.layout import LABEL, NONE, Header, HeaderFlag, Section, SplitsHeader, Stage, Tag
from tokexport.file.write import assemble

OK, SPLITS = 0, -34

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")


@pytest.fixture(scope="module")
def library(build: Builder) -> Library:
    return build.library()


def sections() -> tuple[Header, dict[bytes, bytes]]:
    good = golden_files.content("look-ahead")
    header = Header.parse(good)
    entries = Array(header.section_count, Section).parse(good[Header.sizeof() :])
    return header, {entry.tag: good[entry.offset : entry.offset + entry.size] for entry in entries}


def last_stage(splits: bytes) -> tuple[int, Any]:
    """Where the descriptor of the last stage stands, whose label table is the last of all tables;
    and its fields.
    """
    count = SplitsHeader.parse(splits).stage_count
    at = SplitsHeader.sizeof() + Stage.sizeof() * (count - 1)
    return at, Stage.parse(splits[at:])


def with_splits(splits: bytes) -> bytes:
    header, contents = sections()
    return assemble(
        contents | {Tag.SPLITS: splits},
        id_count=header.id_count,
        token_count=header.token_count,
        flags=HeaderFlag(header.flags),
        max_token_bytes=header.max_token_bytes,
        unknown_id=NONE,
    )


def with_fields(room: int = 0, **fields: int) -> bytes:
    """Other values in the last stage, and room after its last table, so that what is read there is
    good.
    """
    _, contents = sections()
    at, stage = last_stage(contents[Tag.SPLITS])
    changed = Stage.build({**stage, **fields})
    splits = contents[Tag.SPLITS]
    return with_splits(splits[:at] + changed + splits[at + Stage.sizeof() :] + bytes(room))


def with_entry(number: int, *, label: int = 0, state: int = 0) -> bytes:
    """Another entry in the label table of the last stage."""
    _, contents = sections()
    splits = bytearray(contents[Tag.SPLITS])
    _, stage = last_stage(splits)
    count = stage.label_class_count * stage.label_state_count
    entries = np.frombuffer(splits, LABEL, count, len(splits) - LABEL.itemsize * count)
    entries[number] = state << 8 | label
    return with_splits(bytes(splits))


def opened(library: Library, content: bytes) -> int:
    """The answer of the core; that of the reader is the same."""
    answer = library.open(content)
    assert read(content) == answer
    return answer


def read(content: bytes) -> int:
    try:
        spec_reader.open_file(content)
    except spec_reader.RefusalError as refused:
        return {"TKX_E_SPLITS": SPLITS}[refused.args[0]]
    return OK


def test_the_numbers_of_classes_and_states_have_bounds(library: Library) -> None:
    assert opened(library, with_fields()) == OK
    for field, most in (("label_class_count", 254), ("label_state_count", 4096)):
        assert opened(library, with_fields(room=1 << 22, **{field: most})) == OK
        assert opened(library, with_fields(room=1 << 22, **{field: most + 1})) == SPLITS


def test_the_table_has_both_numbers_or_none_and_lies_within_the_section(library: Library) -> None:
    for field in ("label_class_count", "label_state_count"):
        assert opened(library, with_fields(**{field: 0})) == SPLITS
    _, stage = last_stage(sections()[1][Tag.SPLITS])
    more = {"label_state_count": stage.label_state_count + 1}
    size = LABEL.itemsize * stage.label_class_count
    assert opened(library, with_fields(room=size, **more)) == OK
    assert opened(library, with_fields(room=size - 4, **more)) == SPLITS


def test_every_label_and_every_state_is_looked_at(library: Library) -> None:
    _, contents = sections()
    _, stage = last_stage(contents[Tag.SPLITS])
    states, labels = stage.label_state_count, stage.class_count
    for number in range(states * stage.label_class_count):
        assert opened(library, with_entry(number, label=labels - 1, state=states - 1)) == OK
        assert opened(library, with_entry(number, label=labels)) == SPLITS
        assert opened(library, with_entry(number, state=states)) == SPLITS


@pytest.mark.parametrize("field", ["first_op", "op_count"])
def test_a_stage_with_a_program_has_no_operations(library: Library, field: str) -> None:
    assert opened(library, with_fields(**{field: 1})) == SPLITS


@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_byte_of_the_stages_makes_it_touch_what_is_not_its_own(
    compiler: str, build: Builder
) -> None:
    program = build(compiler, "damaged_section", *SANITIZED)
    texts = ["1233 22333 13321", "abbc abb  ; abc", "\u00e91234 b\u0661  ;c"]
    answer = run(
        [
            str(program),
            str(golden_files.FOLDER / "look-ahead.bin"),
            "SPLT",
            "1" if SLOW else "5",
            *texts,
        ]
    )
    refused, _ = map(int, answer.split())
    assert refused > 0
