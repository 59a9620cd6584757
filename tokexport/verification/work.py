"""Runs independent tasks in processes; the results come in the order of the tasks."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from tokexport.errors import TokexportError

Result = TypeVar("Result")


def in_order(tasks: Sequence[Callable[[], Result]], jobs: int) -> Iterator[Result]:
    """The result of each task. With more than one job they run in processes that are forked, so
    that nothing but results is pickled; in this process where the platform has no fork.

    Raises TokexportError for an error of a task in another process.

    >>> list(in_order([lambda: 1, lambda: 2], jobs=2))
    [1, 2]
    """
    if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from (task() for task in tasks)
        return
    context = multiprocessing.get_context("fork")
    taken = context.Value("l", 0)
    processes, connections, results = [], [], dict[int, Result]()
    try:
        for _ in range(min(jobs, len(tasks))):
            ours, theirs = context.Pipe(duplex=False)
            processes.append(context.Process(target=_work, args=(tasks, taken, theirs)))
            processes[-1].start()
            theirs.close()
            connections.append(ours)
        for number in range(len(tasks)):
            while number not in results:
                for ready in wait(connections):
                    _receive(ready, connections, results)
            yield results.pop(number)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _receive(ready: Any, connections: list[Any], results: dict[int, Any]) -> None:
    try:
        number, result, sentence = ready.recv()
    except EOFError as error:  # no tasks are left, or the process has crashed
        connections.remove(ready)
        if not connections:
            raise TokexportError("a process that compared has ended early") from error
        return
    if sentence is not None:
        raise TokexportError(sentence)
    results[number] = result


def _work(tasks: Sequence[Callable[[], Any]], taken: Any, connection: Connection) -> None:
    """Runs tasks that no other process has taken, and sends (number, result, error)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # which is not safe after a fork
    while True:
        with taken.get_lock():
            number, taken.value = taken.value, taken.value + 1
        if number >= len(tasks):
            return
        try:
            connection.send((number, tasks[number](), None))
        except TokexportError as error:
            connection.send((number, None, str(error)))
