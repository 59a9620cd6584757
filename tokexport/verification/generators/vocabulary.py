"""Strings made of a tokenizer's own tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tokexport.verification.generators.dice import Dice, listed


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The bytes of tokens and the contents of added tokens, both in the order of ids."""

    tokens: tuple[bytes, ...]
    added: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, ids: Iterable[int], content: Callable[[int], bytes | None], added: Iterable[str] = ()
    ) -> Vocabulary:
        """The vocabulary of ids; ``content`` returns an id's bytes or None, or raises KeyError."""

        def found(id: int) -> bytes | None:
            with suppress(KeyError):
                return content(id)
            return None

        return cls(tuple(filter(None, map(found, ids))), tuple(added))


def tokens(dice: Dice, vocabulary: Vocabulary) -> str:
    """Joined tokens: any, neighbours by id, in another letter case, halves, one repeated.

    >>> tokens(Dice(0), Vocabulary((b"ab",))).lower().strip("ab")
    ''
    """
    choices = vocabulary.tokens
    kind = dice.below(10)
    if kind < 5:
        data = b"".join(dice.pick(choices) for _ in range(dice.few(14)))
    elif kind < 6:
        first = dice.below(len(choices))
        numbers = [first + dice.below(40) for _ in range(dice.few(8))]
        data = b"".join(choices[number % len(choices)] for number in numbers)
    elif kind < 8:
        data = b"".join(_half(dice, dice.pick(choices)) for _ in range(dice.few(14)))
    else:
        data = dice.pick(choices) * dice.few(6) + dice.pick(choices)
    if kind in (5, 9):
        data = _other_case(dice, data)
    return data.decode("utf-8", "replace" if dice.chance(0.3) else "ignore")


def _other_case(dice: Dice, data: bytes) -> bytes:
    """ASCII letters in another case; the case of str would depend on the version of Python."""
    return dice.pick((data.upper, data.lower, data.title, data.swapcase))()


def _half(dice: Dice, token: bytes) -> bytes:
    """The beginning or the end of a token, cut between characters if it has several."""
    characters = token.decode("utf-8", "ignore")
    cut = dice.below(len(characters) + 1)
    return (characters[:cut] if dice.chance(0.5) else characters[cut:]).encode()


AROUND: Final = listed(
    "¦¦ ¦  ¦\n¦\t¦ \n ¦a¦Z¦_¦9¦é¦中¦\u00a0¦\u0301¦\u200d¦'s¦.¦<¦>¦<|¦|>¦[¦\u2028¦\x00", "¦"
)
FORMS: Final = ("NFC", "NFD", "NFKC", "NFKD")


def added(dice: Dice, vocabulary: Vocabulary) -> str:
    """Added tokens in text: whole, doubled, cut, overlapping, in another case or normal form.

    >>> vocabulary = Vocabulary((b"a",), ("<s>",))
    >>> "<s>" in "".join(added(Dice(0, index), vocabulary) for index in range(20))
    True
    """
    choices = vocabulary.added
    parts: list[str] = []
    for _ in range(dice.few(6)):
        content = dice.pick(choices)
        kind = dice.below(12)
        parts.append(dice.pick(AROUND))
        if kind < 5:
            parts.append(content)
        elif kind < 6:
            parts.append(content * dice.few(4))
        elif kind < 7:
            parts.append(content[: dice.below(len(content) + 1)])
        elif kind < 8:
            parts.append(content[dice.below(len(content) + 1) :])
        elif kind < 9:
            parts.append(_overlapping(dice, content, choices))
        elif kind < 10:
            # A string of assigned characters has the same normal forms in every version of Unicode.
            parts.append(unicodedata.normalize(dice.pick(FORMS), content))
        elif kind < 11:
            parts.append(_other_case(dice, content.encode()).decode())
        else:
            cut = dice.below(len(content) + 1)
            parts.append(content[:cut] + dice.pick(AROUND) + content[cut:])
        parts.append(dice.pick(AROUND))
        if dice.chance(0.4):
            parts.append(dice.pick(vocabulary.tokens).decode("utf-8", "ignore"))
    return "".join(parts)


def _overlapping(dice: Dice, content: str, choices: Sequence[str]) -> str:
    """Two added tokens, the end of one being the start of the other, if a few tries find them."""
    for _ in range(8):
        other = dice.pick(choices)
        for size in range(min(len(content), len(other)) - 1, 0, -1):
            if content.endswith(other[:size]):
                return content + other[size:]
    return content[:-1] + content
