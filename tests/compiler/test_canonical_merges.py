"""Of the merges of a token only the one that can fire is kept, by a search of all its ways."""

import itertools
import random
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np
import pytest
from bare_models import merge_rows

from tokexport._core import Keys, merges_of_contents, ways_of_merges
from tokexport.compiler.merges.canonical import CanonicalMerges, canonical_merges
from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel, CharacterSymbols


def rules_of(merges: CanonicalMerges) -> dict[int, tuple[int, int]]:
    return {merged: (left, right) for merged, left, right, _ in merges.rules.tolist()}


def ranks_of(merges: CanonicalMerges) -> dict[int, int]:
    return dict(merges.rules[:, [0, 3]].tolist())


def slow_last_merge(
    symbols: list[int], table: Mapping[tuple[int, int], tuple[int, int]]
) -> tuple[int, int] | None:
    """Merges in place; returns the last merged pair if one symbol is left."""
    last = None
    while len(symbols) > 1:
        pairs = enumerate(itertools.pairwise(symbols))
        candidates = [(table[pair][0], index) for index, pair in pairs if pair in table]
        if not candidates:
            return None
        _, index = min(candidates)
        last = (symbols[index], symbols[index + 1])
        symbols[index : index + 2] = [table[last][1]]
    return last


def slow_ways(
    merges: Sequence[tuple[int, int, int]], symbols: int
) -> tuple[dict[int, set[tuple[int, ...]]], dict[int, tuple[int, int]]]:
    """The ways of each id, by all ways of its parts, and its rule; ValueError if it has two."""
    table = {(left, right): (rank, merged) for rank, (left, right, merged) in enumerate(merges)}
    parts: dict[int, list[tuple[int, int]]] = {}
    for pair, (_, merged) in table.items():
        parts.setdefault(merged, []).append(pair)
    ways: dict[int, set[tuple[int, ...]]] = {symbol: {(symbol,)} for symbol in range(symbols)}
    rules: dict[int, tuple[int, int]] = {}
    for token in TopologicalSorter(
        {token: itertools.chain(*pairs) for token, pairs in parts.items()}
    ).static_order():
        for left, right in parts.get(token, ()):
            for way in [head + tail for head in ways.get(left, ()) for tail in ways.get(right, ())]:
                last = slow_last_merge(list(way), table)
                if last is None or table[last][1] != token:
                    continue
                if rules.setdefault(token, last) != last:
                    raise ValueError
                ways.setdefault(token, set()).add(way)
    return ways, rules


def test_an_exhaustive_search_finds_the_same_ways_and_rules() -> None:
    rng = random.Random(4)
    outcomes = {"several ways": 0, "one": 0, "two rules": 0, "a circle": 0}
    for _ in range(3_000):
        symbols, ids = rng.randrange(1, 5), rng.randrange(5, 14)
        vocab = {
            bytes([ord("a") + number]) if number < symbols else b"%d" % (100 + number): number
            for number in range(ids)
        }
        merges = []
        for _ in range(rng.randrange(1, 14)):
            merged = rng.randrange(ids) if rng.random() < 0.02 else rng.randrange(symbols, ids)
            left, right = merged, 0
            if rng.random() < 0.98:
                left, right = (rng.randrange(max(merged, 1)) for _ in range(2))
            merges.append((left, right, merged))
        model = BytePairModel(vocab, merge_rows(merges))
        try:
            ways, rules = slow_ways(merges, symbols)
        except CycleError:
            outcomes["a circle"] += 1
            with pytest.raises(UnsupportedError, match="from itself"):
                canonical_merges(model)
            continue
        except ValueError:
            outcomes["two rules"] += 1
            with pytest.raises(UnsupportedError, match="two merges that can both produce the id"):
                canonical_merges(model)
            continue
        outcomes["several ways" if max(map(len, ways.values())) > 1 else "one"] += 1
        canonical = canonical_merges(model)
        actual: dict[int, set[tuple[int, ...]]] = {}
        for token, way in canonical.ways:
            actual.setdefault(token, set()).add(tuple(way))
        assert actual == ways
        assert rules_of(canonical) == rules
        assert ranks_of(canonical) == {
            token: max(rank for rank, merge in enumerate(merges) if merge[:2] == pair)
            for token, pair in rules.items()
        }
    assert min(outcomes.values()) > 10, outcomes


