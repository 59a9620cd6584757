"""A tiktoken encoding (ranks, a pattern, special tokens) becomes a TokenizerModel.

The ``tiktoken`` library encodes the matches of the pattern and drops the gaps. A match that is a
token becomes that token; else neighbours whose bytes are a token merge, lowest rank first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tokexport.errors import SourceError
from tokexport.limits import MAX_IDS, check_id
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    Dialect,
    Provenance,
    Reference,
    Split,
    TokenizerModel,
    Tokens,
)
from tokexport.sources.json_node import Node, show
from tokexport.sources.source import Input

if TYPE_CHECKING:
    import tiktoken

_BYTES: Final = [bytes((byte,)) for byte in range(256)]


def build(
    source: str,
    ranks: Mapping[bytes, int],
    pattern: str,
    special_tokens: Mapping[str, int],
    provenance: Provenance,
    spelling: Mapping[int, str] = MappingProxyType({}),
) -> TokenizerModel:
    """The model of an encoding.

    ``source`` is its name for errors; ``spelling`` is what an id shared by two special tokens
    decodes to. Raises SourceError if tiktoken fails, UnsupportedError if its ids depend on chance.
    """
    _check_ranks(source, ranks)
    contents = _special_contents(source, ranks, special_tokens, spelling)
    _refuse_prefixes(source, special_tokens)
    tokens = {rank: data for data, rank in ranks.items()}
    tokens |= {number: content.encode("utf-8") for number, content in contents.items()}
    # A token without bytes (in whisper's multilingual ranks) can be decoded, but is never emitted.
    vocab = {data: rank for data, rank in ranks.items() if data}
    split = Split(pattern, Behavior.REMOVED, True, Dialect.FANCY_REGEX, path="pattern")
    return TokenizerModel(
        tokens=Tokens.joined(tokens, contents),
        model=BytePairModel(vocab, merges=None, whole_pre_token_first=True),
        reference=Reference.TIKTOKEN,
        provenance=provenance,
        pre_tokenizer=(split,),
        added_tokens=tuple(
            AddedToken(number, name, special=True) for number, name in _by_id(special_tokens)
        ),
    )


def read_encoding(source: Input, encoding: tiktoken.Encoding) -> TokenizerModel:
    """The model of a ``tiktoken.Encoding``.

    The digest in its provenance covers the pattern, the ranks and the special tokens, each on its
    own line, in order of ids.
    """
    ranks: dict[bytes, int] = dict(encoding._mergeable_ranks)
    special_tokens: dict[str, int] = dict(encoding._special_tokens)
    lines = [f"pattern {_one_line(encoding._pat_str)}"]
    by_rank = sorted(ranks.items(), key=lambda item: item[1])
    lines += [f"rank {rank} {data.hex()}" for data, rank in by_rank]
    lines += [f"special {number} {_one_line(name)}" for number, name in _by_id(special_tokens)]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    counts = Counter(special_tokens.values())
    shared = [number for number, count in counts.items() if count > 1]
    return build(
        "tiktoken.Encoding",
        ranks,
        encoding._pat_str,
        special_tokens,
        Provenance("tiktoken.Encoding", {encoding.name: digest}),
        spelling={id: encoding.decode_single_token_bytes(id).decode() for id in shared},
    )


def _by_id(special_tokens: Mapping[str, int]) -> list[tuple[int, str]]:
    return sorted((number, name) for name, number in special_tokens.items())


def _one_line(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def _check_ranks(source: str, ranks: Mapping[bytes, int]) -> None:
    missing = [byte for byte in _BYTES if byte not in ranks]
    if missing:
        raise SourceError(
            f"the ranks lack {len(missing)} of the 256 single bytes, the first of them"
            f" 0x{missing[0].hex()}: tiktoken stops at a text with such a byte",
            "add a rank for each",
            name=source,
        )
    owners: dict[int, bytes] = {}
    for data, rank in ranks.items():
        other = owners.setdefault(rank, data)
        if other is not data:
            both = f"{other!r} and {data!r}"
            problem = f"the rank {rank} has two tokens, {both}, which tiktoken refuses"
            raise SourceError(problem, "give each a rank of its own", name=source)
    check_id("ranks", max(owners), "rank")


def _special_contents(
    source: str,
    ranks: Mapping[bytes, int],
    special_tokens: Mapping[str, int],
    spelling: Mapping[int, str],
) -> dict[int, str]:
    taken = set(ranks.values())
    contents: dict[int, str] = {}
    for name, number in special_tokens.items():
        place = Node(source, f"special_tokens[{show(name)}]", number)
        if not name:
            place.unsupported("tiktoken finds an empty text without end", "remove the token")
        if not 0 <= number < MAX_IDS:
            problem = f"the id {number} is {'negative' if number < 0 else 'too large'}"
            place.unsupported(problem, f"use ids from 0 to {MAX_IDS - 1}")
        if number in taken:
            place.unsupported(f"the id {number} is also a rank", "give the token its own id")
        if number in contents and number not in spelling:
            place.unsupported(
                f"the id {number} is also that of {show(contents[number])}",
                "give each special token an id of its own: tiktoken decodes a shared one to either"
                " token, by the order of its hash table",
            )
        contents[number] = spelling.get(number, name)
    return contents


def _refuse_prefixes(source: str, special_tokens: Mapping[str, int]) -> None:
    """Refuses a special token that is a prefix of another: tiktoken finds either, by chance."""
    for shorter, longer in pairwise(sorted(special_tokens)):
        if longer.startswith(shorter):
            place = Node(source, f"special_tokens[{show(shorter)}]", special_tokens[shorter])
            place.unsupported(
                f"{show(longer)} starts with the special token {show(shorter)}",
                "remove one of the two: tiktoken finds either, by the order of its hash table",
            )
