"""Every C file says its licence, and no line of it is longer than 100 columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from repository import ROOT

FORMAT = ROOT / "formats" / "tokexport"
FILES = sorted(
    path
    for folder in (FORMAT, FORMAT / "src", FORMAT / "examples", ROOT / "tests" / "c")
    for path in folder.glob("*.[ch]")
)
OWNER = (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()[2]
LICENSE = ("/* SPDX-License-Identifier: MIT */", f"/* {OWNER} */")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_c_file_names_its_licence_and_keeps_to_100_columns(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert tuple(lines[:2]) == LICENSE
    assert [line for line in lines if len(line) > 100] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_all_of_the_folders_hold_c() -> None:
    assert len(FILES) > 40
