"""The command line, one command a file.

Results go to stdout, everything else to stderr. Exit code 0: done, or yes; 1: the answer is no; 2:
it could not be done. No command asks a question or overwrites a file without ``--force``.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module

import click

from tokexport.errors import TokexportError
from tokexport.escape import visible

__all__ = ["main"]

COMMANDS = ("convert", "verify", "inspect", "encode", "decode", "diff", "bench", "demo")
COULD_NOT = 2
INTERRUPTED = 130  # as a shell counts a process that SIGINT ended
BROKEN_PIPE = 141  # the same for SIGPIPE


class Commands(click.Group):
    """Finds a command in the module of its name, and turns expected errors into a sentence on
    stderr and exit code 2.

    Only the command that was asked for is imported: `encode` needs no compiler.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"tokexport.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command that was asked for."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader has gone (`| head`). Python would complain again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        except (TokexportError, OSError) as error:
            click.echo(f"tokexport: {visible(str(error))}", err=True)
            ctx.exit(COULD_NOT)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit code: 0 done, or yes; 1 the answer is no; 2 it could not be done. Every command takes"
        " --json."
    ),
)
@click.version_option(package_name="tokexport", message="%(package)s %(version)s")
def commands() -> None:
    """Turns a model's tokenizer into one small file that a runtime maps into memory and uses as it
    is, with exactly the ids that the original library gives.

    \b
    tokexport demo                                       all of this on a real tokenizer
    tokexport convert tokenizer.json -o tokenizer.bin    make the file
    tokexport verify tokenizer.bin --against tokenizer.json
    tokexport encode tokenizer.bin "Hello, world"
    tokexport decode tokenizer.bin 9906 11 1917
    """


def main() -> None:
    """The entry point. An error that nobody expected is a bug: it shows its traceback, and exits
    with 2, because 1 would be an answer.
    """
    try:
        commands(prog_name="tokexport")
    except Exception:
        traceback.print_exc()
        sys.exit(COULD_NOT)