def merges_of_one_text(rng: random.Random, size: int) -> list[tuple[int, int, int]]:
    """Merges of a random text down to one token, as a trainer makes them of a small corpus, but of
    pairs that need not be the most frequent.
    """
    symbols = [rng.randrange(3) for _ in range(size)]
    merges: list[tuple[int, int, int]] = []
    while len(symbols) > 1:
        at, new = rng.randrange(len(symbols) - 1), 3 + len(merges)
        merges.append((symbols[at], symbols[at + 1], new))
        slow_last_merge(symbols, {merges[-1][:2]: (0, new)})
    return merges


def test_tokens_of_hundreds_of_symbols_keep_the_same_rules() -> None:
    rng = random.Random(5)
    longest, outcomes = 0, {True: 0, False: 0}
    for _ in range(20):
        merges = merges_of_one_text(rng, rng.randrange(100, 200))
        for _ in range(rng.randrange(4)):
            merges.append(merges.pop(rng.randrange(len(merges))))
        vocab = {b"a": 0, b"b": 1, b"c": 2}
        vocab |= {b"%d" % (100 + number): number for number in range(3, 3 + len(merges))}
        model = BytePairModel(vocab, merge_rows(merges))
        ways, rules = slow_ways(merges, 3)
        longest = max(longest, *(len(way) for found in ways.values() for way in found))
        outcomes[len(rules) == len(merges)] += 1
        assert rules_of(canonical_merges(model)) == rules
    assert longest > 100
    assert min(outcomes.values()) > 2, outcomes


def test_arrays_that_do_not_match_are_an_error() -> None:
    merges, ranks, symbols = (np.zeros(size, np.uint32) for size in (6, 2, 2))
    for size, count in itertools.product(range(6), range(3)):
        if size == 3 * count or (size == 3 and not count):
            continue
        with pytest.raises(ValueError, match="three numbers for each merge, and one rank"):
            ways_of_merges(merges[:size], ranks[:count], symbols, 3)
    for index in range(6):
        wrong = merges.copy()
        wrong[index] = 2
        with pytest.raises(ValueError, match="an id that is none"):
            ways_of_merges(wrong, ranks, symbols, 2)
    with pytest.raises(ValueError, match="an id that is none"):
        ways_of_merges(merges, ranks, symbols + np.uint32(2), 2)
    with pytest.raises(ValueError, match="a rank that is none"):
        ways_of_merges(merges, ranks - np.uint32(1), symbols, 2)
    contents = Keys(b"ab", np.array([1, 2], np.uint32))
    with pytest.raises(ValueError, match="one id for each content"):
        merges_of_contents(contents, symbols[:1])


def test_a_token_that_its_own_merges_do_not_reach_is_not_whole() -> None:
    vocab = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}
    merges = merge_rows([[1, 2, 3], [0, 1, 4], [4, 2, 5]])
    canonical = canonical_merges(BytePairModel(vocab, merges))
    assert 5 not in canonical.whole  # "abc" becomes a, bc
    assert 5 not in rules_of(canonical)
    assert {0, 1, 2, 3, 4} <= {*canonical.whole.tolist()}


def test_a_merge_of_the_unknown_token_is_canonical_if_a_byte_is_unknown() -> None:
    vocab = {b"a": 0, b"?": 1, b"?a": 2}
    model = BytePairModel(vocab, merges=merge_rows([[1, 0, 2]]), unk_id=1)
    assert rules_of(canonical_merges(model)) == {2: (1, 0)}


def test_two_merges_of_one_token_that_can_both_fire_are_refused() -> None:
    # With the suffix "b", the text "ab" ends in "bb", which two letters also merge to.
    vocab = {b"a": 0, b"b": 1, b"bb": 2, b"abb": 3, b"ab": 4}
    merges = ((0, 2, 3), (0, 1, 4), (4, 1, 3))
    model = BytePairModel(vocab, merge_rows(merges), characters=CharacterSymbols(suffix=b"b"))
    with pytest.raises(UnsupportedError, match="two merges that can both produce the id 3"):
        canonical_merges(model)


def test_ways_that_double_with_each_merge_are_refused_and_not_searched() -> None:
    # "b" is a symbol and also what two "a" become, so id n can be spelled in 2^2^(n - 1) ways.
    vocab = {b"a": 0, b"b": 1} | {b"%d" % id: id for id in range(2, 8)}
    merges = merge_rows([(id, id, id + 1) for id in range(7)])
    with pytest.raises(UnsupportedError, match="sequences of symbols may become the id 5"):
        canonical_merges(BytePairModel(vocab, merges))
