"""The command line, one command a file.

Results go to stdout, everything else to stderr. Exit code 0: done, or yes; 1: the answer is no; 2:
it could not be done. No command asks a question or overwrites a file without ``--force``.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130  # as a shell counts a process that SIGINT ended


def main() -> None:
    """The entry point. Imports are inside it, so that Ctrl-C during them shows no traceback."""
    try:
        from tokexport.cli.app import commands

        commands(prog_name="tokexport")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
