"""Builds and runs the programs of ``tests/c``, as strictly as the compilers can."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest
from repository import ROOT, SLOW, made_once

RUNTIME: Final = ROOT / "formats" / "tokexport"
PROGRAMS: Final = ROOT / "tests" / "c"
GOLDEN: Final = tuple(str(path) for path in sorted((RUNTIME / "golden").glob("*.bin")))

COMPILERS: Final = tuple(name for name in ("gcc", "clang") if shutil.which(name))
NEEDS_COMPILER: Final = pytest.mark.skipif(not COMPILERS, reason="no C compiler")
STRICT: Final = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic")
# Unoptimised code keeps every access of the source, and compiles in half the time; the many rounds
# of TOKEXPORT_SLOW need faster code.
SANITIZED: Final = (
    "-g",
    "-O1" if SLOW else "-O0",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)

# Machines of another byte order and word size, if their compilers and emulators exist.
EMULATED: Final = {"s390x-linux-gnu-gcc": "qemu-s390x", "arm-linux-gnueabihf-gcc": "qemu-arm"}
EMULATE: Final = pytest.mark.skipif(
    os.environ.get("TOKEXPORT_EMULATE", "") in ("", "0"),
    reason="needs TOKEXPORT_EMULATE=1: takes minutes",
)


def compile_c(
    compiler: str, sources: list[Path], target: Path, *flags: str, libraries: Sequence[str] = ()
) -> Path:
    """Compiles C files; a warning is an error. Returns ``target``."""
    run([compiler, *STRICT, *flags, f"-I{RUNTIME}", *sources, "-o", target, *libraries])
    return target


class Builder:
    """Builds programs of ``tests/c`` in a folder, with the runtime linked in, and the runtime
    alone.

    Output for the same flags is built once for all processes that share the folder, because
    compiling the runtime takes longer than most tests.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, compiler: str, name: str, *flags: str) -> Path:
        # support.h is shared, and no program uses all of it.
        program = self._compiled(compiler, PROGRAMS / f"{name}.c", "-Wno-unused-function", *flags)
        return self._output_of(name, compiler, *flags, program, *self.units(compiler, *flags))

    def units(self, compiler: str, *flags: str) -> tuple[Path, Path]:
        """The runtime and the optional sections as object files."""
        return self.runtime(compiler, *flags), self.extra(compiler, *flags)

    def runtime(self, compiler: str, *flags: str) -> Path:
        """The runtime as an object file."""
        return self._compiled(compiler, RUNTIME / "tokexport.c", *flags)

    def extra(self, compiler: str, *flags: str) -> Path:
        """The optional sections as an object file."""
        return self._compiled(compiler, RUNTIME / "tokexport_extra.c", *flags)

    def library(self, *flags: str) -> Library:
        """The runtime and the optional sections as a shared library, not optimised."""
        compiler, *options = COMPILERS[0], "-O0", "-fPIC", "-ffreestanding", *flags
        units = self.units(compiler, *options)
        return Library(self._output_of("library.so", compiler, "-shared", *units))

    def _compiled(self, compiler: str, source: Path, *flags: str) -> Path:
        flags = (*STRICT, *flags, f"-I{RUNTIME}", "-c")
        return self._output_of(f"{source.stem}.o", compiler, *flags, source)

    def _output_of(self, name: str, *command: str | Path) -> Path:
        """The output of a command whose last argument is the path to write to."""
        target = self._folder / f"{crc32(repr(command).encode()):08x}-{name}"
        return made_once(target, lambda path: run([*command, "-o", path]))


def run(command: Sequence[str | Path], *, stdin: bytes = b"") -> str:
    """Runs a command and returns its output; on failure shows its standard error."""
    return run_for_bytes(command, stdin=stdin).decode()


