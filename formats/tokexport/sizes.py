"""Measures the sizes that the first comment of ``tokexport.h`` states, and writes them there.

Run this after a change of the runtime, on a machine where gcc compiles for x86-64;
``tests/c/test_c_sizes.py`` fails if it was forgotten.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE / "tokexport.h"
NUMBER = r"(?<= )\d[\d,]*(?=\s)|^\d[\d,]*(?=\s)"
SENTENCES = {
    r"\d+,\d+ bytes\s+become \d+,\d+ on x86-64": "{tkx:,} bytes become {small_tkx:,} on x86-64",
    r"leave \d+\s+KB of code of \d+ \(": "leave {small_code} KB of code of {code} (",
}


def measured() -> dict[str, int]:
    """``tkx``, ``code``: bytes of a tkx, KB of code. ``small_code``: with all macros;
    ``small_tkx``: with TKX_NO_NORMALIZER.
    """
    macros = set(re.findall(r"TKX_NO_\w+", HEADER.read_text(encoding="utf-8")))
    return {
        "tkx": _bytes_of_a_tkx(),
        "small_tkx": _bytes_of_a_tkx("-DTKX_NO_NORMALIZER"),
        "code": _code(),
        "small_code": _code(*(f"-D{macro}" for macro in sorted(macros))),
    }


def stated(header: str, sizes: dict[str, int]) -> str:
    """The header with these sizes in its comment, whose lines are filled by hand."""
    for pattern, sentence in SENTENCES.items():
        numbers = iter(re.findall(NUMBER, sentence.format(**sizes)))
        found = re.search(pattern, header)
        if found is None:
            raise ValueError(f"the comment of {HEADER.name} has no sentence like {pattern!r}")
        new = re.sub(NUMBER, lambda _: next(numbers), found[0])  # noqa: B023
        header = header.replace(found[0], new)
    return header


def _compiled(source: str, *flags: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "made.o"
        options = ["-Os", "-fno-asynchronous-unwind-tables", f"-I{HERE}", *flags]
        command = ["gcc", "-std=c99", *options, "-x", "c", "-c", "-", "-o", str(target)]
        subprocess.run(command, input=source.encode(), check=True)
        return subprocess.run(["size", str(target)], capture_output=True, check=True).stdout


def _code(*flags: str) -> int:
    printed = _compiled('#include "tokexport.c"\n', *flags).decode()
    return round(int(printed.splitlines()[1].split()[0]) / 1000)


def _bytes_of_a_tkx(*flags: str) -> int:
    printed = _compiled('#include "tokexport.h"\nchar array[sizeof(tkx)] = {1};\n', *flags).decode()
    return int(printed.splitlines()[1].split()[1])


if __name__ == "__main__":
    text = stated(HEADER.read_text(encoding="utf-8"), measured())
    HEADER.write_text(text, encoding="utf-8", newline="\n")
