"""Every C and C++ file names its licence, and macros and types have the prefix of the runtime."""

import re
from pathlib import Path

import pytest
from repository import ROOT

FORMAT = ROOT / "formats" / "tokexport"
FILES = sorted(
    path
    for folder in (FORMAT, ROOT / "tests" / "c", ROOT / "tests" / "native", ROOT / "tokexport")
    for path in folder.rglob("*")
    if path.suffix in (".c", ".h", ".cpp")
)
OWNER = (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()[2]
LICENSE = ["SPDX-License-Identifier: MIT", OWNER]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_has_a_licence_and_no_space_at_the_end_of_a_line(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.strip("/* ") for line in lines[:2]] == LICENSE
    assert [line for line in lines if line != line.rstrip()] == []


def test_all_the_folders_contain_c() -> None:
    assert len(FILES) > 160


def test_macros_and_types_of_the_runtime_have_its_prefix() -> None:
    """So that a program may ``#include "tokexport.c"``."""
    paths = [FORMAT / "tokexport.c", FORMAT / "tokexport_extra.c"]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    macros = re.findall(r"^ *#define (\w+)", text, re.MULTILINE)
    types = re.findall(
        r"\b(?:struct|union) (\w+) {|^} (\w+);|^typedef .*?(\w+)(?:\[.*)?;", text, re.MULTILINE
    )
    names = [name for groups in types for name in groups if name]
    assert len(macros) > 10
    assert len(names) > 10
    assert [name for name in macros if not name.startswith("TKX_")] == []
    assert [name for name in names if not name.startswith("tkx_")] == []
