"""Reads the tables and hex dumps of ``formats/tokexport/SPEC.md``, so that tests can hold them
against other things.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]

Row = dict[str, str]


def text() -> str:
    """The specification."""
    return (FOLDER / "SPEC.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """What stands under a heading, up to the next heading of any level."""
    lines = text().splitlines()
    start = lines.index(heading) + 1
    body = [line for line in lines[start:] if not re.fullmatch(r"-{3,}|={3,}", line)]
    end = next((i for i, line in enumerate(body) if re.match(r"#{2,} |\d+ [A-Z]", line)), len(body))
    return "\n".join(body[:end])


def tables(part: str) -> list[tuple[str, list[Row]]]:
    """The tables of a part, each with the line that stands before it."""
    found = []
    lines = part.splitlines()
    intro, at = "", 0
    while at < len(lines):
        if not lines[at].startswith("|"):
            intro = lines[at] or intro
            at += 1
            continue
        end = at
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        names = _cells(lines[at])
        found.append(
            (intro, [dict(zip(names, _cells(line), strict=True)) for line in lines[at + 2 : end]])
        )
        intro, at = "", end
    return found


def named_tables(first_column: str) -> dict[str, tuple[str, list[Row]]]:
    """The tables whose first column has this name, by the last word in back quotes of the line
    before them: (that line, rows).
    """
    named = {}
    for intro, rows in tables(text()):
        names = re.findall(r"`(\w+)`", intro)
        if names and rows and next(iter(rows[0])) == first_column:
            named[names[-1]] = (intro, rows)
    return named


def dump(heading: str) -> bytes:
    """The bytes of an annotated hex dump; every line says its offset, and the offsets have no gap."""
    content = b""
    for line in section(heading).splitlines():
        match = re.match(
            r" {4}([0-9A-F]{4})  ((?:[0-9A-F]{2} )*[0-9A-F]{2}(?: \* \d+)?)  +\S", line
        )
        if match is None:
            assert not line.startswith("    "), line
            continue
        assert int(match[1], 16) == len(content), line
        digits, _, times = match[2].partition(" * ")
        content += bytes.fromhex(digits) * int(times or 1)
    return content


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
