"""What the tests of the regular-expression compiler hold its tables against: the engines themselves, and a slow runner for the tables."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import numpy as np
import tiktoken
from tokenizers import Regex, pre_tokenizers

from tokexport.compiler.regex import MATCH_ENDS, SplitProgram


def find_pieces(program: SplitProgram, text: str) -> list[tuple[int, int, bool]]:
    """The matches in a text, and what lies between them: (start, end, is a match), one symbol at a time, nothing remembered.

    A program with 256 classes reads the text's UTF-8 bytes.
    """
    symbols = list(text.encode()) if len(program.classes) == 256 else [ord(character) for character in text]
    classes = [int(program.classes[symbol]) for symbol in symbols]
    pieces: list[tuple[int, int, bool]] = []
    gap = start = 0
    while start < len(classes):
        end = _match_end(program, classes, start)
        if end is None:
            start += 1
            continue
        if gap < start:
            pieces.append((gap, start, False))
        pieces.append((start, end, True))
        gap = start = end
    if gap < len(classes):
        pieces.append((gap, len(classes), False))
    return pieces


def _match_end(program: SplitProgram, classes: list[int], start: int) -> int | None:
    state = int(program.starts[classes[start - 1] if start else program.n_classes])
    end = None
    for position in range(start, len(classes) + 1):
        symbol = classes[position] if position < len(classes) else program.n_classes
        transition = int(program.transitions[state, symbol])
        if transition & MATCH_ENDS:
            end = position
        state = transition & ~MATCH_ENDS
        if not state:
            break
    return end


def matches(program: SplitProgram, text: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end, is_match in find_pieces(program, text) if is_match]


class Oniguruma:
    """The engine of `tokenizers`; it refuses a pattern with an exception."""

    def __init__(self, pattern: str) -> None:
        self._split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)

    def matches(self, text: str) -> list[tuple[int, int]]:
        return [span for _, span in self._split.pre_tokenize_str(text)]


def fancy_matched(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """The matched strings in each text, as tiktoken's engine finds them.

    tiktoken shows tokens, not matches. So every substring of the texts is made a token: a match is a token whole.
    """
    substrings = {
        text[start:end].encode()
        for text in texts
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    }
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks.update((token, 256 + rank) for rank, token in enumerate(sorted(substrings - ranks.keys())))
    encoding = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return [[encoding.decode([token]) for token in encoding.encode_ordinary(text)] for text in texts]


NEIGHBOURS = (
    " \t\n\r\x0b\x85\xa0\u2028\u3000"
    "019߀२½²Ⅷ"
    "aAsSkKlLrRvVeEtTmMdDé\u017f\u212a\u01c5ʰ中한あ\u0e01"
    "'\u2019.,/-_!#\u2581\u0301\u0903\U0001f600\U0001f44d\u200d"
)


def alphabet_of(program: SplitProgram, seed: int = 0) -> str:
    """One or two characters of each class, and characters that patterns are about."""
    generator = random.Random(seed)
    characters = []
    for number in range(program.n_classes):
        members = np.flatnonzero(program.classes == number)
        members = members[(members < 0xD800) | (members >= 0xE000)]
        if len(members):
            characters += [chr(int(members[0])), chr(int(generator.choice(members.tolist())))]
    return "".join(dict.fromkeys([*characters, *NEIGHBOURS]))


def random_texts(alphabet: str, count: int, longest: int, seed: int = 0) -> Iterable[str]:
    """Random strings, half of them of few different characters, so that runs and near misses are common."""
    generator = random.Random(seed)
    for number in range(count):
        some = alphabet if number % 2 else "".join(generator.choices(alphabet, k=generator.randint(1, 5)))
        yield "".join(generator.choices(some, k=generator.randint(1, longest)))
