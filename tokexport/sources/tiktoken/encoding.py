"""A tiktoken encoding (ranks, a pattern, special tokens), given in parts or as an object, becomes a
TokenizerModel.

The reference is the ``tiktoken`` library. It keeps the matches of the pattern and drops what lies
between them, takes a whole piece that is a token before it merges, and merges any two neighbours
whose bytes are a token, lowest rank first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    Dialect,
    Provenance,
    Reference,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
)
from tokexport.sources.json_node import show

if TYPE_CHECKING:
    import tiktoken

_BYTES: Final = [bytes((byte,)) for byte in range(256)]


def build(
    source: str,
    ranks: Mapping[bytes, int],
    pattern: str,
    special_tokens: Mapping[str, int],
    provenance: Provenance,
    *,
    spelling: Mapping[int, str],
) -> TokenizerModel:
    """The model of an encoding.

    ``source`` is its name for errors; ``spelling`` is what an id decodes to that two special tokens
    share. Raises SourceError where tiktoken stops, UnsupportedError where it leaves to chance what
    an id or a text is.
    """
    _check_ranks(source, ranks)
    contents = _special_contents(ranks, special_tokens, spelling)
    _refuse_prefixes(special_tokens)
    size = max((*ranks.values(), *contents), default=-1) + 1
    tokens: list[Token | None] = [None] * size
    for number, content in contents.items():
        tokens[number] = Token(content.encode("utf-8"), TokenKind.ADDED, special=True)
    for data, rank in ranks.items():
        tokens[rank] = Token(data)
    return TokenizerModel(
        tokens=tuple(tokens),
        # A token without bytes (whisper's multilingual ranks have one) decodes, but no text encodes
        # to it.
        model=BytePairModel(
            {data: rank for data, rank in ranks.items() if data},
            merges=None,
            whole_pre_token_first=True,
        ),
        reference=Reference.TIKTOKEN,
        provenance=provenance,
        pre_tokenizer=(
            Split(
                pattern, Behavior.REMOVED, invert=True, dialect=Dialect.FANCY_REGEX, path="pattern"
            ),
        ),
        added_tokens=tuple(
            AddedToken(number, content, special=True)
            for content, number in sorted(
                special_tokens.items(), key=lambda item: (item[1], item[0])
            )
        ),
    )


def read_encoding(encoding: tiktoken.Encoding) -> TokenizerModel:
    """The model of a ``tiktoken.Encoding``.

    The digest in its provenance is over the pattern, the ranks and the special tokens, each on a
    line of its own, in the order of ids.
    """
    ranks: dict[bytes, int] = dict(encoding._mergeable_ranks)
    special_tokens: dict[str, int] = dict(encoding._special_tokens)
    lines = [f"pattern {_one_line(encoding._pat_str)}"]
    lines += [
        f"rank {rank} {data.hex()}"
        for data, rank in sorted(ranks.items(), key=lambda item: item[1])
    ]
    lines += [
        f"special {number} {_one_line(name)}"
        for name, number in sorted(special_tokens.items(), key=lambda item: (item[1], item[0]))
    ]
    digest = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()
    shared = _shared(special_tokens)
    return build(
        "tiktoken.Encoding",
        ranks,
        encoding._pat_str,
        special_tokens,
        Provenance("tiktoken.Encoding", {encoding.name: digest}),
        spelling={
            number: encoding.decode_single_token_bytes(number).decode("utf-8") for number in shared
        },
    )


def _one_line(text: str) -> str:
    """A text on one line, whatever it holds."""
    return text.encode("unicode_escape").decode("ascii")


def _check_ranks(source: str, ranks: Mapping[bytes, int]) -> None:
    missing = [byte for byte in _BYTES if byte not in ranks]
    if missing:
        raise SourceError(
            f"{source}: the ranks lack {len(missing)} of the 256 single bytes, the first of them"
            f" 0x{missing[0].hex()}: tiktoken stops at a text with such a byte; add a rank for each"
        )
    owners: dict[int, bytes] = {}
    for data, rank in ranks.items():
        other = owners.setdefault(rank, data)
        if other is not data:
            raise SourceError(
                f"{source}: the rank {rank} stands for two tokens, {other!r} and {data!r}; tiktoken"
                " refuses that"
            )
    largest = max(owners)
    if largest >= MAX_IDS:
        raise UnsupportedError(
            "ranks",
            f"the rank {largest} is not supported",
            f"ids are supported up to {MAX_IDS - 1}",
        )


def _shared(special_tokens: Mapping[str, int]) -> set[int]:
    return {number for number, count in Counter(special_tokens.values()).items() if count > 1}


def _special_contents(
    ranks: Mapping[bytes, int], special_tokens: Mapping[str, int], spelling: Mapping[int, str]
) -> dict[int, str]:
    taken = set(ranks.values())
    contents: dict[int, str] = {}
    for name, number in special_tokens.items():
        where = f"special_tokens[{show(name)}]"
        if not 0 <= number < MAX_IDS:
            raise UnsupportedError(
                where,
                f"the id {number} is not supported",
                f"ids are supported from 0 to {MAX_IDS - 1}",
            )
        if number in taken:
            raise UnsupportedError(
                where,
                f"the id {number}, which is a rank, is not supported",
                "a special token needs an id of its own",
            )
        if number in contents and number not in spelling:
            raise UnsupportedError(
                where,
                f"the id {number}, which {show(contents[number])} has too, is not supported",
                "tiktoken decodes it to either of them by the order of its hash table; give each an"
                " id of its own",
            )
        contents[number] = spelling.get(number, name)
    return contents


def _refuse_prefixes(special_tokens: Mapping[str, int]) -> None:
    """tiktoken joins the special tokens to one pattern in the order of its hash table, so the
    shorter of two may win or lose.
    """
    names = sorted(special_tokens)
    for shorter, longer in pairwise(names):
        if longer.startswith(shorter):
            raise UnsupportedError(
                f"special_tokens[{show(shorter)}]",
                f"a special token that {show(longer)} starts with is not supported",
                "which of them tiktoken finds is decided by the order of its hash table",
            )
