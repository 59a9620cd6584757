"""Runs independent tasks in processes; results are in the order of the tasks."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from tokexport.errors import TokexportError

Result = TypeVar("Result")


def in_order(tasks: Sequence[Callable[[], Result]], jobs: int) -> Iterator[Result]:
    """The result of each task. With more than one job, tasks run in forked processes, so that only
    results are pickled; or in this process if the platform has no fork.

    Raises TokexportError for an error of a task in another process.

    >>> list(in_order([lambda: 1, lambda: 2], jobs=2))
    [1, 2]
    """
    if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from (task() for task in tasks)
        return
    context = multiprocessing.get_context("fork")
    processes, connections = [], []
    try:
        for job in range(min(jobs, len(tasks))):
            ours, theirs = context.Pipe(duplex=False)
            processes.append(context.Process(target=_work, args=(tasks[job::jobs], theirs)))
            processes[-1].start()
            theirs.close()
            connections.append(ours)
        for number in range(len(tasks)):
            result, error = connections[number % jobs].recv()
            if error is not None:
                raise error
            yield result
    except EOFError as error:
        raise TokexportError("a comparison process ended early") from error
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _work(tasks: Sequence[Callable[[], Any]], connection: Connection) -> None:
    """Runs tasks and sends the result or the error of each."""
    # The parent ends this process, by SIGTERM. The command line catches all three.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # parallelism is not safe after a fork
    for task in tasks:
        try:
            connection.send((task(), None))
        except TokexportError as error:
            connection.send((None, error))
