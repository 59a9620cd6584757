"""Measures long documents beside the fastest libraries there are, and writes docs/BENCHMARKS.md.

    pip install gigatoken fastokens
    TOKEXPORT_SHARED=FOLDER python benchmarks/documents.py [--print] [--rounds N]

Each library in turn loads the tokenizer anew and encodes one text (cold), another of the same size
(unseen), the first again (warm), each to an array, and the second again to a list. Time of the CPU,
one thread; the ids of every call are compared first.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# One thread for every library; read when they are imported.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import fastokens
import gigatoken
import numpy as np
from measure import timed
from peers import ROOT
from report import put, rate, table
from texts import TEXTS, english_and_documentation

import tokexport
from tokexport.conversion import convert

SIZE = 3_000_000  # bytes of each text
WORK = ("cold", "unseen", "warm", "list")

Encode = Callable[[str], Any]


@dataclass(frozen=True)
class Library:
    """``load`` gives two calls: one to an array, or what costs no more, and one to a list."""

    name: str
    load: Callable[[], tuple[Encode, Encode]]


@dataclass(frozen=True)
class Subject:
    """A tokenizer: its name and its file; of ranks also the name of the pattern."""

    name: str
    path: Path
    pattern: str | None = None


def subjects() -> list[Subject]:
    """From ``$TOKEXPORT_SHARED/tokenizers``."""
    folder = Path(os.environ["TOKEXPORT_SHARED"]).resolve() / "tokenizers"
    names = {"Llama 3": "llama3", "Qwen 3": "qwen3", "DeepSeek V3": "deepseek-v3"}
    return [
        *(Subject(name, folder / name / f"{name}.tiktoken", name)
          for name in ("cl100k_base", "o200k_base")),
        *(Subject(label, folder / name / "tokenizer.json") for label, name in names.items()),
        Subject("Llama 2", folder / "llama2" / "tokenizer.json"),
    ]  # fmt: skip


def libraries(subject: Subject, target: Path) -> list[Library]:
    """tokexport first, on a file that is made at ``target``."""
    convert(subject.path, target, pattern=subject.pattern, self_test=False, force=True)

    def ours() -> tuple[Encode, Encode]:
        tokenizer = tokexport.load(target)
        return tokenizer.encode_to_numpy, tokenizer.encode_ordinary

    def giga() -> tuple[Encode, Encode]:
        of_ranks = subject.pattern is not None
        kind = gigatoken.Tokenizer.from_tiktoken if of_ranks else gigatoken.Tokenizer
        tokenizer = kind(str(subject.path))
        return tokenizer.encode, lambda text: tokenizer.encode_batch_list([text], parallel=False)[0]

    def fast() -> tuple[Encode, Encode]:
        if subject.pattern is None:
            tokenizer = fastokens.Tokenizer.from_file(str(subject.path))
        else:
            tokenizer = fastokens.Tokenizer.from_tiktoken(
                str(subject.path), encoding=subject.pattern
            )
        return (
            lambda text: tokenizer.encode_batch_flat([text], split_special_tokens=True)[0],
            lambda text: ids_of(tokenizer.encode(text, split_special_tokens=True)).tolist(),
        )

    return [Library("tokexport", ours), Library("gigatoken", giga), Library("fastokens", fast)]


def ids_of(result: Any) -> Any:
    """What a library gives, as an array."""
    if isinstance(result, bytes):
        return np.frombuffer(result, np.uint32)
    return np.asarray(getattr(result, "ids", result), np.uint32)


def halves(name: str) -> tuple[str, str]:
    """Two parts of a text, of the same size, without what gigatoken always takes for special."""
    text = english_and_documentation() if name == "English" else TEXTS[name](2 * SIZE)
    text = re.sub(r"<\|[^|]*\|>|</?s>|<unk>", "", text)
    middle = text.find(" ", len(text) // 2)
    return text[:middle], text[middle:]


def measure(subject: Subject, texts: dict[str, tuple[str, str]], rounds: int) -> list[list[str]]:
    """A row for each text: ns a byte of ours, and how many times the speed of the fastest peer."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        found = libraries(subject, Path(folder, "tokenizer.bin"))
        for name, (first, second) in texts.items():
            record: dict[str, list[list[float]]] = {library.name: [] for library in found}
            expected = [ids_of(tokexport.load(Path(folder, "tokenizer.bin")).encode(text))
                        for text in (first, second)]  # fmt: skip
            for _ in range(rounds):
                for library in random.sample(found, len(found)):
                    record[library.name].append(one_round(library, first, second, expected))
            rows.append([subject.name, name, *cells(record, name)])
            print(" | ".join(rows[-1]), flush=True)
    return rows


def one_round(library: Library, first: str, second: str, expected: Sequence[Any]) -> list[float]:
    """ns a byte of each kind of work. Ends the program where ids differ."""
    to_array, to_list = library.load()
    times = []
    for number, encode in ((0, to_array), (1, to_array), (0, to_array), (1, to_list)):
        text = (first, second)[number]
        result, seconds = timed(lambda: encode(text))  # noqa: B023 -- called at once
        if not np.array_equal(ids_of(result), expected[number]):
            sys.exit(f"{library.name} gives other ids; nothing is reported")
        times.append(seconds * 1e9 / len(text.encode()))
    return times


def cells(record: dict[str, list[list[float]]], name: str) -> list[str]:
    """For each kind of work ours in ns a byte, and the ratio to the fastest peer."""
    made = []
    for number in range(len(WORK)):
        medians = {who: statistics.median(times[number] for times in all_)
                   for who, all_ in record.items()}  # fmt: skip
        ours = medians.pop("tokexport")
        best = min(medians, key=medians.__getitem__)
        made.append(f"{ours:.2f} ({rate(medians[best] / ours)}× {best})")
    return made


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--print", action="store_true", help="write no document")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="one tokenizer")
    given = parser.parse_args()
    texts = {
        name: halves(name) for name in ("English", "code", "Chinese, Japanese", "many scripts")
    }
    chosen = [subject for subject in subjects() if given.only in (None, subject.name)]
    rows = [row for subject in chosen for row in measure(subject, texts, given.rounds)]
    made = table(["tokenizer", "text", *WORK], rows, left=2)
    if not given.print and given.only is None:
        path = ROOT / "docs" / "BENCHMARKS.md"
        path.write_text(put(path.read_text("utf-8"), "documents", made), "utf-8")


if __name__ == "__main__":
    main()
