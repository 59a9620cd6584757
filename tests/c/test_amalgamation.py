"""tokexport.c is generated from the short units in formats/tokexport/src."""

import pytest
from repository import ROOT, script

FOLDER = ROOT / "formats" / "tokexport"
amalgamate = script(FOLDER / "amalgamate.py")
UNITS = tuple(amalgamate.unit_names())
GENERATED = "layout.h"


def test_the_committed_file_is_generated_from_the_units() -> None:
    committed = amalgamate.TARGET.read_text(encoding="utf-8")
    assert committed == amalgamate.amalgamation(), "run python formats/tokexport/amalgamate.py"


def test_every_unit_is_included_once() -> None:
    assert sorted([*UNITS, "all.c"]) == sorted(path.name for path in (FOLDER / "src").iterdir())


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_has_100_to_400_lines_and_begins_with_its_name(name: str) -> None:
    lines = (FOLDER / "src" / name).read_text(encoding="utf-8").splitlines()
    assert name == GENERATED or 100 <= len(lines) <= 400
    assert lines[3].startswith(f"/* ---- {name}: ")
