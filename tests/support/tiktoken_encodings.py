"""Encodings of tiktoken with a token for each byte."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import tiktoken


def byte_encoding(
    pattern: str, others: Iterable[bytes] = (), special: Mapping[str, int] = MappingProxyType({})
) -> tiktoken.Encoding:
    """The ids of the bytes are their values; the next ids are those of other tokens, in order. With
    no others, the ids of a text are the bytes of the matches, without gaps.
    """
    tokens = dict.fromkeys([*(bytes([byte]) for byte in range(256)), *others])
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding(
        "bytes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={**special}
    )
