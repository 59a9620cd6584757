"""A row of edits as one machine with few states: the row grows by one edit at a time, and states
that do the same become one each time.

The states that a row can be in are those of all its machines together, of which most do the same: a
space that the first holds back and one that the second holds back are both a space that is not
written. So a row whose product is too large may still have a small table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tokexport.compiler.decoder.edit_machines import OTHER, Machine, State, end_of, pass_on

MOST_MET: Final = 1 << 14  # states of a product of two, which are met before they become fewer
MOST_STEPS: Final = 1 << 19  # of them, one for each symbol; a few seconds

_Written: TypeAlias = tuple[int, ...]


class TooManyStatesError(Exception):
    """A row can be in more states than there may be."""


@dataclass(frozen=True, slots=True)
class Product:
    """All states that a row can be in, the start first: by state and symbol the ``next`` state and
    what is ``written``; and what is written at the end.
    """

    symbols: tuple[int, ...]
    next: list[list[int]]
    written: list[list[_Written]]
    ends: list[_Written]


def product(machines: Sequence[Machine], most: int) -> Product:
    """The states of a row, met from its start on. TooManyStatesError for more than ``most``."""
    symbols = (OTHER, *sorted(frozenset[int]().union(*(machine.asked for machine in machines))))
    start: tuple[State, ...] = tuple(machine.start for machine in machines)
    numbers = {start: 0}
    queue = [start]
    following: list[list[int]] = []
    written: list[list[_Written]] = []
    for states in queue:
        row = [pass_on(machines, states, [symbol]) for symbol in symbols]
        following.append([numbers.setdefault(after, len(numbers)) for _, after in row])
        for number, (_, after) in zip(following[-1], row, strict=True):
            if number == len(queue):
                queue.append(after)
        if len(queue) > most:
            raise TooManyStatesError
        written.append([tuple(given) for given, _ in row])
    return Product(
        symbols, following, written, [tuple(end_of(machines, states)) for states in queue]
    )


def fewest(machines: Sequence[Machine]) -> Machine:
    """A row as one machine. TooManyStatesError where even two of its machines together have too
    many states to look at.
    """
    one = _as_one(machines[:1])
    for machine in machines[1:]:
        one = _as_one([one, machine])
    return one


def _as_one(machines: Sequence[Machine]) -> Machine:
    symbols = 1 + len(frozenset[int]().union(*(machine.asked for machine in machines)))
    return _machine(_merged(_early(product(machines, min(MOST_MET, MOST_STEPS // symbols)))))


def _early(table: Product) -> Product:
    """The same that writes as early as can be: what a state writes first whatever comes, is written
    before it. States that hold back the same, however it is divided among their machines, are alike
    then.
    """
    sure: list[_Written] = [*table.ends]
    # There is nothing before the start, and a byte that is not asked for is the last that its step
    # writes.
    sure[0] = ()
    for following, written in zip(table.next, table.written, strict=True):
        if OTHER in written[0]:
            sure[following[0]] = ()
    # States whose steps have to be looked at again, and where they are met.
    before: list[list[int]] = [[] for _ in table.next]
    for state, following in enumerate(table.next):
        for after in set(following):
            before[after].append(state)
    waiting = {*range(len(table.next))}
    while waiting:
        state = waiting.pop()
        known = len(sure[state])
        for after, text in zip(table.next[state], table.written[state], strict=True):
            if not sure[state]:
                break
            sure[state] = _shared(sure[state], text + sure[after])
        if len(sure[state]) < known:
            waiting.update(earlier for earlier in before[state] if sure[earlier])
    early = [
        [
            (text + sure[after])[len(sure[state]) :]
            for after, text in zip(following, row, strict=True)
        ]
        for state, (following, row) in enumerate(zip(table.next, table.written, strict=True))
    ]
    ends = [end[len(text) :] for end, text in zip(table.ends, sure, strict=True)]
    return Product(table.symbols, table.next, early, ends)


def _shared(one: _Written, other: _Written) -> _Written:
    """The longest beginning of both."""
    size = next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        None,
    )
    return one[: min(len(one), len(other)) if size is None else size]


def _merged(table: Product) -> Product:
    """The same with one state for all that write the same, whatever comes (Moore's partition
    refinement).
    """
    texts: dict[_Written, int] = {}
    rows = [[*row, end] for row, end in zip(table.written, table.ends, strict=True)]
    written = np.array([[texts.setdefault(text, len(texts)) for text in row] for row in rows])
    following = np.array(table.next)
    blocks = _numbered(written)
    while True:
        finer = _numbered(np.column_stack([blocks, blocks[following]]))
        if finer.max() == blocks.max():
            break
        blocks = finer
    firsts: list[int] = np.unique(blocks, return_index=True)[1].tolist()
    # The start stays the first.
    order = [int(blocks[0]), *(block for block in range(len(firsts)) if block != blocks[0])]
    numbers = np.argsort(order)
    chosen = [firsts[block] for block in order]
    return Product(
        table.symbols,
        numbers[blocks[following[chosen]]].tolist(),
        [table.written[state] for state in chosen],
        [table.ends[state] for state in chosen],
    )


def _numbered(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A number for each row of an array, the same for equal ones."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _machine(table: Product) -> Machine:
    columns = {symbol: column for column, symbol in enumerate(table.symbols)}

    def read(state: State, symbol: int) -> tuple[list[int], State]:
        column = columns.get(symbol, 0)
        written = table.written[state][column]
        # What is not asked for is read as OTHER and written as itself.
        given = (
            [symbol if each == OTHER else each for each in written] if column == 0 else [*written]
        )
        return given, table.next[state][column]

    return Machine(0, read, lambda state: [*table.ends[state]], frozenset(table.symbols[1:]))
