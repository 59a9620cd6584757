"""Reads ``formats/tokexport/SPEC.md``, so that tests can compare it with the code."""

import re

from repository import ROOT

FOLDER = ROOT / "formats" / "tokexport"


def text() -> str:
    """The specification, including that of the optional sections."""
    return "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("SPEC.md", "EXTRA.md"))


def section(title: str) -> str:
    """The text under the heading that begins with ``title``, up to the next heading."""
    match = re.search(rf"^#+ {re.escape(title)}.*\n((?:(?!#+ ).*\n)*)", text(), re.MULTILINE)
    assert match is not None, title
    return match[1]


def prose() -> str:
    """The specification as one line, so that a sentence is found across line breaks."""
    return " ".join(text().split())


def dump(title: str) -> bytes:
    """The bytes of an annotated hex dump; every line has its offset, without gaps."""
    content = b""
    for line in section(title).splitlines():
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
