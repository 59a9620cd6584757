"""Strings made to find a difference between two tokenizers.

Each generator makes the string of an index from nothing but (seed, generator, index) and the
tokenizer's own tokens, so that any of them can be made again alone. Strings are short, 5 to 60
characters mostly, with a tail of long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from tokexport.verification.generators.dice import Dice
from tokexport.verification.generators.lexical import apostrophes, code, digits, whitespace
from tokexport.verification.generators.long_pieces import pieces
from tokexport.verification.generators.unicode_text import code_points, emoji, marks, scripts
from tokexport.verification.generators.vocabulary import Vocabulary, added, tokens

__all__ = ["GENERATORS", "SHARES", "Dice", "Vocabulary", "make", "plan", "strings"]

Generator = Callable[[Dice, Vocabulary], str]


def _alone(generator: Callable[[Dice], str]) -> Generator:
    return lambda dice, _: generator(dice)


def mixed(dice: Dice, vocabulary: Vocabulary) -> str:
    """Strings of two to four other generators side by side: the end of one meets the start of
    another.
    """
    names = [
        name
        for name in SHARES
        if name not in ("mixed", "pieces") and (name != "added-tokens" or vocabulary.added)
    ]
    return "".join(
        GENERATORS[dice.pick(names)](dice, vocabulary) for _ in range(dice.between(2, 4))
    )


GENERATORS: Final[Mapping[str, Generator]] = MappingProxyType(
    {
        "tokens": tokens,
        "white-space": _alone(whitespace),
        "digits": _alone(digits),
        "apostrophes": _alone(apostrophes),
        "code": _alone(code),
        "code-points": _alone(code_points),
        "scripts": _alone(scripts),
        "marks": _alone(marks),
        "emoji": _alone(emoji),
        "pieces": _alone(pieces),
        "added-tokens": added,
        "mixed": mixed,
    }
)

# Out of a hundred strings, how many each generator makes.
SHARES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "tokens": 24,
        "white-space": 9,
        "digits": 7,
        "apostrophes": 7,
        "code": 6,
        "code-points": 9,
        "scripts": 7,
        "marks": 7,
        "emoji": 3,
        "pieces": 8,
        "added-tokens": 7,
        "mixed": 6,
    }
)


def plan(total: int, vocabulary: Vocabulary) -> dict[str, int]:
    """How many strings of each generator make ``total``; a tokenizer without added tokens gets
    mixed strings for those.

    >>> plan(100, Vocabulary((b"a",)))["mixed"]
    13
    """
    counts = {name: total * share // 100 for name, share in SHARES.items()}
    counts["tokens"] += total - sum(counts.values())
    if not vocabulary.added:
        counts["mixed"] += counts.pop("added-tokens")
    return {name: count for name, count in counts.items() if count}


def make(name: str, vocabulary: Vocabulary, seed: int, index: int) -> str:
    """The string of one index. KeyError if there is no generator of that name.

    >>> make("digits", Vocabulary((b"a",)), 0, 3) == make("digits", Vocabulary((b"a",)), 0, 3)
    True
    """
    return GENERATORS[name](Dice(seed, name, index), vocabulary)


def strings(name: str, vocabulary: Vocabulary, seed: int, count: int) -> Iterator[str]:
    """The strings 0 to ``count`` - 1 of a generator.

    >>> len(list(strings("emoji", Vocabulary((b"a",)), 0, 5)))
    5
    """
    return (make(name, vocabulary, seed, index) for index in range(count))
