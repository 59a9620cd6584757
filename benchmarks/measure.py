"""How speed is measured: libraries alternate, on text that they have not seen, with ids compared.

A text is cut into documents of 2,000 characters, and these are grouped into slices. In each round
every library encodes the same slice, so that all of them see the machine in the same state. No
slice is used twice, since a corpus does not repeat itself either. The ids of every timed call are
compared; if they differ, nothing is reported.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from peers import Encode
from texts import ONE_LETTER, TEXTS

DOCUMENT = 2_000  # characters
SLICE = 150_000  # bytes of UTF-8
ROUNDS = 4  # after one that only fills caches
CALL = 300  # characters of a short text

T = TypeVar("T")


@dataclass(frozen=True)
class Speed:
    """For one text, in the order of the libraries: MB of UTF-8 per second (medians), and how many
    times as fast the first library is (medians of the ratios of each round).
    """

    rates: tuple[float, ...]
    ratios: tuple[float, ...]


def slices(name: str) -> list[list[str]]:
    """The slices of a text, each a list of documents. The text of a single letter is always one
    document, since it tests whether time is linear in its length.
    """
    text = TEXTS[name]()
    if name == ONE_LETTER:
        return [[text]] * (ROUNDS + 1)
    found: list[list[str]] = []
    size = SLICE
    for start in range(0, len(text), DOCUMENT):
        if size >= SLICE:
            found.append([])
            size = 0
        document = text[start : start + DOCUMENT]
        found[-1].append(document)
        size += len(document.encode())
    return found[: ROUNDS + 1]


def measure(encoders: Sequence[tuple[str, Encode]], parts: Sequence[list[str]]) -> Speed:
    """Times encoders on slices; they take turns. The first slice fills caches, uncounted."""
    times: list[list[float]] = [[] for _ in encoders]
    for number, documents in enumerate(parts):
        order = range(len(encoders))
        results: dict[int, list[list[int]]] = {}
        for which in order if number % 2 else reversed(order):
            results[which], seconds = timed(partial(encoders[which][1], documents))
            if number:
                times[which].append(seconds)
        for which in order:
            if results[which] != results[0]:
                sys.exit(f"{encoders[which][0]} gives other ids; nothing is reported")
    sizes = [sum(len(document.encode()) for document in part) / 1e6 for part in parts[1:]]
    return Speed(
        tuple(
            statistics.median(size / seconds for size, seconds in zip(sizes, record, strict=True))
            for record in times
        ),
        tuple(
            statistics.median(theirs / ours for theirs, ours in zip(record, times[0], strict=True))
            for record in times
        ),
    )


def measure_calls(encoders: Sequence[tuple[str, Encode]], texts: Sequence[str]) -> list[float]:
    """The median time of one call on a short text, in microseconds; the encoders alternate."""
    times: list[list[float]] = [[] for _ in encoders]
    for text in texts:
        for record, (_, encode) in zip(times, encoders, strict=True):
            record.append(timed(partial(encode, [text]))[1])
    return [statistics.median(record) * 1e6 for record in times]


def measure_loading(
    libraries: Mapping[str, Callable[[], Encode]],
) -> tuple[list[tuple[str, Encode]], list[float]]:
    """Loads each library once; the times are in milliseconds."""
    loaded = {name: timed(load) for name, load in libraries.items()}
    encoders = [(name, encode) for name, (encode, _) in loaded.items()]
    return encoders, [seconds * 1e3 for _, seconds in loaded.values()]


def timed(action: Callable[[], T]) -> tuple[T, float]:
    """The result of an action, and the CPU seconds that this process spent on it.

    All work is on one thread, so on a quiet machine this equals wall-clock time; on a busy one it
    excludes other processes.
    """
    begin = time.process_time()
    result = action()
    return result, time.process_time() - begin
