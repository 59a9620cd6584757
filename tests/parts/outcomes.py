"""The outcome of a case, exact or refused; and the table of all cases, as Markdown."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import tokenizers

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.tokenizer_json.reference import TokenizersReference
from tokexport.verification import compare

from .cases import Case

BEGIN = "<!-- parts: made by python -m tests.parts -->\n"
END = "\n<!-- parts: end -->"


@dataclass(frozen=True)
class Outcome:
    """A sentence of refusal, or the first difference from the library; without both: exact."""

    case: Case
    refusal: str = ""
    difference: str = ""


def measure(case: Case, strings: int = 150, token_step: int = 1) -> Outcome:
    """Converts the tokenizer of a case, and compares ids, texts and offsets with the library:
    every id, each ``token_step``-th token, and random strings in every mode, alone and as pairs.
    """
    source = json.dumps(case.document)
    reference = TokenizersReference(tokenizers.Tokenizer.from_str(source))
    try:
        model = read_tokenizer_json(parse(source.encode(), "tokenizer.json"), SourceFiles(None))
        data = file_bytes(model)
    except UnsupportedError as error:
        return Outcome(case, refusal=f"{error.problem}; {error.hint}")
    result = compare(
        load(data), reference, strings=strings, code_points=False, token_step=token_step
    )
    return Outcome(case, difference="" if result.ok else "\n".join(result.lines()))


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each part; parts that are exact with every option share one."""
    lines = ["| | part | exact | refused |", "|---|---|---|---|"]
    for place, members in groupby(outcomes, key=lambda outcome: outcome.case.place):
        for number, row in enumerate(_rows(members)):
            lines.append("| " + " | ".join((place if number == 0 else "", *row)) + " |")
    return "\n".join(lines)


def _rows(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, str, str]]:
    exact_parts: list[str] = []
    rows: list[tuple[str, str, str]] = []
    for part, members in groupby(outcomes, key=lambda item: item.case.part):
        exact: list[str] = []
        inexact: list[str] = []
        for item in members:
            verdict = "**differs from the library**" if item.difference else _cell(item.refusal)
            option = _cell(item.case.option)
            (inexact if verdict else exact).append(f"{option}: {verdict}" if verdict else option)
        if inexact:
            rows.append((_cell(part), "; ".join(exact), "<br>".join(inexact)))
        else:
            exact_parts.append(_cell(part))
    if exact_parts:
        yield ", ".join(exact_parts), "all", ""
    yield from rows


def _cell(text: str) -> str:
    """A text escaped for Markdown and HTML."""
    for character in "\\|*[]`":
        text = text.replace(character, "\\" + character)
    return text.replace("&", "&amp;").replace("<", "&lt;")


def written(document: str) -> str:
    """The table in a document. ValueError if the document has no place for it."""
    begin = document.index(BEGIN) + len(BEGIN)
    return document[begin : document.index(END, begin - 1)]


def put(document: str, content: str) -> str:
    begin = document.index(BEGIN) + len(BEGIN)
    return document[:begin] + content + document[document.index(END, begin - 1) :]
