"""Strings that are likely to reveal a difference between two tokenizers.

A string is a function of seed, generator, index and the tokenizer's own tokens, so each can be
reproduced alone. Most strings have 5 to 60 characters; a few are long.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tokexport.verification.generators.dice import Dice
from tokexport.verification.generators.lexical import apostrophes, code, digits, repeats, whitespace
from tokexport.verification.generators.unicode_text import code_points, emoji, marks, scripts
from tokexport.verification.generators.vocabulary import Vocabulary, added, tokens

__all__ = ["GENERATORS", "SHARES", "Dice", "Vocabulary", "every", "make", "plan"]

Generator = Callable[[Dice, Vocabulary], str]


def _joined(most: int, generator: Callable[[Dice], Iterator[str]]) -> Generator:
    """The strings of one to ``most`` rounds of a generator, joined."""
    return lambda dice, _: "".join(part for _ in range(dice.few(most)) for part in generator(dice))


def mixed(dice: Dice, vocabulary: Vocabulary) -> str:
    """Strings of two to four other generators, joined."""
    left_out = ("mixed", "repeats") if vocabulary.added else ("mixed", "repeats", "added-tokens")
    names = [name for name in SHARES if name not in left_out]
    parts = (GENERATORS[dice.pick(names)](dice, vocabulary) for _ in range(dice.between(2, 4)))
    return "".join(parts)


# Each generator, and its share of a hundred strings.
_TABLE: Final[tuple[tuple[str, Generator, int], ...]] = (
    ("tokens", tokens, 24),
    ("white-space", _joined(14, whitespace), 9),
    ("digits", _joined(7, digits), 7),
    ("apostrophes", _joined(7, apostrophes), 7),
    ("code", _joined(24, code), 6),
    ("code-points", _joined(14, code_points), 9),
    ("scripts", _joined(8, scripts), 7),
    ("marks", _joined(9, marks), 7),
    ("emoji", _joined(9, emoji), 3),
    ("repeats", lambda dice, _: repeats(dice), 8),
    ("added-tokens", added, 7),
    ("mixed", mixed, 6),
)
GENERATORS: Final[Mapping[str, Generator]] = {name: one for name, one, _ in _TABLE}
SHARES: Final[Mapping[str, int]] = {name: share for name, _, share in _TABLE}


def plan(total: int, vocabulary: Vocabulary) -> dict[str, int]:
    """The number of strings of each generator in ``total``; mixed ones replace missing added ones.

    >>> plan(100, Vocabulary((b"a",)))["mixed"]
    13
    """
    counts = {name: total * share // 100 for name, share in SHARES.items()}
    counts["tokens"] += total - sum(counts.values())
    if not vocabulary.added:
        counts["mixed"] += counts.pop("added-tokens")
    return {name: count for name, count in counts.items() if count}


def make(name: str, vocabulary: Vocabulary, seed: int, index: int) -> str:
    """The string at one index. KeyError if there is no generator of that name.

    >>> make("digits", Vocabulary((b"a",)), 0, 3) == make("digits", Vocabulary((b"a",)), 0, 3)
    True
    """
    return GENERATORS[name](Dice(seed, name, index), vocabulary)


def every(vocabulary: Vocabulary, seed: int, total: int) -> Iterator[tuple[str, str]]:
    """``total`` strings of all generators, each with its generator's name.

    >>> len(list(every(Vocabulary((b"a",)), 0, 100)))
    100
    """
    for name, count in plan(total, vocabulary).items():
        for index in range(count):
            yield name, make(name, vocabulary, seed, index)
