"""The command line: one command per file.

Results go to stdout, everything else to stderr. Exit code 0: success; 1: ``verify`` or ``diff``
found a difference, or ``inspect`` a refusal; 2: failure. No command asks a question, and none
overwrites a file without ``--force``.
"""

import os
import sys

__all__ = ["main"]

INTERRUPTED = 130  # as shells report a process killed by SIGINT


def main() -> None:
    """The entry point. Ctrl-C during the imports ends the process at once, because an interrupted
    import may print a traceback, or lose the interrupt. ``Commands.get_command`` ends this.
    """
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))

        from tokexport.cli.app import commands

        commands(prog_name="tokexport")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:  # in a clone, before its installation
        problem = f"{error.name} is not installed; run `pip install .` in the clone"
        print(f"tokexport: {problem}", file=sys.stderr)
        sys.exit(2)
