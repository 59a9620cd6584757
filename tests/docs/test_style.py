"""Lines have at most 100 columns, and prose uses the words of the glossary."""

import re
from pathlib import Path

import pytest
from repository import ROOT, documents

CODE = (".github", "benchmarks", "examples", "fixtures", "formats", "tests", "tokexport")
SUFFIXES = {".py", ".pyi", ".c", ".h", ".cpp", ".yml"}
WORDS = re.compile(r"\b(behind|nobody|whoever|stretch(es)?|at hand)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_document_has_at_most_100_columns(path: Path) -> None:
    prose = [line for line in lines(path) if not line.startswith(("|", "    "))]
    assert [line for line in prose if len(line) > 100] == []
    assert [line for line in lines(path) if line != line.rstrip()] == []


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_document_uses_the_words_of_the_glossary(path: Path) -> None:
    listed = path.name == "GLOSSARY.md"
    found = [line for line in lines(path) if WORDS.search(line) and not (listed and "|" in line)]
    assert found == []


def test_code_has_at_most_100_columns() -> None:
    """Ruff counts neither a comment for a tool nor a line without a space (E501)."""
    paths = (path for folder in CODE for path in (ROOT / folder).rglob("*"))
    code = (path for path in paths if path.suffix in SUFFIXES and path.is_file())
    assert [line for path in code for line in lines(path) if len(line) > 100] == []


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
