"""The table as Markdown: a row for each part, its options by what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from .measure import Outcome

LONGEST = 160  # characters of a sentence in a cell


def table(outcomes: Iterable[Outcome]) -> str:
    """Markdown; a part's outcomes stand side by side."""
    lines = ["| part | | exact | refused |", "|---|---|---|---|"]
    group = ""
    for (kind, part), members in groupby(outcomes, key=lambda outcome: (outcome.case.kind, outcome.case.part)):
        found = list(members)
        exact = [cell(one.case.option) for one in found if not one.refusal and not one.difference]
        refused = [f"{cell(one.case.option)}: {cell(one.refusal)}" for one in found if one.refusal]
        wrong = [f"{cell(one.case.option)}: **differs**" for one in found if one.difference]
        lines.append(
            f"| {'' if kind == group else kind} | {cell(part)} | {', '.join(exact)} | {'<br>'.join([*refused, *wrong])} |"
        )
        group = kind
    return "\n".join(lines)


def cell(text: str) -> str:
    """A text in a cell, cut short."""
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
