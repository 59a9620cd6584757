"""Measures the speed-up by a second thread, and writes docs/BENCHMARKS.md.

    TOKEXPORT_SHARED=FOLDER python benchmarks/threads.py [--print] [--rounds N]

One document of 10 MB, and its parts of 2,000 characters in one call, are encoded to an array with
one thread and with two, after a warm-up. Figures are the minimum of wall-clock time in many
rounds. Needs at least two processors, and an idle machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from documents import subjects
from fast_peers import Subject
from measure import DOCUMENT
from plot import rate
from report import options, table, write
from texts import code, english_and_documentation

import tokexport

SIZE = 10_000_000  # characters, nearly all of them ASCII
NAMES = ("cl100k_base", "Llama 2")


def least(action: Callable[[], Any], rounds: int) -> float:
    """The minimum time of an action, in milliseconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def row(name: str, what: str, encode: Callable[[int], Any], rounds: int) -> list[str]:
    """Exits if two threads return other ids than one."""
    expected, found = encode(1), encode(2)
    if not np.array_equal(expected, found):
        sys.exit(f"{name}: two threads give other ids; nothing is reported")
    one, two = least(lambda: encode(1), rounds), least(lambda: encode(2), rounds)
    made = [name, what, f"{rate(one)} ms", f"{rate(two)} ms", f"{one / two:.2f}×"]
    print(" | ".join(made), flush=True)
    return made


def rows_of(subject: Subject, text: str, rounds: int) -> list[list[str]]:
    """Both rows of a tokenizer, whose file exists already."""
    subject.convert()
    made = tokexport.load(subject.file)
    documents = [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]
    many = f"{len(documents):,} documents"
    calls: dict[str, Callable[[int], Any]] = {
        "one document": lambda n: made.encode_to_numpy(text, num_threads=n),
        many: lambda n: made.encode_batch_to_numpy(documents, num_threads=n)[0],
    }
    return [row(subject.name, what, encode, rounds) for what, encode in calls.items()]


def main() -> None:
    given = options(__doc__, rounds=30).parse_args()
    text = f"{english_and_documentation()}\n{code(2 * SIZE)}"[:SIZE]
    with tempfile.TemporaryDirectory() as folder:
        chosen = [subject for subject in subjects(Path(folder)) if subject.name in NAMES]
        rows = [row for subject in chosen for row in rows_of(subject, text, given.rounds)]
    content = table(["tokenizer", "10 MB", "one thread", "two", "times as fast"], rows, left=2)
    if not given.print:
        write("docs/BENCHMARKS.md", {"threads": content})


if __name__ == "__main__":
    main()
