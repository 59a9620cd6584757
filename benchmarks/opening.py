"""The cost of a file: its size, and the time and memory of a C program that opens it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from peers import ROOT, Subject

from tokexport.conversion import convert

RUNTIME = ROOT / "formats" / "tokexport"


@dataclass(frozen=True)
class Cost:
    """Sizes in bytes, the median time of tkx_open in microseconds, and the private memory of
    opening and encoding a sentence, in KiB.
    """

    ids: int
    source: int
    file: int
    decode_only: int
    opening: float
    private: int


def compiled(folder: Path) -> Path:
    """Builds open.c with the C core. Needs Linux and a C compiler (``$CC``, or cc)."""
    program = folder / "open"
    command = [os.environ.get("CC", "cc"), "-O2", "-std=c99", f"-I{RUNTIME}", "-o", str(program)]
    sources = [ROOT / "benchmarks" / "open.c", RUNTIME / "tokexport.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    return program


def code_size(folder: Path, *flags: str) -> int:
    """Bytes of code and constants of the C core when compiled for size."""
    made = folder / "core.o"
    command = [os.environ.get("CC", "cc"), "-Os", "-std=c99", "-c", *flags, "-o", str(made)]
    subprocess.run([*command, str(RUNTIME / "tokexport.c")], check=True)
    table = subprocess.run(
        ["size", "-A", str(made)], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in table.splitlines()]
    return sum(int(row[1]) for row in rows if row and row[0].startswith((".text", ".rodata")))


def cost(program: Path, subject: Subject, target: Path) -> Cost:
    """The cost for a subject whose file is at ``target``."""
    output = subprocess.run(
        [str(program), str(target)], check=True, capture_output=True, text=True
    ).stdout
    _, opening, _, private = map(int, output.split())
    decode = target.with_suffix(".decode")
    made = convert(subject.source, decode, pattern=subject.pattern, decode_only=True, force=True)
    sizes = (subject.source.stat().st_size, target.stat().st_size, made.size)
    return Cost(len(made.model.tokens), *sizes, opening / 1000, private)
