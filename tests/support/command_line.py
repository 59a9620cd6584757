"""The types of the fixtures that run `tokexport` and make small files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# Makes a path out of the name of a small tokenizer.
PathOf = Callable[[str], Path]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """What it printed."""
        return self.stdout.decode()


class Run(Protocol):
    """Runs `tokexport` with arguments and standard input."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Outcome: ...
