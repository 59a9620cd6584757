"""Runs all benchmarks, one after the other, and writes the tables and the plot of the documents:

    pip install '.[verify]' -r benchmarks/requirements.txt
    TOKEXPORT_SHARED=FOLDER python benchmarks [--print]

Ten minutes on a quiet machine. Each program can be run alone, too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from texts import shared_tokenizers

FOLDER = Path(__file__).resolve().parent
PROGRAMS = ("report", "core", "documents", "calls", "threads", "converting")
# Next to tokenizers 0.23, which the tests use, 1.0 is measured in a process of its own.
RELEASE_CANDIDATE = "tokenizers==1.0.0rc3"


def install(package: str, folder: str) -> None:
    """Installs a package without its dependencies into a folder."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", folder, package], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--print", action="store_true", help="write no document")
    options = ["--print"] if parser.parse_args().print else []
    shared_tokenizers()  # says what to set, if it is not set
    with tempfile.TemporaryDirectory() as candidate:
        install(RELEASE_CANDIDATE, candidate)
        for name in PROGRAMS:
            begin = time.monotonic()
            print(f"{name}.py", file=sys.stderr, flush=True)
            more = ["--rc", candidate] if name == "calls" else []
            subprocess.run([sys.executable, FOLDER / f"{name}.py", *options, *more], check=True)
            print(f"{name}.py: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
