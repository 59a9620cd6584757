"""Converts tokenizers, each in a process of its own, and prints a table: CPU and peak memory over
those of Python with numpy.

    python benchmarks/converting.py FILE...

CPU is the least of three. Needs Linux.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

ROUNDS = 3
MEASURED = """
import resource, sys, time
import numpy

def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime

memory, seconds = used()
import tokexport.conversion
imported = used()[0]
tokexport.conversion.convert(sys.argv[1], sys.argv[2], force=True, self_test=sys.argv[3] == "True")
print(used()[1] - seconds, used()[0] - memory, imported - memory)
"""


def measured(source: str, *, self_test: bool) -> tuple[float, int, int]:
    """The least CPU seconds, the peak of memory in bytes, and how much of that imports take."""
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            command = [sys.executable, "-c", MEASURED, source, f"{folder}/file", str(self_test)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rounds.append([float(number) for number in printed.split()])
    seconds, peaks, imports = zip(*rounds, strict=True)
    return min(seconds), int(max(peaks)), int(max(imports))


def main() -> None:
    """The command."""
    for source in sys.argv[1:]:
        size = os.path.getsize(source)
        cells = [source, f"{size / 1e6:.1f}"]
        for self_test in (False, True):
            seconds, peak, imports = measured(source, self_test=self_test)
            cells += [f"{seconds:.2f}", f"{peak / 1e6:.0f} ({peak / size:.1f})"]
        print("| " + " | ".join([*cells, f"{imports / 1e6:.0f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
