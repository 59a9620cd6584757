"""A process for each tokenizer, so that a crash, even in native code, does not stop the run."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection

from .measure import Job, Outcome, measure


def measure_all(jobs: Sequence[Job], at_once: int) -> Iterator[Outcome]:
    """The outcomes in the order of ``jobs``, each as soon as it and all earlier ones are known."""
    with ThreadPoolExecutor(at_once) as threads:
        yield from threads.map(measure_alone, jobs)


def measure_alone(job: Job) -> Outcome:
    """Measures in a new process. If it ends without a result, it has crashed."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, job))
    process.start()
    sender.close()
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        process.join()
        ending = f"the process ended with the code {process.exitcode} and without an answer"
        return Outcome(job.found.name, job.found.pattern, "crashed", ending)
    process.join()
    return outcome


def _answer(sender: Connection, job: Job) -> None:
    sender.send(measure(job))
