"""Measures the C core alone beside tiktoken, without its word cache, and writes docs/BENCHMARKS.md.

    TOKEXPORT_SHARED=FOLDER python benchmarks/core.py [--print] [--core FILE.c]

The core is compiled as for any C program, by ``$CC -O2``, and called by a loop in C (core.c), so
that Python's part is not measured: one thread, documents of 2,000 characters, 64 KB of work memory.
A document is UTF-8 for it, and its ids are an array. tiktoken is called as Python programs do, by
``encode_ordinary`` on a str, which makes a list. They take turns on slices of 150 KB that neither
has seen; the ids of every slice are compared. Time is that of the CPU.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from fast_peers import Subject, load, of_ranks
from measure import DOCUMENT, SLICE, timed
from peers import ROOT
from plot import rate
from report import options, table, write
from texts import TEXTS, shared_tokenizers

RUNTIME = ROOT / "formats" / "tokexport"
NAMES = ("English", "code", "Chinese, Japanese", "many scripts")

# Takes documents; gives their ids, one after the other, and where those of each end.
Core = Callable[[Sequence[bytes]], tuple[Any, Any]]


def compiled(core: Path, folder: Path) -> ctypes.CDLL:
    """core.c with the C core, as a shared library."""
    library = folder / "core.so"
    command = [os.environ.get("CC", "cc"), "-O2", "-std=c99", "-shared", "-fPIC"]
    command += ["-DTKX_SHARED", "-DTKX_BUILD", f"-I{RUNTIME}", "-o", str(library)]
    subprocess.run([*command, str(ROOT / "benchmarks" / "core.c"), str(core)], check=True)
    return ctypes.CDLL(str(library))


def encoder(library: ctypes.CDLL, file: bytes) -> Core:
    """The core, on a file in memory."""
    ids = np.zeros(4 * SLICE, np.uint32)  # the slices of a text vary in size

    def encode(documents: Sequence[bytes]) -> tuple[Any, Any]:
        ends = np.fromiter(accumulate(map(len, documents)), np.uintp)
        made = np.zeros_like(ends)
        code = library.encode_documents(
            *(file, ctypes.c_size_t(len(file)), b"".join(documents)),
            *(ends.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(ends))),
            *(ids.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(ids))),
            made.ctypes.data_as(ctypes.c_void_p),
        )
        if code:
            sys.exit(f"the core refuses a text: error {code}; nothing is reported")
        return ids, made

    return encode


def slices(name: str) -> list[list[str]]:
    """The documents of a text, in slices of the same number of them."""
    text = TEXTS[name]()
    documents = [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]
    each = SLICE * len(documents) // len(text.encode())
    return [documents[at : at + each] for at in range(0, len(documents) - each, each)]


def measured(subject: Subject, core: Core, parts: Sequence[list[str]]) -> str:
    """MB/s of the core, and how many times the speed of tiktoken that is: medians of all slices
    but the first, which fills caches.
    """
    encode = load("tiktoken", subject)["list"]
    speeds, ratios = [], []
    for number, documents in enumerate(parts):
        encoded = [document.encode() for document in documents]
        actions: list[Callable[[], Any]] = [
            partial(core, encoded),
            partial(list, map(encode, documents)),
        ]
        order = (0, 1) if number % 2 else (1, 0)
        results = {which: timed(actions[which]) for which in order}
        ((ids, ends), ours), (lists, theirs) = results[0], results[1]
        if [ids[a:b].tolist() for a, b in pairwise([0, *ends])] != lists:
            sys.exit(f"{subject.name}: the core gives other ids; nothing is reported")
        if number:
            speeds.append(sum(map(len, encoded)) / 1e6 / ours)
            ratios.append(theirs / ours)
    return f"{rate(statistics.median(speeds))} ({rate(statistics.median(ratios))}×)"


def subjects(folder: Path) -> list[Subject]:
    """Those that tiktoken does, from the collection of real tokenizers."""
    file, llama3 = folder / "tokenizer.bin", shared_tokenizers() / "llama3-tiktoken"
    return [
        of_ranks("cl100k_base", file),
        of_ranks("o200k_base", file),
        Subject("Llama 3", llama3 / "tokenizer.model", "llama3", file),
    ]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--core", type=Path, default=RUNTIME / "tokexport.c", help="another core")
    given = parser.parse_args()
    parts = {name: slices(name) for name in NAMES}
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = compiled(given.core, folder)
        for subject in subjects(folder):
            subject.convert()
            core = encoder(library, subject.file.read_bytes())
            rows.append([subject.name, *(measured(subject, core, parts[text]) for text in NAMES)])
            print(" | ".join(rows[-1]), flush=True)
    if not given.print:
        write("docs/BENCHMARKS.md", {"core": table(["tokenizer", *NAMES], rows, left=1)})


if __name__ == "__main__":
    main()
