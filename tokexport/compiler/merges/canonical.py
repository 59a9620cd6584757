"""Canonical merges: the one rule a token that can ever fire.

Run BPE on the first symbols of a token alone. If that ends in the token, the pair joined last is
its canonical merge; any other rule for the same token can never fire in any text, because the
token's own symbols would have been joined the canonical way first. So a file needs one rule a
token, whether its source lists merges or bare ranks.

Which first symbols a token is made of follows from the rules, from the shortest on: what can become
``left`` followed by what can become ``right``. Nearly always that is one sequence. It can be
several where a symbol is also spelled out, as ``b##`` with a suffix and ``b``, ``#``, ``#``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tokexport._core import ways_of_merges
from tokexport.compiler.merges.first_symbols import FirstSymbols, first_symbols
from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel

Symbols: TypeAlias = tuple[int, ...]
Merges: TypeAlias = list[tuple[int, int, int, int]]  # (left, right, rank, product)


@dataclass(frozen=True, slots=True)
class CanonicalMerges:
    """The rules that can fire, and what follows from them.

    ``rules`` maps a product to its ``(left, right)``, ``ranks`` a product to the rank of its rule.
    ``ways`` has the sequences of first symbols that become a token; ``whole`` the tokens that their
    own spelling, as a piece, becomes.
    """

    rules: Mapping[int, tuple[int, int]]
    ranks: Mapping[int, int]
    ways: Mapping[int, tuple[Symbols, ...]]
    whole: frozenset[int]

    @property
    def ranks_follow_ids(self) -> bool:
        """Whether comparing products by id is the same as comparing them by rank."""
        by_rank = sorted(self.ranks, key=self.ranks.__getitem__)
        ranks_differ = len(set(self.ranks.values())) == len(self.ranks)
        return ranks_differ and all(left < right for left, right in itertools.pairwise(by_rank))


def canonical_merges(model: BytePairModel) -> CanonicalMerges:
    """Reduces the merges of a model to those that can fire.

    Raises UnsupportedError where a token can be merged in two ways with a rank each, for which a
    file has no room.

    >>> vocab = {b"a": 0, b"b": 1, b"ab": 2, b"abb": 3}
    >>> model = BytePairModel(vocab, merges=((0, 1, 2), (2, 1, 3)))
    >>> dict(canonical_merges(model).rules)
    {2: (0, 1), 3: (2, 1)}
    """
    first = first_symbols(model)
    if model.merges is None:
        # What spells a content are its units: tokens of bytes and the unknown token have none that
        # merges.
        merges, symbols = _by_content(model, first), set(first.tables[0].values())
    else:
        # A pair that is listed twice has the rank of its last place, as in the reference's map.
        listed = enumerate(model.merges)
        merges = [(left, right, rank, product) for rank, (left, right, product) in listed]
        symbols = first.every()
    rules: dict[int, tuple[int, int]] = {}
    ranks: dict[int, int] = {}
    ways: dict[int, tuple[Symbols, ...]] = {
        symbol: ((symbol,),) for symbol in sorted(first.every())
    }
    for token, left, right, rank, way in _found_ways(merges, symbols):
        if rules.setdefault(token, (left, right)) != (left, right):
            raise UnsupportedError(
                "model.merges",
                f"two merges that can both make the id {token}, {rules[token]} and"
                f" {(left, right)}, is not supported",
                "one that can come up is supported for each token",
            )
        ranks[token] = rank
        ways[token] = (*ways.get(token, ()), way)
    whole = {
        token
        for content, token in model.vocab.items()
        if token in ways and first.of(content) in ways[token]
    }
    return CanonicalMerges(rules, ranks, ways, frozenset(whole))


def _by_content(model: BytePairModel, first: FirstSymbols) -> Merges:
    """The merges of a model that lists none: any two tokens whose contents together are a token."""
    vocab, ranks = model.vocab, model.ranks
    merges = []
    for content, product in vocab.items():
        if ranks is not None and not first.knows(content):
            raise UnsupportedError(
                "model.vocab",
                f"the token {content.decode('utf-8', 'replace')!r} (id {product}), one of whose"
                " characters is no token, is not supported",
                "tokens whose characters are tokens too are",
            )
        for cut in range(1, len(content)):
            left, right = vocab.get(content[:cut]), vocab.get(content[cut:])
            if left is not None and right is not None:
                merges.append((left, right, product if ranks is None else ranks[product], product))
    return merges


def _found_ways(
    merges: Merges, symbols: Iterable[int]
) -> Iterator[tuple[int, int, int, int, Symbols]]:
    """The sequences of some symbols that become a token, with the merge that comes last: (product,
    left, right, rank, sequence).

    Parts come before products. Of a token with two different last merges the second is the last
    that is found.
    """
    lefts, rights, ranks, products = np.array(merges, np.uint64).reshape(-1, 4).T.copy()
    starts = np.array(sorted(symbols), np.uint64)
    id_count = 1 + max(int(ids.max(initial=0)) for ids in (lefts, rights, products, starts))
    found = ways_of_merges(lefts, rights, ranks, products, starts, id_count)
    if isinstance(found, int):
        raise UnsupportedError(
            "model.merges",
            f"merges that make the id {found} out of itself is not supported",
            "a merge makes a longer token out of two shorter ones",
        )
    last, ends, sequences = (array.tolist() for array in found)
    for number, (begin, end) in enumerate(itertools.pairwise((0, *ends))):
        product, left, right, rank = last[4 * number : 4 * number + 4]
        yield product, left, right, rank, tuple(sequences[begin:end])
