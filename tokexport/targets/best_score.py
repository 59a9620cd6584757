"""Merging by score, as in llama2.c and its descendants: of all neighbours whose joined bytes are a
token, those with the largest score first, of equal ones the leftmost.

These runtimes keep tokens as C strings: a token ends at its first NUL, and so does a text.
"""

import string
from collections.abc import Mapping, Sequence
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


def merged(
    ids: Sequence[int],
    tokens: Sequence[bytes],
    numbers: Mapping[bytes, int],
    scores: Sequence[float],
) -> list[int]:
    """Merges until no two neighbours can be merged; ``numbers`` maps a token's bytes to its id.

    >>> tokens = [b"a", b"b", b"c", b"ab", b"bc"]
    >>> numbers = {token: id for id, token in enumerate(tokens)}
    >>> merged([0, 1, 2], tokens, numbers, [0, 0, 0, -2, -1])
    [0, 4]
    """
    ids = list(ids)
    while True:
        best, best_id, place = THRESHOLD, -1, -1
        for index in range(len(ids) - 1):
            id = numbers.get(tokens[ids[index]] + tokens[ids[index + 1]], -1)
            if id >= 0 and scores[id] > best:
                best, best_id, place = scores[id], id, index
        if place < 0:
            return ids
        ids[place : place + 2] = [best_id]
