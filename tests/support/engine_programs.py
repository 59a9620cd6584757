"""Builds the engine of ``examples/engine``, and the programs that test its parts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from c_harness import COMPILERS, Builder, compile_c, run_for_bytes
from repository import ROOT

ENGINE: Final = ROOT / "examples" / "engine"
PROGRAMS: Final = ROOT / "tests" / "engine"
_PARTS: Final = ("weights", "matrix", "threads", "transformer")
_FLAGS: Final = ("-D_POSIX_C_SOURCE=200809L", f"-I{ENGINE}")
_LIBRARIES: Final = ("-lm", "-lpthread")


def built(build: Builder, folder: Path, *flags: str) -> Path:
    units = build.units(COMPILERS[0], *flags)
    return _compiled([*sorted(ENGINE.glob("*.c")), *units], folder / "engine", *flags)


def logits_program(folder: Path, *flags: str) -> Path:
    parts = [ENGINE / f"{part}.c" for part in _PARTS]
    return _compiled([PROGRAMS / "logits.c", *parts], folder / "logits", *flags)


def stops_program(folder: Path, *flags: str) -> Path:
    sources = [PROGRAMS / "stops.c", ENGINE / "stops.c"]
    return _compiled(sources, folder / "stops", *flags)


def _compiled(sources: list[Path], target: Path, *flags: str) -> Path:
    return compile_c(COMPILERS[0], sources, target, *flags, *_FLAGS, libraries=_LIBRARIES)


def logits(
    program: Path, weights: Path, ids: Sequence[int], threads: int = 1
) -> npt.NDArray[np.float32]:
    """The logits after each id, one row per id."""
    content = output(program, str(weights), str(threads), stdin=" ".join(map(str, ids)))
    return np.frombuffer(content, np.float32).reshape(len(ids), -1)


def output(program: Path, *arguments: str, stdin: str = "") -> bytes:
    """The output of a program, which must succeed."""
    return run_for_bytes([program, *arguments], stdin=stdin.encode())
