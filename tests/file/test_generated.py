"""Files that repeat the layout or the signatures of the native module are generated from them."""

import re

import pytest
import spec_document
from repository import ROOT, script

import tokexport.file.layout as layout
from tokexport import limits

FOLDER = ROOT / "formats" / "tokexport"
generate = script(FOLDER / "generate.py")
SUFFIXES = (".c", ".h", ".cpp", ".py")
HINT = "run python formats/tokexport/generate.py"
HEADER = (FOLDER / "tokexport.h").read_text(encoding="utf-8")
DEFINES = dict(re.findall(r"^#define (TKX_\w+) (\S.*)$", HEADER, re.MULTILINE))
CODES = [
    (name, int(value))
    for name, value in re.findall(r"\b(TKX_\w+) = (-?\d+)", HEADER)
    if name == "TKX_OK" or name.startswith("TKX_E_")
]


def test_no_file_generated_from_the_layout_is_stale() -> None:
    files = generate.generated()
    assert len(files) == 4
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: {HINT}"


def test_the_stub_of_the_native_module_is_not_stale() -> None:
    pytest.importorskip("nanobind")
    pytest.importorskip("ruff")
    stub = ROOT / "tokexport" / "_core.pyi"
    assert stub.read_text(encoding="utf-8") == generate.stub(), HINT


@pytest.mark.parametrize("name", generate.parts_of_the_layout())
def test_every_part_of_the_layout_has_a_table_in_the_specification(name: str) -> None:
    marks = re.findall(r"<!-- layout: (.*) -->", spec_document.text())
    assert [part for mark in marks for part in mark.split(", ")].count(name) == 1


def test_the_layout_has_the_parts_that_these_tests_check() -> None:
    assert len(generate.parts_of_the_layout()) > 40


def test_versions_and_limits_of_the_header_match_the_layout() -> None:
    assert int(DEFINES["TKX_VERSION_MAJOR"]) == layout.VERSION_MAJOR
    assert int(DEFINES["TKX_VERSION_MINOR"]) == layout.VERSION_MINOR
    assert int(DEFINES["TKX_MAX_STAGES"]) == limits.MAX_STAGES
    assert int(DEFINES["TKX_MAX_OPS"]) == limits.MAX_OPS
    assert DEFINES["TKX_NONE"] == f"UINT32_C(0x{layout.NONE:X})"
    assert f"{limits.MAX_IDS:,} ids" in HEADER


def test_roles_of_ids_are_in_the_declared_order() -> None:
    roles = [field.name for field in layout.SpecialIdsHeader.subcons if field.name != "stop_count"]
    declared = ", ".join(f"TKX_{role.upper()} = {number}" for number, role in enumerate(roles))
    assert f"enum {{ {declared} }};" in HEADER


def test_every_error_has_a_unique_code_that_the_specification_lists() -> None:
    listed = re.findall(r"\b(TKX_\w+) +(-?\d+)", spec_document.section("4.4"))
    assert {name: int(code) for name, code in listed} == dict(CODES)
    assert len({code for _, code in CODES}) == len(CODES) == len(listed) > 25
    named = set(re.findall(r"\bTKX_E_[A-Z0-9_]+", spec_document.text()))
    assert named <= {name for name, _ in CODES}


def test_every_error_about_a_file_belongs_to_an_invariant() -> None:
    checks = "".join(map(spec_document.section, ("4.1", "4.2", "4.3")))
    about_files = {name for name, code in CODES if code <= dict(CODES)["TKX_E_EMPTY"]}
    assert set(re.findall(r"TKX_E_[A-Z0-9_]+", checks)) == about_files


def test_the_invariants_are_numbered_without_a_gap() -> None:
    checks = "".join(map(spec_document.section, ("4.1", "4.2", "4.3")))
    numbers = re.findall(r"(?:^ {4}|  )I(\d+) ", checks, re.MULTILINE)
    assert sorted(map(int, numbers)) == list(range(1, len(numbers) + 1))
    assert len(numbers) == 26


def test_code_refers_to_sections_that_the_specification_has() -> None:
    titles = re.compile(r"/\* ---- .*\((.*)\) -")
    texts = re.compile(r"SPEC(?:\.md)?,? (\d\.\d+(?:(?:,| and) \d\.\d+)*)")
    code = [
        *FOLDER.glob("src/*"),
        *FOLDER.glob("reader/*/*.py"),
        *ROOT.glob("tokexport/native/**/*"),
    ]
    files = [path.read_text(encoding="utf-8") for path in code if path.suffix in SUFFIXES]
    named = [part for text in files for part in (*titles.findall(text), *texts.findall(text))]
    numbers = set(re.findall(r"\d\.\d+", " ".join(named)))
    assert len(numbers) > 15
    assert numbers <= set(re.findall(r"^## (\d\.\d+) ", spec_document.text(), re.MULTILINE))
