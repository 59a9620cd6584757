"""tokexport.c and tokexport_extra.c are generated from the short units in formats/tokexport/src."""

import pytest
from repository import ROOT, script

FOLDER = ROOT / "formats" / "tokexport"
amalgamate = script(FOLDER / "amalgamate.py")
LISTINGS = ("all.c", "extra.c")
UNITS = tuple(name for listing in LISTINGS for name in amalgamate.unit_names(listing))


def test_the_committed_files_are_generated_from_the_units() -> None:
    assert sorted(amalgamate.TARGETS.values()) == [*LISTINGS]
    for path, listing in amalgamate.TARGETS.items():
        committed = path.read_text(encoding="utf-8")
        generated = amalgamate.amalgamation(listing)
        assert committed == generated, "run python formats/tokexport/amalgamate.py"


def test_every_unit_is_included_once() -> None:
    assert sorted([*UNITS, *LISTINGS]) == sorted(path.name for path in (FOLDER / "src").iterdir())


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_short_and_begins_with_its_name(name: str) -> None:
    lines = (FOLDER / "src" / name).read_text(encoding="utf-8").splitlines()
    assert 40 <= len(lines) <= 400
    assert lines[3].startswith(f"/* ---- {name}: ")
