"""Folders of native code include only earlier ones."""

import re

import pytest
from repository import ROOT

NATIVE = ROOT / "tokexport" / "native"
# The folders from which each folder includes headers, besides those that need no other.
RULES: dict[str, set[str]] = {
    "memory": set(),
    "python": {"memory"},
    "text": {"memory"},
    "conversion": {"memory", "python"},
    "engine/bridge": set(),
    "engine/words": {"memory"},
    "engine/merges": {"engine/bridge", "engine/words", "memory"},
    "engine/split": {"engine/bridge", "engine/merges"},
    "engine": {"engine/bridge", "engine/merges", "engine/split", "engine/words"},
    "runtime": {"engine", "engine/bridge", "engine/split", "memory", "python", "text"},
    "training": {"engine/split", "engine/words", "python", "runtime"},
}
ANYWHERE = {"avx512.h", "engine/eight_bytes.h"}


def included_folders(folder: str) -> set[str]:
    found = set()
    for path in (NATIVE / folder).glob("*.*"):
        for name in re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.M):
            if name not in ANYWHERE and not (path.parent / name).exists():
                header = NATIVE / name
                if header.exists():  # else one of the C core
                    found.add(header.parent.relative_to(NATIVE).as_posix())
    return found


@pytest.mark.parametrize("folder", RULES)
def test_a_folder_includes_only_earlier_ones(folder: str) -> None:
    folders = [*RULES]
    assert RULES[folder] <= {*folders[: folders.index(folder)]}
    assert included_folders(folder) == RULES[folder]


def test_each_folder_has_a_rule() -> None:
    files = [path for path in NATIVE.rglob("*.*") if path.suffix in (".c", ".cpp", ".h")]
    folders = {path.parent.relative_to(NATIVE).as_posix() for path in files}
    assert folders - {"."} == RULES.keys()
