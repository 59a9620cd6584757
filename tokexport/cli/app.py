"""The command group: the list of commands, and how errors are reported."""

import codecs
import io
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any, NoReturn, TextIO

import click

from tokexport.cli.console import SCHEMA_VERSION
from tokexport.cli.options import COPIES, Group
from tokexport.errors import SourceError, TokexportError
from tokexport.escape import visible
from tokexport.version import __version__

COMMANDS = (
    *("convert", "embed", "verify", "inspect", "encode", "decode", "chat-template", "view"),
    *("tokenize", "count", "train", "model", "diff", "bench", "demo"),
)
EXPECTED = (click.ClickException, TokexportError, OSError)
COULD_NOT = 2
BROKEN_PIPE = 141  # as shells report a process killed by SIGPIPE
# Windows has no SIGHUP.
ENDING = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


class Commands(Group):
    """Loads a command from the module of its name, and reports expected errors as a sentence on
    stderr (with --json as an object) and exit code 2.

    Only the requested command is imported: `encode` needs no compiler.
    """

    ended_by = 0  # the number of a signal
    copies: Mapping[str, str] = MappingProxyType({})  # see COPIES

    def end(self, number: int, _: object) -> NoReturn:
        self.ended_by = number
        raise KeyboardInterrupt

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(import_module(f"tokexport.cli.{name}"), name)
        assert isinstance(command, click.Command)
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                # From here on it is an exception, so that unfinished files are removed.
                signal.signal(number, self.end)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command and flushes its output."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        finally:
            self.copies = ctx.meta.get(COPIES, {})
        return result

    def main(self, *positional: Any, **named: Any) -> Any:
        """Runs the requested command and exits. An unexpected error is a bug: its traceback is
        shown, and the exit code is 2, because 1 would be an answer.
        """
        words = list(named.get("args") or sys.argv[1:])
        as_json = "--json" in words[: [*words, "--"].index("--")]
        code: object = COULD_NOT
        try:
            prepare_streams()
            code = super().main(*positional, **{**named, "standalone_mode": False})
        except (KeyboardInterrupt, click.Abort):
            code = 128 + (self.ended_by or signal.SIGINT)  # as shells report it
        except SystemExit as end:
            # click exits with 1 if the reader is gone (`| head`), which would be an answer.
            code = BROKEN_PIPE if end.code == 1 else end.code
        except BaseException as error:  # a panic of a library in Rust is not an Exception
            is_ours = isinstance(error, ImportError) and error.name == "tokexport._core"
            if self.ended_by:  # some libraries turn it into an error of their own
                code = 128 + self.ended_by
            else:
                try:
                    if is_ours or isinstance(error, EXPECTED):
                        report(error, as_json, self.copies)
                    else:
                        traceback.print_exception(error)
                except OSError:  # standard error cannot be written
                    discard(sys.stderr)
        sys.exit(code if isinstance(code, int) else 0)


def as_unicode(error: UnicodeError) -> tuple[str, int]:
    r"""Escapes U+00EF, too, as ``\u00ef``: ``\xef`` is a byte, and Python's own escape of both."""
    assert isinstance(error, UnicodeEncodeError)
    part = error.object[error.start : error.end].encode("ascii", "backslashreplace")
    return part.decode().replace("\\x", "\\u00"), error.end


def prepare_streams() -> None:
    """Escapes characters that an output cannot encode, and makes standard input and output read and
    write all or fail. TokexportError if standard output is closed.
    """
    codecs.register_error("tokexport", as_unicode)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 -- until the process ends
    if sys.stdout is None:
        raise TokexportError("standard output is closed", "redirect it to a file or to /dev/null")
    for file in (sys.stdin, sys.stdout):
        with suppress(AttributeError, OSError, ValueError):  # of a closed one, or in a test
            os.set_blocking(file.fileno(), True)  # otherwise a pause looks like the end of a pipe
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED: such a stream may write only a part
        whole, encoding = io.BufferedWriter(raw), sys.stdout.encoding
        sys.stdout = io.TextIOWrapper(whole, encoding, line_buffering=raw.isatty())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="tokexport")


def was_writing(error: OSError) -> bool:
    """Whether standard output cannot be written. What it has buffered is then discarded. If there
    is nothing left, a command failed where it writes, which it does to no other stream.
    """
    try:
        sys.stdout.flush()
    except OSError:
        discard(sys.stdout)
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals["__name__"]) if frames else ""
    return module.startswith(("click.", "tokexport.cli.", "tokexport.conversion"))


def discard(stream: TextIO) -> None:
    """Otherwise Python would flush it again at exit, fail, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def report(error: BaseException, as_json: bool, copies: Mapping[str, str]) -> None:
    """Prints the message of an error, with the names that were given for temporary files, and
    without the arguments in Python that its advice gives after options: ``--force (force=True)``.
    """

    def named(text: str) -> str:
        for path, name in copies.items():
            text = text.replace(path, name)
        return re.sub(r"(--[a-z-]+)(?: \(\w+=True\)|, \w+=True)", r"\1", text)

    kind = "SourceError" if isinstance(error, SourceError) else type(error).__name__
    if isinstance(error, TokexportError):
        ours = error
    elif isinstance(error, OSError):
        is_output = was_writing(error)
        ours = SourceError(error.strerror or str(error))
        ours.file = error.filename or ("standard output" if is_output else None)
    else:
        said = error.format_message() if isinstance(error, click.ClickException) else str(error)
        ours = TokexportError(said)
    message = named(str(ours))
    if as_json:
        values: dict[str, str | None] = {"kind": kind, "message": message}
        for name in ("file", "path", "problem", "hint"):
            part = getattr(ours, name, None)
            values[name] = part and named(part)
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "error": values}), err=True)
    elif isinstance(error, click.ClickException):
        error.show()
    else:
        click.echo(f"tokexport: {visible(message)}", err=True)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=(
        "Exit code: 0 for success, 1 if verify or diff finds a difference or inspect a refusal, 2"
        " for failure. Every command takes --json, after its name (docs/JSON.md). The file name -"
        " means standard input. Shell completion (for other shells zsh_source or fish_source):"
        '\n\n\b\neval "$(_TOKEXPORT_COMPLETE=bash_source tokexport)"'
    ),
)
@click.version_option(__version__, message="tokexport %(version)s")
def commands() -> None:
    """Turns a model's tokenizer into one small file that a runtime maps into memory and uses in
    place, with exactly the ids of the original library.

    \b
    tokexport demo                                     a tour on a real tokenizer
    tokexport convert tokenizer.json -o tokenizer.bin  make the file
    tokexport verify tokenizer.bin --against tokenizer.json
    tokexport encode tokenizer.bin "Hello, world" | tokexport decode tokenizer.bin
    """
