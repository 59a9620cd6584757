"""The labels of a pattern that looks far, given to the symbols of a decoded text as they come.

A label may be asked of what is still to come. Then a symbol waits until whatever comes gives it the
same label, so ``(?=n't)`` waits for three characters, and ``(?=a*b)`` for any number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from tokexport.patterns import Labelling

# Bytes of the text; and their class or label.
Symbol: TypeAlias = tuple[tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class LabellingState:
    """The state of the labelling that goes forward; the symbols that ``wait`` for what comes, of
    one that does not.
    """

    number: int = 0
    wait: tuple[Symbol, ...] = ()


class LabellingMachine:
    """Reads symbols with classes, and writes the same with the labels of ``labelling``.

    >>> import numpy as np
    >>> before_1 = Labelling(np.array([[0, 1], [0, 1]]), np.array([[0, 1], [2, 1]]))
    >>> machine = LabellingMachine(before_1)  # a 0 before a 1 is a 2
    >>> machine.read(machine.start, ((97,), 0))
    ([], LabellingState(number=0, wait=(((97,), 0),)))
    >>> machine.read(machine.read(machine.start, ((97,), 0))[1], ((98,), 1))[0]
    [((97,), 2), ((98,), 1)]
    """

    start: Final = LabellingState()

    def __init__(self, labelling: Labelling) -> None:
        self._forward = labelling.forward
        self._next: list[list[int]] = labelling.next.tolist()
        self._labels: list[list[int]] = labelling.labels.tolist()

    def read(self, state: LabellingState, symbol: Symbol) -> tuple[list[Symbol], LabellingState]:
        """The symbols whose labels are known now."""
        data, number = symbol
        if self._forward:
            return [(data, self._labels[state.number][number])], LabellingState(
                self._next[state.number][number]
            )
        wait = (*state.wait, symbol)
        known = self._known(wait, range(len(self._next)))
        return known, LabellingState(wait=wait[len(known) :])

    def end(self, state: LabellingState) -> list[Symbol]:
        """What waited, at the end of the text."""
        return self._known(state.wait, (0,))

    def of_others(self, others: Iterable[int]) -> frozenset[int] | None:
        """The labels of some classes; None where a row of one of them may have other labels than
        one of it has.
        """
        labels = set()
        for number in others:
            for following, row in zip(self._next, self._labels, strict=True):
                after = following[number]
                if self._next[after][number] != after or self._labels[after][number] != row[number]:
                    return None
                labels.add(row[number])
        return frozenset(labels)

    def _known(self, wait: tuple[Symbol, ...], behind: Iterable[int]) -> list[Symbol]:
        """The first of what waits, as far as their labels are the same in all states that may be
        ``after`` them.
        """
        rows = []
        for state in behind:
            labels = []
            for _, number in reversed(wait):
                labels.append(self._labels[state][number])
                state = self._next[state][number]
            rows.append(labels[::-1])
        known: list[Symbol] = []
        for (data, _), (label, *others) in zip(wait, zip(*rows, strict=True), strict=True):
            if any(other != label for other in others):
                break
            known.append((data, label))
        return known
