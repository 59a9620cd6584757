"""Every relative link in a Markdown file leads to a file, and to a heading if it names one."""

import re
from pathlib import Path

import pytest
from repository import ROOT, documents

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(
    r"(?<![\w./-])(?:benchmarks|docs|examples|fixtures|formats|tokexport)/[\w./-]*\w\.\w+"
)
OUTSIDE = re.compile(r"[a-z]+:")


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_has_a_target(path: Path) -> None:
    broken = []
    for link in links(path.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        found = target.exists()
        if found and anchor:
            found = anchor in anchors(target.read_text(encoding="utf-8"))
        if not found:
            broken.append(link)
    assert broken == []


def test_the_documents_link_to_each_other() -> None:
    assert sum(len(links(path.read_text(encoding="utf-8"))) for path in documents()) > 30


def test_code_and_documents_name_files_that_exist() -> None:
    folders = ("tokexport", "formats", "examples", "benchmarks", "docs")
    texts = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    named = [
        (path.parent, name)
        for path in [*texts, *ROOT.glob("*.md")]
        if path.is_file() and path.suffix in {".py", ".md", ".c", ".h", ".cpp"}
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 30
    missing = [name for at, name in named if not (at / name).exists() | (ROOT / name).exists()]
    assert missing == []


def links(document: str) -> list[str]:
    """The relative links of a document, without those in code."""
    without_blocks = re.sub(r"^```.*?^```$", "", document, flags=re.DOTALL | re.MULTILINE)
    prose = "\n".join(line for line in without_blocks.splitlines() if not line.startswith("    "))
    return [link for link in LINK.findall(prose) if not OUTSIDE.match(link)]


def anchors(document: str) -> set[str]:
    """The anchors of the headings of a document.

    >>> sorted(anchors("# Text to ids\\n## A split, `x`"))
    ['a-split-x', 'text-to-ids']
    """
    headings = re.findall(r"^#+ (.+)$", document, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}
