"""Merging by score, as in llama2.c and its descendants: of all neighbours whose joined bytes are a
token, those with the largest score first, of equal ones the leftmost.

These runtimes keep tokens as C strings: a token ends at its first NUL, and so does a text.
"""

import string
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

THRESHOLD: Final = -1e10  # a token of this score or less is never made
# The single bytes that safe_printf prints: isprint and isspace of C's own locale.
PRINTED: Final = frozenset(bytes((byte,)) for byte in string.printable.encode())


def c_string(data: bytes) -> bytes:
    """The part that C's string functions see.

    >>> c_string(b"ab\\0c")
    b'ab'
    """
    return data.partition(b"\0")[0]


class BestScore:
    """Tokens with their scores; of equal tokens the first is found, as in a linear search.

    >>> BestScore([b"a", b"b", b"c", b"ab", b"bc"], [0, 0, 0, -2, -1]).merged([0, 1, 2])
    [0, 4]
    """

    def __init__(self, tokens: Sequence[bytes], scores: Sequence[float]) -> None:
        self.tokens, self._scores = tokens, scores
        self.ids = {token: id for id, token in reversed([*enumerate(tokens)])}

    def merged(self, ids: Sequence[int]) -> list[int]:
        """Merges until no two neighbours can be merged."""
        ids = list(ids)
        while True:
            best, best_id, best_index = THRESHOLD, -1, -1
            for index, pair in enumerate(pairwise(ids)):
                id = self.ids.get(self.tokens[pair[0]] + self.tokens[pair[1]], -1)
                if id >= 0 and self._scores[id] > best:
                    best, best_id, best_index = self._scores[id], id, index
            if best_index < 0:
                return ids
            ids[best_index : best_index + 2] = [best_id]
