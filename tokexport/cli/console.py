"""Shared by the commands: where output goes, and how values, numbers and tables are formatted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from tokexport.escape import escape, visible

SCHEMA_VERSION = 2  # of the output of --json: docs/JSON.md

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON object."
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print only errors, and the object of --json."
)
Result = TypeVar("Result")


def say(text: str, *, err: bool = False) -> None:
    """Prints a result or a note for a person."""
    click.echo(visible(text), err=err)


def say_json(command: str, values: Mapping[str, object], *, err: bool = False) -> None:
    """Prints a result for a program: one line of ASCII."""
    document = {"schema_version": SCHEMA_VERSION, "command": command, **values}
    click.echo(json.dumps(document, allow_nan=False), err=err)


def json_start(command: str) -> str:
    """The beginning of such a document, before its other members."""
    return f'{{"schema_version": {SCHEMA_VERSION}, "command": "{command}"'


def write_joined(items: Iterator[list[str]], between: str) -> None:
    """Writes items as they arrive, with a text between them."""
    before = ""
    for part in filter(None, items):
        sys.stdout.write(before + between.join(part))
        before = between


@dataclass(frozen=True, slots=True)
class Output:
    """Where the options of a command send its result."""

    quiet: bool
    as_json: bool

    def give(
        self,
        command: str,
        values: Mapping[str, object],
        text: str,
        notes: Iterable[str] = (),
        *,
        err: bool = False,
    ) -> None:
        """Prints the result for a program or a person; ``err``: to stderr, where notes go."""
        if self.as_json:
            say_json(command, values, err=err)
        elif not self.quiet:
            if text:
                say(text, err=err)
            for sentence in notes:
                say(sentence, err=True)


def output_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Adds --quiet and --json, passed to the command as ``output``."""

    @wraps(command)
    def packed(*arguments: Any, quiet: bool, as_json: bool, **others: Any) -> Result:
        return command(*arguments, output=Output(quiet, as_json), **others)

    return quiet_option(json_option(packed))


def bytes_value(content: bytes) -> dict[str, object]:
    """Bytes for a program: as text (None if they are not UTF-8) and in hexadecimal."""
    try:
        text: str | None = content.decode()
    except UnicodeDecodeError:
        text = None
    return {"text": text, "bytes": content.hex()}


def words(value: object) -> str:
    """Formats a JSON value for a person; absent and false values of an object are left out.

    >>> words({"special": True, "lstrip": False, "stop_ids": [1, 2], **bytes_value(b"a")})
    '"a" (special, stop ids 1, 2)'
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, Mapping):
        content = value.get("bytes")
        rest = ", ".join(
            (name if "." in name else name.replace("_", " "))
            + ("" if inner is True else f" {words(inner)}")
            for name, inner in value.items()
            if name not in ("text", "bytes") and not is_absent(inner)
        )
        if content is None:
            return rest or "none"
        return quoted(bytes.fromhex(content)) + (f" ({rest})" if rest else "")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(words, value)) or "none"
    return str(value)


def is_absent(value: object) -> bool:
    """Whether an object's value tells a person nothing: None, false or empty, but not 0."""
    return value is None or value is False or value in ((), [])


def quoted(content: bytes) -> str:
    return f'"{escape(content)}"'


def table(rows: Sequence[Sequence[str]]) -> str:
    """Lays out rows in columns; columns of numbers are right-aligned.

    >>> print(table([("a", "1"), ("bcd", "234")]))
    a      1
    bcd  234
    """
    columns = []
    for cells in zip(*rows, strict=True):
        width = max(map(len, cells))
        is_numeric = all(cell[:1].isdigit() or cell in ("", "-") for cell in cells)
        columns.append([cell.rjust(width) if is_numeric else cell.ljust(width) for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def size(count: int) -> str:
    """Formats a number of bytes for a person; 1 MB is 1,000,000 bytes.

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


def terminal_width() -> int:
    """The columns of the terminal that stderr is, less one, so that no line wraps; at most 78."""
    with suppress(OSError, ValueError):
        return min(78, (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1)
    return 78


@contextmanager
def resumable(applies: bool) -> Iterator[None]:
    """Says on a terminal that the work goes on if the command is repeated after an interrupt."""
    try:
        yield
    except KeyboardInterrupt:
        if applies and sys.stderr.isatty():
            click.echo("Run the same command again to resume.", err=True)
        raise


class ProgressLine:
    """One line on stderr, rewritten in place; writes nothing if stderr is not a terminal."""

    def __init__(self, quiet: bool = False) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._width = 0

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Shows the current step, and its progress if known."""
        if self._shown:
            filled = 20 * done // total if total else 0
            bar = f"[{'=' * filled:<20}] {step}: {done:,} of {total:,}" if total else f"{step} ..."
            width = self._width = terminal_width()
            click.echo(f"\r{visible(bar)[:width]:<{width}}", err=True, nl=False)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo(f"\r{'':<{self._width}}\r", err=True, nl=False)
