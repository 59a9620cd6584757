"""Random choices, the same on every Python, platform and hash seed, and tables written as text."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices that are a function of the given names.

    Only ``random.Random.random`` is used, whose sequence is the same in every version of Python.

    >>> Dice(0, "whitespace", 7).below(1000) == Dice(0, "whitespace", 7).below(1000)
    True
    """

    def __init__(self, *names: int | str) -> None:
        digest = hashlib.blake2b("/".join(map(str, names)).encode(), digest_size=16).digest()
        self._next = random.Random(int.from_bytes(digest, "little")).random

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1, uniformly distributed."""
        return int(self._next() * limit)

    def between(self, first: int, last: int) -> int:
        """A number from ``first`` to ``last``, inclusive."""
        return first + int(self._next() * (last - first + 1))

    def few(self, limit: int) -> int:
        """A number from 1 to ``limit``, small ones far more often than large ones."""
        return 1 + int(self._next() * (1 + int(self._next() * limit)))

    def chance(self, probability: float) -> bool:
        return self._next() < probability

    def pick(self, choices: Sequence[T]) -> T:
        return choices[int(self._next() * len(choices))]


def listed(text: str, separator: str = " ") -> tuple[str, ...]:
    """The parts of a text.

    >>> listed("a b c")
    ('a', 'b', 'c')
    """
    return tuple(text.split(separator))


def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Pairs of the first and the last code point, each pair in hexadecimal.

    >>> ranges("41-5A 61-7A")
    ((65, 90), (97, 122))
    """
    pairs = (item.partition("-") for item in listed(text))
    return tuple((int(first, 16), int(last, 16)) for first, _, last in pairs)
