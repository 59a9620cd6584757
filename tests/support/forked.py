"""Python processes that begin with what takes long to import: each is forked from one that has
imported it and done nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path


class Forks:
    """The process that forks; it ends with :meth:`close`."""

    def __init__(self, modules: Sequence[str], folder: Path) -> None:
        self._output = folder / "stdout", folder / "stderr"
        self._process = subprocess.Popen(
            [sys.executable, __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, code: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """What `python -c CODE ARGUMENTS` does in a folder, with this environment and no other."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output = [str(path) for path in self._output]
        print(
            json.dumps([code, arguments, str(folder), dict(environment), output]),
            file=self._process.stdin,
            flush=True,
        )
        ended = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(
            ["-c", *arguments], ended, *(path.read_text("utf-8") for path in self._output)
        )

    def close(self) -> None:
        """Ends it."""
        self._process.communicate()


def serve() -> str | None:
    """Forks for every line of stdin, and says how the fork has ended. In a fork: the code that it
    is for.
    """
    for line in sys.stdin:
        code, arguments, folder, environment, output = json.loads(line)
        fork = os.fork()
        if fork == 0:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            for number, path in enumerate(output, 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.argv = ["-c", *arguments]
            return str(code)
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
    return None


if __name__ == "__main__":
    for module in sys.argv[1:]:
        with suppress(ImportError):  # a fork that needs it says so
            import_module(module)
    wanted = serve()
    if wanted is not None:
        exec(wanted, {"__name__": "__main__"})
