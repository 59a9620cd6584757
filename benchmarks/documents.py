"""Measures long documents with the fastest libraries available, and writes docs/BENCHMARKS.md.

    pip install gigatoken fastokens
    TOKEXPORT_SHARED=FOLDER python benchmarks/documents.py [--print] [--rounds N]

Each installed library, in turn, loads the tokenizer and encodes one text (cold), another of the
same size (unseen), and the first again (warm), each to an array; then the second again to a list.
Each call gets a new str, as if read from a file, since Python keeps the UTF-8 of a str that one
library has asked for, and the next would find it. Before each library's turn, memory is used and
freed, so that none of them pays for pages that the host of a virtual machine has taken back. CPU
time, and for tokexport also wall-clock time; one thread; the ids of every call are compared first.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fast_peers import Calls, Subject, load, names, of_document, of_ranks, report_missing
from measure import timed
from plot import rate
from report import options, table, write
from texts import TEXTS, english_and_documentation

import tokexport

SIZE = 3_000_000  # bytes of each text
USED = 1 << 28  # bytes of memory
WORK = ("cold", "unseen", "warm", "list")
LIBRARIES = ("tokexport", "gigatoken", "fastokens")


def subjects(folder: Path) -> list[Subject]:
    """From the collection of real tokenizers; their tokexport files will be in ``folder``."""
    file = folder / "tokenizer.bin"
    return [
        of_ranks("cl100k_base", file),
        of_ranks("o200k_base", file),
        of_document("Llama 3", "llama3", file),
        of_document("Qwen 3", "qwen3", file),
        of_document("DeepSeek V3", "deepseek-v3", file),
        of_document("Llama 2", "llama2", file),
        # Files with added tokens of white space.
        of_document("Gemma 3", "gemma3", file),
        of_document("MPT", "mpt", file),
    ]


def ids_of(result: Any) -> Any:
    """The result of a library, as an array."""
    if isinstance(result, bytes):
        return np.frombuffer(result, np.uint32)
    return np.asarray(getattr(result, "ids", result), np.uint32)


def halves(name: str) -> tuple[bytes, bytes]:
    """Two parts of a text, of the same size, as UTF-8, without strings that gigatoken always takes
    for special tokens.
    """
    text = english_and_documentation() if name == "English" else TEXTS[name](2 * SIZE)
    text = re.sub(r"<\|[^|]*\|>|</?s>|<unk>", "", text)
    middle = text.find(" ", len(text) // 2)
    return text[:middle].encode(), text[middle:].encode()


def measure(
    subject: Subject, texts: dict[str, tuple[bytes, bytes]], rounds: int
) -> list[list[str]]:
    """A row per text: our ns per byte, how many times as fast we are as the fastest peer, and our
    wall-clock time.
    """
    subject.convert()
    found = [name for name in names(subject) if name in LIBRARIES]
    rows = []
    for text, (first, second) in texts.items():
        record: dict[str, list[list[float]]] = {name: [] for name in found}
        walls: list[list[float]] = []
        ours = tokexport.load(subject.file)
        expected = [ids_of(ours.encode(half.decode())) for half in (first, second)]
        for number in range(-1, rounds):  # the first is not counted: its memory is untouched
            for name in random.sample(found, len(found)):
                use_memory()
                cpu, wall = one_round(name, load(name, subject), (first, second), expected)
                if number >= 0:
                    record[name].append(cpu)
                    if name == "tokexport":
                        walls.append(wall)
        medians = [f"{statistics.median(times):.2f}" for times in zip(*walls, strict=True)]
        rows.append([subject.name, text, *cells(record), ", ".join(medians)])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def use_memory() -> None:
    """Uses memory and frees it: the system hands it out next. A large page that the host of a
    virtual machine has taken back can take as long as encoding 2 MB.
    """
    np.ones(USED, np.uint8)


def one_round(
    name: str, calls: Calls, texts: tuple[bytes, bytes], expected: Sequence[Any]
) -> tuple[list[float], list[float]]:
    """ns per byte for each kind of work: CPU time, wall-clock time. Exits if ids differ."""
    to_array, to_list = calls["array"], calls.get("long list", calls["list"])
    cpu, wall = [], []
    for number, encode in ((0, to_array), (1, to_array), (0, to_array), (1, to_list)):
        text, size = texts[number].decode(), len(texts[number])
        begin = time.perf_counter()
        result, seconds = timed(partial(encode, text))
        wall.append((time.perf_counter() - begin) * 1e9 / size)
        cpu.append(seconds * 1e9 / size)
        if not np.array_equal(ids_of(result), expected[number]):
            sys.exit(f"{name} gives other ids; nothing is reported")
    return cpu, wall


def cells(record: dict[str, list[list[float]]]) -> list[str]:
    """For each kind of work, our ns per byte and the ratio to the fastest peer."""
    made = []
    for number in range(len(WORK)):
        medians = {who: statistics.median(times[number] for times in all_)
                   for who, all_ in record.items()}  # fmt: skip
        ours = medians.pop("tokexport")
        fastest = min(medians, key=medians.__getitem__, default=None)
        beside = f" ({rate(medians[fastest] / ours)}× {fastest})" if fastest else ""
        made.append(f"{ours:.2f}{beside}")
    return made


def main() -> None:
    parser = options(__doc__, rounds=9)
    parser.add_argument("--only", help="one tokenizer")
    given = parser.parse_args()
    texts = {
        name: halves(name) for name in ("English", "code", "Chinese, Japanese", "many scripts")
    }
    report_missing(LIBRARIES)
    with tempfile.TemporaryDirectory() as folder:
        chosen = [one for one in subjects(Path(folder)) if given.only in (None, one.name)]
        rows = [row for subject in chosen for row in measure(subject, texts, given.rounds)]
    made = table(["tokenizer", "text", *WORK, "wall-clock"], rows, left=2)
    if not given.print and given.only is None:
        write("docs/BENCHMARKS.md", {"documents": made})


if __name__ == "__main__":
    main()
