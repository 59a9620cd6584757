"""Measures short calls, documents of 300 bytes, decoding, adversarial texts and fresh processes,
with every library that is installed, and writes docs/BENCHMARKS.md.

    pip install tiktoken tokenizers gigatoken fastokens rs-bpe quicktok-v1 sentencepiece
    pip install --no-deps --target RC tokenizers==1.0.0rc3
    TOKEXPORT_SHARED=FOLDER python benchmarks/calls.py [--print] [--rounds N] [--rc RC]

The libraries alternate in each round. Ids and texts are compared in every round; a library with
different results is reported and left out of that row. The figures are medians of CPU time, and
for tokexport also of wall-clock time.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fast_peers import Subject, names, of_document, of_ranks, report_missing
from fresh import fresh_rows
from plot import rate
from report import options, table, write
from texts import english
from worker import RemoteWorker, Worker

DOCUMENT = 300  # bytes
WARM = 700_000  # bytes of prose that each library encodes first, to warm up
LONG = 1_000_000  # characters of an adversarial text
HEAD = ["tokenizer", "work", "tokexport", "wall-clock", "times as fast as"]


@dataclass(frozen=True)
class Work:
    """A row: ``inputs`` for each round, by its number; ``count``: how many units they contain.

    ``kinds``: names of this kind of work; the first one that a library supports is used.
    """

    name: str
    kinds: tuple[str, ...]
    inputs: Callable[[int], Sequence[Any]]
    unit: str
    count: Callable[[Sequence[Any]], float]


UNITS = {"ns": 1e9, "µs": 1e6, "ms": 1e3}


def works(encode: Callable[[str], list[int]]) -> list[Work]:
    """All rows except those of a fresh process."""
    prose = english()[WARM:]
    documents = [prose[at : at + DOCUMENT] for at in range(0, len(prose) - DOCUMENT, DOCUMENT)]
    random.Random(1).shuffle(documents)
    seen, alone, together = documents[:300], documents[300::2], documents[301::2]
    ids = encode(prose[:200_000])

    def new(documents: list[str], number: int) -> list[str]:
        first = number * 120 % (len(documents) - 120)  # 16 rounds use each document once
        return documents[first : first + 120]

    def slow(letter: str) -> Callable[[int], list[str]]:
        # A different length each time, so that no cache of whole pre-tokens has it.
        return lambda number: [letter * (LONG + 1 + number)]

    def number_in_batch(inputs: Sequence[Any]) -> float:
        return len(inputs[0])

    lists, arrays, batch = ("list",), ("array",), ("batch",)
    return [
        Work("`hello world` to a list", lists, lambda _: ["hello world"] * 2000, "ns", len),
        Work("to an array", arrays, lambda _: ["hello world"] * 2000, "ns", len),
        Work("300 bytes, not seen before", lists, partial(new, alone), "µs", len),
        Work("120 such in a batch", batch, lambda n: [new(together, n)], "µs", number_in_batch),
        Work("300 bytes, seen before", lists, lambda _: seen, "µs", len),
        Work("300 such in a batch", batch, lambda _: [seen], "µs", number_in_batch),
        Work("decoding, an id", ("decode",), lambda _: [ids], "ns", lambda _: len(ids)),
        Work("decoding one by one, an id", ("step",), lambda _: [ids], "ns", lambda _: len(ids)),
        Work("1 MB of prose", lists, lambda number: [prose[number:LONG]], "ms", len),
        Work("1 MB of `a`", lists, slow("a"), "ms", len),
        Work("1 MB of spaces", lists, slow(" "), "ms", len),
        Work("1 MB of line feeds", lists, slow("\n"), "ms", len),
    ]


def measured(work: Work, workers: Sequence[Any], rounds: int) -> list[str]:
    """The cells of a row, without the tokenizer."""
    does = {worker: next((kind for kind in work.kinds if kind in worker.kinds()), None)
            for worker in workers}  # fmt: skip
    times: dict[str, list[tuple[float, float]]] = {
        worker.name: [] for worker in workers if does[worker]
    }
    wrong: set[str] = set()
    for number in range(rounds + 1):
        inputs = work.inputs(number)
        results = {}
        for worker in random.sample(workers, len(workers)):
            if (kind := does[worker]) is None:
                continue
            timed = worker.run(kind, inputs)
            results[worker.name] = timed.results
            if number:  # round 0 fills caches
                units = work.count(inputs) / UNITS[work.unit]
                times[worker.name].append((timed.cpu / units, timed.wall / units))
        expected = results["tokexport"]
        wrong |= {name for name, found in results.items() if not same(found, expected)}
    for name in wrong:
        print(f"{work.name}: {name} gives other results, and is left out", file=sys.stderr)
    medians = {
        name: statistics.median(cpu for cpu, _ in record)
        for name, record in times.items()
        if name not in wrong
    }
    ours = medians.pop("tokexport")
    wall = statistics.median(wall for _, wall in times["tokexport"])
    others = sorted(medians.items(), key=lambda item: item[1])
    return [
        work.name,
        f"{rate(ours)} {work.unit}",
        f"{rate(wall)} {work.unit}",
        ", ".join(f"{rate(value / ours)}× {name}" for name, value in others),
    ]


def same(found: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether a library returns the same as tokexport, whatever the type of its lists."""
    return all(
        left == right if isinstance(left, str) else _plain(left) == _plain(right)
        for left, right in zip(found, expected, strict=True)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        import numpy as np

        return np.frombuffer(value, np.uint32).tolist()
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(each) if not isinstance(each, int) else each for each in value]


def subjects(folder: Path) -> list[Subject]:
    """Ranks, and a tokenizer.json; their files are created in ``folder``."""
    found = [
        of_ranks("cl100k_base", folder / "cl100k_base.bin"),
        of_document("Llama 3", "llama3", folder / "llama3.bin"),
        of_document("Llama 2", "llama2", folder / "llama2.bin"),
    ]
    for subject in found:
        subject.convert()
    return found


def rows_of(subject: Subject, rounds: int, rc: Path | None) -> list[list[str]]:
    """All rows for a tokenizer."""
    workers: list[Any] = [Worker(name, subject) for name in names(subject)]
    if rc and subject.pattern is None:
        workers.append(RemoteWorker("tokenizers 1.0rc3", "tokenizers", subject, rc))
    import tokexport

    for worker in workers:
        worker.run("list", [english()[:WARM]])
    rows = []
    for work in works(tokexport.load(subject.file).encode):
        rows.append([subject.name, *measured(work, workers, rounds)])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = options(__doc__, rounds=15)
    parser.add_argument("--only", help="one tokenizer")
    parser.add_argument("--rc", type=Path, help="where tokenizers 1.0.0rc3 is installed")
    given = parser.parse_args()
    report_missing(others=[] if given.rc else ["tokenizers 1.0.0rc3"])
    with tempfile.TemporaryDirectory() as name:
        found = subjects(Path(name))
        chosen = [subject for subject in found if given.only in (None, subject.name)]
        rows = [row for subject in chosen for row in rows_of(subject, given.rounds, given.rc)]
        fresh = fresh_rows(found[0], given.rounds)
    parts = {
        "small": table(HEAD, rows, left=2),
        "fresh": table(["library", "CPU, ms", "private memory, KB"], fresh, left=1),
    }
    print("", *parts.values(), sep="\n")
    if not given.print and given.only is None:
        write("docs/BENCHMARKS.md", parts)


if __name__ == "__main__":
    main()
