"""Canonical merges: the one rule a token that can ever fire.

Run BPE on the first symbols of a token alone. If that ends in the token, the pair joined last is its canonical merge; any other rule for
the same token can never fire in any text, because the token's own symbols would have been joined the canonical way first. So a file
needs one rule a token, whether its source lists merges or bare ranks.

Which first symbols a token is made of follows from the rules, from the shortest on: what can become ``left`` followed by what can become
``right``. Nearly always that is one sequence. It can be several where a symbol is also spelled out, as ``b##`` with a suffix and ``b``,
``#``, ``#``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from tokexport.compiler.first_symbols import FirstSymbols, first_symbols
from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel

# (left id, right id) -> (rank, product id), or None where the two do not merge.
Join = Callable[[int, int], "tuple[int, int] | None"]

Symbols = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CanonicalMerges:
    """The rules that can fire, and what follows from them.

    ``rules`` maps a product to its ``(left, right)``, ``ranks`` a product to the rank of its rule. ``ways`` has the sequences of first
    symbols that become a token; ``whole`` the tokens that their own spelling, as a piece, becomes. ``given`` is the number of rules in
    the source.
    """

    rules: Mapping[int, tuple[int, int]]
    ranks: Mapping[int, int]
    ways: Mapping[int, tuple[Symbols, ...]]
    whole: frozenset[int]
    given: int

    @property
    def ranks_follow_ids(self) -> bool:
        """Whether comparing products by id is the same as comparing them by rank."""
        by_rank = sorted(self.ranks, key=self.ranks.__getitem__)
        ranks_differ = len(set(self.ranks.values())) == len(self.ranks)
        return ranks_differ and all(left < right for left, right in itertools.pairwise(by_rank))

    def stored_ranks(self) -> Mapping[int, int]:
        """The ranks as a file has them: where they are in the order of the ids, these themselves."""
        return {product: product for product in self.rules} if self.ranks_follow_ids else self.ranks


def canonical_merges(model: BytePairModel) -> CanonicalMerges:
    """Reduces the merges of a model to those that can fire.

    Raises UnsupportedError where a token can be merged in two ways with a rank each, for which a file has no room.

    >>> model = BytePairModel({b"a": 0, b"b": 1, b"ab": 2, b"abb": 3}, merges=((0, 1, 2), (2, 1, 3)))
    >>> dict(canonical_merges(model).rules)
    {2: (0, 1), 3: (2, 1)}
    """
    first = first_symbols(model)
    reduced = _Reduced({}, {}, {symbol: ((symbol,),) for symbol in sorted(first.every())})
    if model.merges is None:
        _reduce_by_content(reduced, model, first)
        given = len(model.vocab)
    else:
        _reduce_by_list(reduced, model.merges)
        given = len(model.merges)
    ways = reduced.ways
    whole = {token for content, token in model.vocab.items() if token in ways and first.of(content) in ways[token]}
    return CanonicalMerges(reduced.rules, reduced.ranks, ways, frozenset(whole), given)


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What is known so far: see CanonicalMerges."""

    rules: dict[int, tuple[int, int]]
    ranks: dict[int, int]
    ways: dict[int, tuple[Symbols, ...]]

    def try_way(self, token: int, symbols: Symbols, join: Join) -> None:
        """Notes a sequence of first symbols, and the last rule, if it becomes the token."""
        last = last_merge(list(symbols), join)
        if last is None or last[3] != token:
            return
        left, right, rank, _ = last
        if self.rules.setdefault(token, (left, right)) != (left, right):
            raise UnsupportedError(
                "model.merges",
                f"two merges that can both make the id {token}, {self.rules[token]} and {(left, right)},",
                "one that can come up is supported for each token",
            )
        self.ranks[token] = rank
        self.ways[token] = (*self.ways.get(token, ()), symbols)


def _reduce_by_content(reduced: _Reduced, model: BytePairModel, first: FirstSymbols) -> None:
    join = _join_by_content(model)
    for content, token in model.vocab.items():
        if first.knows(content):
            symbols = first.of(content)
            if len(symbols) > 1:
                reduced.try_way(token, symbols, join)
        elif model.ranks is not None:
            raise UnsupportedError(
                "model.vocab",
                f"the token {content.decode('utf-8', 'replace')!r} (id {token}), one of whose characters is no token,",
                "tokens whose characters are tokens too are",
            )


def _reduce_by_list(reduced: _Reduced, merges: tuple[tuple[int, int, int], ...]) -> None:
    # A pair that is listed twice has the rank of its last place, as in the reference's hash map.
    table = {(left, right): (rank, product) for rank, (left, right, product) in enumerate(merges)}
    pairs: dict[int, list[tuple[int, int]]] = {}
    for pair, (_, product) in table.items():
        pairs.setdefault(product, []).append(pair)

    def join(left: int, right: int) -> tuple[int, int] | None:
        return table.get((left, right))

    for token in _parts_before_products(pairs):
        tried: set[Symbols] = set()
        for left, right in pairs.get(token, ()):
            for head, tail in itertools.product(reduced.ways.get(left, ()), reduced.ways.get(right, ())):
                if head + tail not in tried:
                    tried.add(head + tail)
                    reduced.try_way(token, head + tail, join)


def _parts_before_products(pairs: Mapping[int, list[tuple[int, int]]]) -> list[int]:
    try:
        return list(
            TopologicalSorter({token: itertools.chain(*parts) for token, parts in pairs.items()}).static_order()
        )
    except CycleError as error:
        raise UnsupportedError(
            "model.merges",
            f"merges that make the id {error.args[1][0]} out of itself",
            "a merge makes a longer token out of two shorter ones",
        ) from error


def _join_by_content(model: BytePairModel) -> Join:
    vocab, ranks = model.vocab, model.ranks
    contents = {token: content for content, token in vocab.items()}

    def join(left: int, right: int) -> tuple[int, int] | None:
        product = vocab.get(contents[left] + contents[right]) if left in contents and right in contents else None
        if product is None:
            return None
        return (product if ranks is None else ranks[product]), product

    return join


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
