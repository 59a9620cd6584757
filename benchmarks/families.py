"""Encoding speed for every family of models beside `tokenizers`, both in one run; prints a table in
Markdown.

    python benchmarks/families.py path/to/llama2/tokenizer.json path/to/t5-small/tokenizer.json ...

One thread. The texts are those of texts.py, each cut into documents of 2,000 characters, one call
for each document: a whole text of megabytes in one call is slower in `tokenizers` by itself, and
nobody would call it so. All ids are compared before anything is measured. Then the libraries take
turns. A cell is the median of later passes, in MB of UTF-8 a second, and how many times that is
what `tokenizers` does; only the latter means anything.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from encode import check, libraries, measure_calls
from texts import TEXTS

from tokexport.cli.contents import Contents

CHARACTERS = 2_000  # of a document
SIZE = 600_000  # characters of a text that are measured
ONE_WORD = "'a' * 1,000,000"  # this one is not cut: whether its time is linear is what it is for


def documents(name: str) -> list[str]:
    """The documents of a text."""
    text = TEXTS[name]()
    if name == ONE_WORD:
        return [text]
    return [
        text[start : start + CHARACTERS] for start in range(0, min(len(text), SIZE), CHARACTERS)
    ]


def row(source: Path, texts: dict[str, list[str]], rounds: int) -> list[str]:
    """The cells for one tokenizer."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "tokenizer.bin"
        both = libraries(source, None, target)
        cells = [source.resolve().parent.name, Contents.of(target).model]
        for name, parts in texts.items():
            check(both, name, parts)
            ours, theirs = measure_calls(both, parts, rounds)
            size = sum(len(part.encode()) for part in parts) / len(parts) / 1e6
            cells.append(f"{size / ours:.0f} ({theirs / ours:.0f}×)")
    return cells


def report(sources: Sequence[Path], rounds: int) -> str:
    """The whole table, as Markdown."""
    texts = {name: documents(name) for name in TEXTS if name != "white space"}
    head = ["tokenizer", "model", *texts]
    lines = [
        head,
        ["---", "---", *["---:"] * len(texts)],
        *(row(source, texts, rounds) for source in sources),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Measure encoding of many tokenizers beside `tokenizers`."
    )
    parser.add_argument("sources", nargs="+", type=Path, help="tokenizer.json files")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(report(options.sources, options.rounds))


if __name__ == "__main__":
    main()
