"""Canonical merges: the one rule a token that can ever fire.

Run BPE on the bytes of a token alone. If that ends in the token, the pair joined last is its canonical merge; any other rule for the
same token can never fire in any text, because the token's own bytes would have been joined the canonical way first. So a file needs one
rule a token, whether its source lists merges or bare ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel

# (left id, right id) -> (rank, product id), or None where the two do not merge.
Join = Callable[[int, int], "tuple[int, int] | None"]


@dataclass(frozen=True, slots=True)
class CanonicalMerges:
    """The rules that can fire, and what follows from them.

    ``rules`` maps a product to its ``(left, right)``, ``ranks`` a product to the rank of its rule. ``whole`` holds the tokens whose own
    bytes merge into just that token. ``given`` is the number of rules in the source.
    """

    rules: Mapping[int, tuple[int, int]]
    ranks: Mapping[int, int]
    whole: frozenset[int]
    given: int

    @property
    def ranks_follow_ids(self) -> bool:
        """Whether comparing products by id is the same as comparing them by rank."""
        by_rank = sorted(self.ranks, key=self.ranks.__getitem__)
        return all(left < right for left, right in itertools.pairwise(by_rank))


def canonical_merges(model: BytePairModel) -> CanonicalMerges:
    """Reduces the merges of a model to those that can fire.

    Raises UnsupportedError where the unknown token takes part in merges while some byte becomes it.

    >>> model = BytePairModel({b"a": 0, b"b": 1, b"ab": 2, b"abb": 3}, merges=((0, 1, 2), (2, 1, 3)))
    >>> dict(canonical_merges(model).rules)
    {2: (0, 1), 3: (2, 1)}
    """
    byte_ids = [model.vocab.get(bytes([byte])) for byte in range(256)]
    _refuse_unknown_in_merges(model, byte_ids)
    join = _join_by_ranks(model.vocab) if model.merges is None else _join_by_list(model.merges)
    rules: dict[int, tuple[int, int]] = {}
    ranks: dict[int, int] = {}
    whole: set[int] = set()
    for content, token in model.vocab.items():
        symbols = [byte_ids[byte] for byte in content]
        if None in symbols:
            continue
        last = last_merge([symbol for symbol in symbols if symbol is not None], join)
        if last is None:
            if len(symbols) == 1 and symbols[0] == token:
                whole.add(token)
            continue
        left, right, rank, product = last
        if product == token:
            rules[token] = (left, right)
            ranks[token] = rank
            whole.add(token)
    given = len(model.vocab) if model.merges is None else len(model.merges)
    return CanonicalMerges(rules, ranks, frozenset(whole), given)


def last_merge(symbols: list[int], join: Join) -> tuple[int, int, int, int] | None:
    """Merges symbols, smallest rank first and leftmost of equals, and gives the merge that leaves one symbol: (left, right, rank, product).

    None when more than one symbol is left, or there was only one to begin with.
    """
    joins = [join(left, right) for left, right in itertools.pairwise(symbols)]
    last: tuple[int, int, int, int] | None = None
    while joins:
        best, best_rank = -1, -1
        for position, joined in enumerate(joins):
            if joined is not None and (best < 0 or joined[0] < best_rank):
                best, best_rank = position, joined[0]
        if best < 0:
            return None
        product = joins[best][1]  # type: ignore[index]
        last = (symbols[best], symbols[best + 1], best_rank, product)
        symbols[best : best + 2] = [product]
        del joins[best]
        if best > 0:
            joins[best - 1] = join(symbols[best - 1], product)
        if best < len(joins):
            joins[best] = join(product, symbols[best + 1])
    return last


def _join_by_list(merges: tuple[tuple[int, int, int], ...]) -> Join:
    # A pair that is listed twice has the rank of its last place, as in the reference's hash map.
    table = {(left, right): (rank, product) for rank, (left, right, product) in enumerate(merges)}
    return lambda left, right: table.get((left, right))


def _join_by_ranks(vocab: Mapping[bytes, int]) -> Join:
    contents = {token: content for content, token in vocab.items()}

    def join(left: int, right: int) -> tuple[int, int] | None:
        product = vocab.get(contents[left] + contents[right])
        return None if product is None else (product, product)

    return join


def _refuse_unknown_in_merges(model: BytePairModel, byte_ids: list[int | None]) -> None:
    if model.unk_id is None or model.merges is None or None not in byte_ids:
        return
    for rank, (left, right, _) in enumerate(model.merges):
        if model.unk_id in (left, right):
            raise UnsupportedError(
                f"model.merges[{rank}]", "a merge of the unknown token", "the unknown token must not be part of a merge"
            )
