"""The numbers in the prose of SPEC.md match the declaration of the layout."""

import re

import numpy as np
import pytest
import spec_document

import tokexport.file.layout as layout
from tokexport import limits

PROSE = spec_document.prose()
ARRAYS = {
    name: value
    for name, value in vars(layout).items()
    if isinstance(value, np.dtype) and not value.names
}


@pytest.mark.parametrize("name", ARRAYS)
def test_plain_arrays_have_the_declared_type(name: str) -> None:
    kind = f"{ARRAYS[name].kind}{8 * ARRAYS[name].itemsize}"
    assert re.search(rf"`{name}` (?:\({kind}\)|is {kind}\b)", PROSE)


@pytest.mark.parametrize(
    "phrase",
    [
        f"`NONE` is 0x{layout.NONE:X}.",
        f"the first multiple of {layout.ALIGNMENT}",
        f"id_count is 1 to {limits.MAX_IDS:,}",
        f"section_count is at most {layout.MAX_SECTIONS}",
        f"stage_count is at most {limits.MAX_STAGES}",
        f"class_count is 1 to {limits.MAX_CLASSES}",
        f"state_count 1 to {limits.MAX_STATES:,}",
        f"op_count is at most {limits.MAX_OPS}",
        f"bit 15 (0x{layout.ACCEPT:04X}, `ACCEPT`)",
        f"if that is below 0x{layout.MAP_OTHER:X} (`MAP_OTHER`)",
        f"{layout.MAP_LETTERS} (`MAP_LETTERS`) is for Hangul syllables",
        f"at most {limits.MAX_CLUSTER} bytes (MAX_CLUSTER)",
        f"**CUTS**: u8[{layout.CUTS_SIZE}]",
        f"`top` is u16[{layout.CLASS_TOP}], `middle` is u16[{layout.CLASS_BLOCK} * middle_count]",
        f"**class table** is `u8[{layout.CLASS_ASCII}], top, middle, leaves`",
        f"label {layout.NO_LABEL}.",
        f"or 0x{layout.NO_TOKEN:X} for none",
    ],
)
def test_a_constant_in_the_prose_has_its_declared_value(phrase: str) -> None:
    assert phrase in PROSE


def test_lines_are_at_most_100_characters_wide() -> None:
    assert [line for line in spec_document.text().splitlines() if len(line) > 100] == []
