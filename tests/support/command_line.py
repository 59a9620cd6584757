"""The types of the fixtures that run `tokexport` and make small files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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
        """The output as text."""
        return self.stdout.decode()


class Run(Protocol):
    """Runs `tokexport` with arguments and standard input."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Outcome: ...
