"""A library under measurement: in this process, or in another one, with a different version of a
package.

Both have the same interface: the results of a kind of work for each input, and the CPU and
wall-clock seconds for all of them. The process exchanges pickles over its standard streams.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fast_peers import Subject, load


@dataclass(frozen=True)
class Timed:
    """The results, one per input, and the time they took."""

    results: list[Any]
    cpu: float
    wall: float


class Worker:
    """A library in this process."""

    def __init__(self, name: str, subject: Subject) -> None:
        self.name = name
        self._calls = load(name, subject)

    def kinds(self) -> list[str]:
        """The kinds of work that it supports."""
        return list(self._calls)

    def run(self, kind: str, inputs: Sequence[Any]) -> Timed:
        """Does one kind of work on each input."""
        call = self._calls[kind]
        wall, cpu = time.perf_counter(), time.process_time()
        results = [call(each) for each in inputs]
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return Timed(results, cpu, wall)


class RemoteWorker:
    """A library in another process, whose packages come from ``folder``."""

    def __init__(self, label: str, name: str, subject: Subject, folder: Path) -> None:
        self.name = label
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(folder)},
        )
        self._kinds: list[str] = self._ask((name, subject))

    def kinds(self) -> list[str]:
        """The kinds of work that it supports."""
        return self._kinds

    def run(self, kind: str, inputs: Sequence[Any]) -> Timed:
        """Does one kind of work on each input."""
        timed: Timed = self._ask((kind, inputs))
        return timed

    def _ask(self, question: object) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        pickle.dump(question, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)


def main() -> None:
    """The other process: answers until its standard input ends."""
    sys.modules["worker"] = sys.modules["__main__"]  # so that both sides pickle the same Timed
    Timed.__module__ = "worker"
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    name, subject = pickle.load(questions)
    worker = Worker(name, subject)
    answer: object = worker.kinds()
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        try:
            kind, inputs = pickle.load(questions)
        except EOFError:
            return
        answer = worker.run(kind, inputs)


if __name__ == "__main__":
    main()
