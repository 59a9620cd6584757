"""Builds and runs the C programs of ``tests/c`` with the C runtime, as strictly as the compilers can."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

from repository import ROOT

RUNTIME: Final = ROOT / "formats" / "tokexport"
PROGRAMS: Final = ROOT / "tests" / "c"
GOLDEN: Final = tuple(str(path) for path in sorted((RUNTIME / "golden").glob("*.bin")))

COMPILERS: Final = tuple(name for name in ("gcc", "clang") if shutil.which(name))
STRICT: Final = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic")
SANITIZED: Final = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# Machines of another byte order and of another word size, as far as their compilers and emulators are there.
EMULATED: Final = {"s390x-linux-gnu-gcc": "qemu-s390x", "arm-linux-gnueabihf-gcc": "qemu-arm"}


def compile_c(compiler: str, sources: list[Path], target: Path, *flags: str) -> Path:
    """Compiles C files; a warning is an error. ``target`` is given back."""
    command = [compiler, *STRICT, *flags, f"-I{RUNTIME}", *map(str, sources), "-o", str(target)]
    run(command)
    return target


def build(compiler: str, name: str, folder: Path, *flags: str) -> Path:
    """A program of ``tests/c``, with the runtime linked in."""
    sources = [PROGRAMS / f"{name}.c", RUNTIME / "tokexport.c"]
    # support.h is shared, and no program uses all of it.
    return compile_c(compiler, sources, folder / f"{name}-{compiler}", "-Wno-unused-function", *flags)


def run(command: list[str], *, stdin: bytes = b"") -> str:
    """Runs a command and gives what it printed; fails with what it wrote to standard error."""
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=900)
    assert done.returncode == 0, f"{' '.join(command[:3])} ...: {done.returncode}\n{done.stderr.decode()[-4000:]}"
    return done.stdout.decode()
