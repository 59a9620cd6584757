"""What the commands share: where output goes, and how numbers and tables look."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tokexport.escape import visible

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON object."
)


def say(text: str) -> None:
    """Prints a result, for a person."""
    click.echo(visible(text))


def say_json(result: object, *, err: bool = False) -> None:
    """Prints a result, for a program: one line of ASCII."""
    click.echo(json.dumps(result), err=err)


def note(text: str) -> None:
    """Says something that is not the result."""
    click.echo(visible(text), err=True)


def table(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Lays out rows in columns; a column of numbers is flush right.

    >>> print(table([("a", "1"), ("bcd", "234")]))
    a      1
    bcd  234
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    numeric = [
        all(cell[:1].isdigit() or cell in ("", "-") for cell in column) for column in columns
    ]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def size(count: int) -> str:
    """A number of bytes for a person; 1 MB is 1,000,000 bytes.

    >>> size(5_243_112), size(812)
    ('5.24 MB', '812 B')
    """
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.2f} MB"


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "token"), plural(151643, "token")
    ('1 token', '151,643 tokens')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class ProgressLine:
    """One line on stderr that is written over and over; nothing where stderr is not a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, check: str, done: int, total: int) -> None:
        """Shows how far a check has come."""
        if self._shown:
            filled = 20 * done // total if total else 20
            line = f"[{'=' * filled}{' ' * (20 - filled)}] {check}: {done:,} of {total:,}"
            click.echo(f"\r{visible(line)[:78]:<78}", err=True, nl=False)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            click.echo(f"\r{'':<78}\r", err=True, nl=False)


def read_bytes(path: str | None) -> bytes:
    """The bytes of a file, or of standard input where there is none: as they are, nothing stripped."""
    if path is None or path == "-":
        return sys.stdin.buffer.read()
    return Path(path).read_bytes()
