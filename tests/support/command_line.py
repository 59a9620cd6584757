"""The types of the fixtures that run `tokexport` and make small files."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

# Returns the path of a small tokenizer by name.
PathOf = Callable[[str], Path]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode()

    @property
    def values(self) -> Any:
        """The document of --json; if the command fails, that of its error."""
        return json.loads(self.refusal if self.code == 2 else self.stdout)

    @property
    def refusal(self) -> str:
        """The errors of a command that has exit code 2 and prints nothing else."""
        assert (self.code, self.stdout) == (2, b""), self
        return self.stderr


class Run(Protocol):
    """Runs `tokexport` with arguments and standard input."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Outcome: ...
