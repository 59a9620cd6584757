"""The table as Markdown: the parts by place, and of each its options by what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from .measure import Outcome

Row = tuple[str, str, str]
BEGIN = "<!-- parts: made by python -m tests.parts -->\n"
END = "\n<!-- parts: end -->"


def table(outcomes: Iterable[Outcome]) -> str:
    """Markdown; the outcomes of a place, and those of a part, stand side by side.

    Parts that are exact with every option share a row.
    """
    lines = ["| | part | exact | refused |", "|---|---|---|---|"]
    for place, members in groupby(outcomes, key=lambda outcome: outcome.case.place):
        for number, row in enumerate(_rows(members)):
            lines.append("| " + " | ".join((place if number == 0 else "", *row)) + " |")
    return "\n".join(lines)


def written(document: str) -> str:
    """The table that a document holds. ValueError where it has no place for one."""
    begin = document.index(BEGIN) + len(BEGIN)
    return document[begin : document.index(END, begin - 1)]


def put(document: str, content: str) -> str:
    """The document with this table."""
    begin = document.index(BEGIN) + len(BEGIN)
    return document[:begin] + content + document[document.index(END, begin - 1) :]


def _rows(outcomes: Iterable[Outcome]) -> Iterator[Row]:
    whole: list[str] = []
    rows: list[Row] = []
    for part, members in groupby(outcomes, key=lambda outcome: outcome.case.part):
        found = list(members)
        options = [cell(one.case.option) for one in found if one.exact]
        others = [f"{cell(one.case.option)}: {verdict(one)}" for one in found if not one.exact]
        if others:
            rows.append((cell(part), "; ".join(options), "<br>".join(others)))
        else:
            whole.append(cell(part))
    if whole:
        yield ", ".join(whole), "all", ""
    yield from rows


def verdict(outcome: Outcome) -> str:
    """What is said of an option that is not exact."""
    return cell(outcome.refusal) if outcome.refusal else "**differs from the library**"


def cell(text: str) -> str:
    """A text that Markdown and HTML leave as it is.

    >>> cell("a|b*")
    'a\\\\|b\\\\*'
    """
    for character in "\\|*[]`":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;").replace("<", "&lt;")
