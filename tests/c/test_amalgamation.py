"""tokexport.c is made of the units in formats/tokexport/src, each short enough to read at once."""

from __future__ import annotations

import pytest
from repository import ROOT, script

FOLDER = ROOT / "formats" / "tokexport"
amalgamate = script(FOLDER / "amalgamate.py")
UNITS = tuple(amalgamate.unit_names())


def test_the_committed_file_is_what_the_units_make() -> None:
    committed = (FOLDER / "tokexport.c").read_text(encoding="utf-8")
    assert committed == amalgamate.amalgamation(), "run python formats/tokexport/amalgamate.py"


def test_every_unit_is_included_once() -> None:
    assert sorted([*UNITS, "all.c"]) == sorted(path.name for path in (FOLDER / "src").iterdir())


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_short_and_begins_with_its_name(name: str) -> None:
    lines = (FOLDER / "src" / name).read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 400
    assert lines[3].startswith(f"/* ---- {name}: ")
