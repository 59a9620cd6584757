"""The command line, one command a file.

Results go to stdout, everything else to stderr. Exit code 0: done, or yes; 1: the answer is no; 2:
it could not be done. No command asks a question or overwrites a file without ``--force``.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

INTERRUPTED = 130  # as a shell counts a process that SIGINT ended


def main() -> None:
    """The entry point. Ctrl-C during the imports ends the process at once: code that imports may
    print an interrupt as a traceback, or lose it. ``Commands.get_command`` ends this.
    """
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))

        from tokexport.cli.app import commands

        commands(prog_name="tokexport")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
