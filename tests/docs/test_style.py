"""Lines have at most 100 columns, and prose uses the words of the glossary."""

import re
from pathlib import Path

import pytest
from repository import ROOT

FOLDERS = (".github", "docs", "examples", "fixtures", "formats")
FILES = sorted(
    path
    for paths in (ROOT.glob("*.md"), *((ROOT / folder).rglob("*.md") for folder in FOLDERS))
    for path in paths
    if "cache" not in path.parts
)
CODE = ("benchmarks", "examples", "fixtures", "formats", "tests", "tokexport")
WORDS = re.compile(r"\b(behind|nobody|whoever|stretch(es)?|at hand)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_document_has_at_most_100_columns(path: Path) -> None:
    prose = [line for line in lines(path) if not line.startswith(("|", "    "))]
    assert [line for line in prose if len(line) > 100] == []
    assert [line for line in lines(path) if line != line.rstrip()] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_document_uses_the_words_of_the_glossary(path: Path) -> None:
    listed = path.name == "GLOSSARY.md"
    found = [line for line in lines(path) if WORDS.search(line) and not (listed and "|" in line)]
    assert found == []


def test_a_comment_for_a_tool_is_part_of_its_line() -> None:
    """Ruff does not count it (E501)."""
    comment = re.compile(r"# (noqa|type:)")
    paths = (path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    found = (line for path in paths for line in lines(path) if comment.search(line))
    assert [line for line in found if len(line) > 100] == []


def test_a_workflow_has_at_most_100_columns() -> None:
    paths = (ROOT / ".github").rglob("*.yml")
    assert [line for path in paths for line in lines(path) if len(line) > 100] == []


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
