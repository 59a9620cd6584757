"""The constants of tokexport.h are those of the declaration of the layout and of SPEC.md."""

from __future__ import annotations

import re

import pytest
import spec_document

import tokexport.file.layout as layout

HEADER = (spec_document.FOLDER / "tokexport.h").read_text(encoding="utf-8")
ENUMERATORS = {name: int(value) for name, value in re.findall(r"\b(TKX_\w+) = (-?\d+)", HEADER)}
DEFINES = dict(re.findall(r"^#define (TKX_\w+) (\S.*)$", HEADER, re.MULTILINE))


def test_the_error_codes_are_those_of_the_specification_in_the_same_order() -> None:
    ((_, rows),) = spec_document.tables(spec_document.section("10 Errors"))
    codes = [
        (name, value)
        for name, value in ENUMERATORS.items()
        if name == "TKX_OK" or name.startswith("TKX_E_")
    ]
    assert [(row["Name"], int(row["Value"])) for row in rows] == codes
    assert len(codes) > 25


def test_every_error_has_its_own_code() -> None:
    codes = [value for name, value in ENUMERATORS.items() if name.startswith("TKX_E_")]
    assert len(set(codes)) == len(codes)
    assert all(code < 0 for code in codes)


def test_every_error_that_the_specification_names_exists() -> None:
    assert set(re.findall(r"\bTKX_E_[A-Z0-9_]+", spec_document.text())) <= set(ENUMERATORS)


def test_every_error_about_a_file_belongs_to_an_invariant() -> None:
    checks = "".join(
        spec_document.section(f"### 6.{part}")
        for part in ("1 On opening", "3 While working", "4 On request")
    )
    about_files = {
        name for name, value in ENUMERATORS.items() if value <= ENUMERATORS["TKX_E_EMPTY"]
    }
    assert set(re.findall(r"TKX_E_[A-Z0-9_]+", checks)) == about_files


def test_the_invariants_are_numbered_without_a_gap() -> None:
    rows = [
        row
        for _, found in spec_document.tables(spec_document.text())
        for row in found
        if "Invariant" in row
    ]
    assert [row["Invariant"] for row in rows] == [
        f"I{number}" for number in range(1, len(rows) + 1)
    ]


def test_the_versions_are_the_declared_ones() -> None:
    assert int(DEFINES["TKX_VERSION_MAJOR"]) == layout.VERSION_MAJOR
    assert int(DEFINES["TKX_VERSION_MINOR"]) == layout.VERSION_MINOR


def test_the_limits_are_the_declared_ones() -> None:
    assert int(DEFINES["TKX_MAX_STAGES"]) == layout.MAX_STAGES
    assert int(DEFINES["TKX_MAX_OPS"]) == layout.MAX_OPS
    assert int(DEFINES["TKX_NONE"].removeprefix("UINT32_C(").rstrip(")"), 16) == layout.NONE
    assert f"{layout.MAX_IDS:,} ids" in HEADER


@pytest.mark.parametrize("member", list(layout.RecordFlag.__members__))
def test_record_flags_are_the_declared_ones(member: str) -> None:
    assert ENUMERATORS[f"TKX_{member}"] == layout.RecordFlag[member]


@pytest.mark.parametrize("member", list(layout.AddedFlag.__members__))
def test_flags_of_added_tokens_are_the_declared_ones(member: str) -> None:
    assert ENUMERATORS[f"TKX_ADDED_{member}"] == layout.AddedFlag[member]


def test_roles_are_in_the_order_of_the_declared_fields() -> None:
    roles = [field.name for field in layout.SpecialIdsHeader.subcons if field.name != "stop_count"]
    assert [ENUMERATORS[f"TKX_{role.upper()}"] for role in roles] == list(range(len(roles)))
