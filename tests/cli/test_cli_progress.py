"""The progress of a command is one line of the terminal, however narrow that is."""

import os
import struct
import sys
from contextlib import suppress

import pytest

from tokexport.cli.console import ProgressLine

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")


@pytest.mark.parametrize(("columns", "width"), [(40, 39), (200, 78), (0, 78)])
def test_a_line_is_narrower_than_the_terminal(
    columns: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("4H", 20, columns, 0, 0))
    with open(side, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressLine() as line:
            line("a step with a long name, longer than a narrow terminal has columns", 3, 1_000_000)
    written = b""
    with suppress(OSError):  # at the end, Linux raises an error
        while part := os.read(terminal, 1000):
            written += part
    os.close(terminal)
    assert [len(part) for part in written.split(b"\r")] == [0, width, width, 0]