def run_for_bytes(command: Sequence[str | Path], *, stdin: bytes = b"") -> bytes:
    """The same, not decoded."""
    result = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=900)
    program, error = " ".join(map(str, command[:3])), result.stderr.decode()[-4000:]
    assert result.returncode == 0, f"{program} ...: {result.returncode}\n{error}"
    return result.stdout


class Work(ctypes.Structure):
    """``tkx_work``."""

    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("memory_size", ctypes.c_size_t),
        ("cache", ctypes.c_void_p),
        ("cache_size", ctypes.c_size_t),
    )


class Library:
    """The runtime as a shared library, with one open file at a time. Every method returns the code
    of the C function and its results.
    """

    def __init__(self, path: Path) -> None:
        self._c = ctypes.CDLL(str(path))
        self._tkx = ctypes.create_string_buffer(8192)
        self._data: ctypes.Array[ctypes.c_char] = ctypes.create_string_buffer(0)
        self._memory = ctypes.create_string_buffer(1 << 20)

    def open(self, content: bytes) -> int:
        self._data = ctypes.create_string_buffer(content, len(content))
        return self.call("tkx_open", self._tkx, self._data, len(content))

    def check(self) -> int:
        return self.call("tkx_check", self._tkx)

    def call(self, name: str, *arguments: object) -> int:
        """Calls a function that returns a code; integers are passed as size_t."""
        sized = (ctypes.c_size_t(value) if isinstance(value, int) else value for value in arguments)
        code: int = getattr(self._c, name)(*sized)
        return code

    def encode(self, text: bytes, function: str = "tkx_encode_special") -> tuple[int, list[int]]:
        code, _, ids = self._ids(function, self._memory, 12 * len(text) + 1, text, len(text))
        return code, ids

    def encode_within(self, text: bytes, memory_size: int) -> tuple[int, int, list[int]]:
        """Encodes a text with ``memory_size`` bytes of work memory; also returns the count."""
        memory = ctypes.create_string_buffer(memory_size)
        return self._ids("tkx_encode", memory, 12 * len(text) + 1, text, len(text))

    def self_test(self) -> tuple[int, int]:
        """Runs the self test; also returns its count."""
        return self._ids("tkx_selftest", self._memory, 4096)[:2]

    def _ids(
        self, function: str, memory: ctypes.Array[ctypes.c_char], room: int, *text: bytes | int
    ) -> tuple[int, int, list[int]]:
        """Calls a function that writes ids and their count, with work memory and room for ids."""
        ids, count = (ctypes.c_uint32 * room)(), ctypes.c_size_t()
        work = Work(ctypes.addressof(memory), len(memory), None, 0)
        end = (ids, room, ctypes.byref(count), ctypes.byref(work))
        code = self.call(function, self._tkx, *text, *end)
        return code, count.value, list(ids[: count.value])

    def decode(self, token: int) -> int:
        return self._decode("tkx_decode", [token])[0]

    def decode_text(self, ids: list[int]) -> tuple[int, str]:
        code, text = self._decode("tkx_decode_text", ids)
        return code, text.decode()

    def _decode(self, function: str, ids: list[int]) -> tuple[int, bytes]:
        out, size = ctypes.create_string_buffer(1000), ctypes.c_size_t()
        array = (ctypes.c_uint32 * len(ids))(*ids)
        end = (out, len(out), ctypes.byref(size))
        code = self.call(function, self._tkx, array, len(ids), *end)
        return code, out.raw[: size.value]

    def start_stream(self) -> int:
        """Starts to decode a stream."""
        return self.call(
            "tkx_decoder_init", ctypes.create_string_buffer(1024), self._tkx, ctypes.c_int(0)
        )

    def look_up(self, name: str, *numbers: int, results: int) -> int:
        """Calls a lookup with u32 arguments and ``results`` output parameters."""
        outputs = [ctypes.byref(ctypes.c_uint64()) for _ in range(results)]
        return self.call(name, self._tkx, *map(ctypes.c_uint32, numbers), *outputs)
