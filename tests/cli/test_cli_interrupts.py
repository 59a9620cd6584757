"""A signal ends a command without a traceback, even during imports, and without a file."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from runtime_samples import content

WAYS = {"module": ["-m", "tokexport"], "script": ["-c", "from tokexport.cli import main; main()"]}

# Python's own startup shows a traceback, which no program can prevent, so interrupts come after it.
# The program writes the name of each module to stderr before importing it, and is interrupted at
# one of these imports.
START = """
import os, signal, sys

class Finder:
    imported = []

    def find_spec(self, name, path=None, target=None):
        if name == "tokexport.cli.app" or self.imported:
            self.imported.append(name)
            os.write(2, f"import {name}\\n".encode())
            if os.environ["INTERRUPTED"] in (name, str(len(self.imported))):
                os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(autouse=True)
def signals_not_ignored() -> Iterator[None]:
    """Shells make background processes ignore SIGINT, nohup SIGHUP, and children inherit this."""
    handlers: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def start(folder: Path, way: str, interrupted: int | str = 0, *command: str, **streams: Any) -> Any:
    """A command, or one that reads its standard input, interrupted at an import (0: at none)."""
    (folder / "sitecustomize.py").write_text(START)
    (folder / "tokenizer.bin").write_bytes(content("ranks"))
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, *WAYS[way], *(command or ["encode", str(folder / "tokenizer.bin")])],
        env={**os.environ, "PYTHONPATH": path, "INTERRUPTED": str(interrupted)},
        **{**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE), **streams},
    )


def messages(stderr: bytes) -> list[bytes]:
    return [line for line in stderr.splitlines() if line and not line.startswith(b"import ")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("milliseconds", [0, 10, 30, 60, 100, 150, 300])
def test_an_interrupt_at_any_time_shows_no_traceback(
    milliseconds: int, way: str, tmp_path: Path
) -> None:
    with start(tmp_path, way) as process:
        assert process.stderr.readline() == b"import tokexport.cli.app\n"
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, messages(stderr)) == (130, b"", [])


def test_an_interrupt_at_any_import_shows_no_traceback(tmp_path: Path) -> None:
    with start(tmp_path, "module") as process:
        stdout, stderr = process.communicate(b"hello", timeout=60)
    assert (process.returncode, messages(stderr)) == (0, [])
    assert stdout
    count = len(stderr.splitlines())
    assert count > 50
    for interrupted in {*range(1, count, count // 12), count - 1, count}:
        with start(tmp_path, "module", interrupted) as process:
            stdout, stderr = process.communicate(b"hello", timeout=60)
        outcome = (process.returncode, stdout, messages(stderr))
        assert outcome == (130, b"", []), stderr.splitlines()[interrupted - 1]


# Interrupted where each is at work.
@pytest.mark.parametrize(
    ("command", "at", "resumes"),
    [
        ("tokenize tokenizer.bin a.txt -o out", "tokexport.runtime.batches", True),
        ("tokenize tokenizer.bin - -o out", "tokexport.runtime.batches", False),
        ("count a.txt -o out", "tokexport.file.write", True),
    ],
)
def test_an_interrupted_command_that_can_resume_says_so_on_a_terminal(
    command: str, at: str, resumes: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("the light")
    master, slave = pty.openpty()
    with (tmp_path / "a.txt").open() as text:
        how: dict[str, Any] = {"cwd": tmp_path, "stdin": text, "stderr": slave}
        process = start(tmp_path, "module", at, *command.split(), **how)
    with process:
        os.close(slave)
        shown = b""
        with suppress(OSError):  # the other side is closed
            while part := os.read(master, 65536):
                shown += part
    os.close(master)
    assert process.returncode == 130
    assert (b"Run the same command again to resume." in shown) == resumes


def test_an_interrupt_that_the_caller_ignores_is_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start(tmp_path, "module", 1)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        stdout, stderr = process.communicate(b"hello", timeout=60)
    assert (process.returncode, messages(stderr)) == (0, [])
    assert stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_removes_the_file_that_it_writes(
    number: int, tmp_path: Path
) -> None:
    tokenizer, model, folder = (tmp_path / name for name in ("t.bin", "m.safetensors", "out"))
    tokenizer.write_bytes(content("ranks"))
    size = 1 << 33  # of a sparse file: takes seconds to copy, and no space
    tensor = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    header = json.dumps({"weights": tensor}).encode()
    model.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(model, 8 + len(header) + size)
    folder.mkdir()
    words = (*WAYS["module"], "embed", str(tokenizer), str(model), "-o", str(folder / "it"))
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE) as process:
        while not any(folder.iterdir()):
            time.sleep(0.001)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, messages(stderr)) == (128 + number, [])
    assert not any(folder.iterdir())
