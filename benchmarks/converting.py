"""Measures conversions, and writes docs/BENCHMARKS.md.

    TOKEXPORT_SHARED=FOLDER python benchmarks/converting.py [--print] [--rounds N]

Each tokenizer.json is converted in separate processes. The figures are the minimum of CPU seconds
and the peak of memory, both without those of Python with numpy; modules are compiled already, as
after an installation by pip. Needs Linux.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from report import options, table, write
from texts import shared_tokenizers

SOURCES = {"Llama 3": "llama3", "Qwen 3": "qwen3", "XLM-R": "xlm-roberta", "Gemma 3": "gemma3"}
MEASURED = """
import sys, time
import numpy

def peak():  # getrusage's would be that of this program, where it is higher
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))

time.sleep(0.3)  # threads that numpy has started for OpenBLAS spin for 0.1 s
memory, seconds = peak(), time.process_time()
import tokexport.conversion
tokexport.conversion.convert(sys.argv[1], sys.argv[2], force=True, self_test=sys.argv[3] == "True")
print(time.process_time() - seconds, peak() - memory)
"""


def measured(source: Path, rounds: int, *, self_test: bool) -> tuple[float, float]:
    """The minimum of CPU seconds, and the peak of memory in bytes."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/tokenizer.bin"
        # In `folder`, since in the root of the repository it would import the sources.
        command = [sys.executable, "-c", MEASURED, str(source), target, str(self_test)]
        bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        for _ in range(1 + rounds):
            done = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | bytecode,
                check=True,
                capture_output=True,
                text=True,
            )
            found.append([float(number) for number in done.stdout.split()])
    seconds, peaks = zip(*found[1:], strict=True)
    return min(seconds), max(peaks)


def row(name: str, source: Path, rounds: int) -> list[str]:
    """The row of a tokenizer, without the self test and with it."""
    size = os.path.getsize(source)
    cells = [name, f"{size / 1e6:.1f}"]
    for self_test in (False, True):
        seconds, peak = measured(source, rounds, self_test=self_test)
        cells += [f"{seconds:.2f}", f"{peak / 1e6:.0f} ({peak / size:.1f}×)"]
    print(" | ".join(cells), flush=True)
    return cells


def main() -> None:
    given = options(__doc__, rounds=3).parse_args()
    folder = shared_tokenizers()
    rows = [
        row(name, folder / directory / "tokenizer.json", given.rounds)
        for name, directory in SOURCES.items()
    ]
    head = ["tokenizer", "source, MB", "CPU, s", "peak, MB", "with the self test, s", "peak, MB"]
    if not given.print:
        write("docs/BENCHMARKS.md", {"converting": table(head, rows, left=1)})


if __name__ == "__main__":
    main()
