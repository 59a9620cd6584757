"""Keeping one rule a token changes no id: the claim of DESIGN 2.2, against the reference library with all the rules."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE

from tokexport.compiler.merges import CanonicalMerges, canonical_merges
from tokexport.errors import UnsupportedError
from tokexport.model import BytePairModel, CharacterSymbols


def slow_encode(text: bytes, vocab: dict[bytes, int], merges: CanonicalMerges) -> list[int]:
    """Joins, one at a time, the leftmost pair of the smallest rank."""
    symbols = [vocab[bytes([byte])] for byte in text]
    rules = {pair: product for product, pair in merges.rules.items()}
    while True:
        found = [
            (merges.ranks[rules[pair]], position)
            for position, pair in enumerate(itertools.pairwise(symbols))
            if pair in rules
        ]
        if not found:
            return symbols
        _, position = min(found)
        symbols[position : position + 2] = [rules[symbols[position], symbols[position + 1]]]


def random_model(rng: random.Random, alphabet: str, rules: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary closed under random merges, several for one product among them, in an order unrelated to length."""
    tokens = list(alphabet)
    merges: list[tuple[str, str]] = []
    for _ in range(rules):
        left, right = rng.choice(tokens), rng.choice(tokens)
        if len(left + right) > 12:
            continue
        if left + right not in tokens:
            tokens.append(left + right)
        merges.append((left, right))
    rng.shuffle(merges)
    return {token: index for index, token in enumerate(tokens)}, merges


def model_of(vocab: dict[str, int], merges: Sequence[tuple[str, str]]) -> tuple[dict[bytes, int], BytePairModel]:
    contents = {token.encode(): index for token, index in vocab.items()}
    triples = tuple((vocab[left], vocab[right], vocab[left + right]) for left, right in merges)
    return contents, BytePairModel(contents, triples)


@pytest.mark.parametrize("alphabet", ["a", "ab", "abc"])
def test_one_rule_a_token_gives_the_ids_of_all_the_rules(alphabet: str) -> None:
    rng = random.Random(alphabet)
    for _ in range(150):
        vocab, merges = random_model(rng, alphabet, rng.randrange(1, 25))
        contents, model = model_of(vocab, merges)
        kept = canonical_merges(model)
        reference = Tokenizer(BPE(vocab, merges))
        for _ in range(40):
            text = "".join(rng.choices(alphabet, k=rng.randrange(1, 40)))
            assert slow_encode(text.encode(), contents, kept) == reference.encode(text).ids, (text, merges)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=20),
    st.randoms(use_true_random=False),
    st.lists(st.text("ab", min_size=1, max_size=60), min_size=1, max_size=5),
)
def test_runs_of_one_repeated_symbol_are_no_exception(
    picks: list[tuple[int, int]], rng: random.Random, texts: list[str]
) -> None:
    tokens = ["a", "b"]
    merges = []
    for first, second in picks:
        left, right = tokens[first % len(tokens)], tokens[second % len(tokens)]
        if len(left + right) <= 16:
            merges.append((left, right))
            if left + right not in tokens:
                tokens.append(left + right)
    rng.shuffle(merges)
    vocab = {token: index for index, token in enumerate(tokens)}
    contents, model = model_of(vocab, merges)
    kept = canonical_merges(model)
    reference = Tokenizer(BPE(vocab, merges))
    for text in [*texts, "a" * 97, "ab" * 40]:
        assert slow_encode(text.encode(), contents, kept) == reference.encode(text).ids


def test_bare_ranks_and_the_list_of_all_their_merges_keep_the_same_rules() -> None:
    vocab = {b"a": 0, b"b": 1, b"ab": 2, b"ba": 3, b"aba": 4, b"abab": 5, b"bab": 6}
    every_pair = sorted(
        (vocab[left + right], vocab[left], vocab[right]) for left in vocab for right in vocab if left + right in vocab
    )
    listed = BytePairModel(vocab, tuple((left, right, product) for product, left, right in every_pair))
    bare = BytePairModel(vocab, merges=None)
    assert dict(canonical_merges(bare).rules) == dict(canonical_merges(listed).rules)


def test_a_token_that_its_own_merges_do_not_reach_is_not_whole() -> None:
    vocab = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}
    kept = canonical_merges(BytePairModel(vocab, merges=((1, 2, 3), (0, 1, 4), (4, 2, 5))))
    assert 5 not in kept.whole  # "abc" becomes a, bc
    assert 5 not in kept.rules
    assert {0, 1, 2, 3, 4} <= kept.whole


def test_rank_is_not_always_the_order_of_ids() -> None:
    vocab = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4}
    kept = canonical_merges(BytePairModel(vocab, merges=((0, 1, 4), (1, 2, 3))))
    assert not kept.ranks_follow_ids
    assert slow_encode(b"abc", vocab, kept) == [4, 2]


def test_a_merge_of_the_unknown_token_is_kept_where_a_byte_is_unknown() -> None:
    vocab = {b"a": 0, b"?": 1, b"?a": 2}
    model = BytePairModel(vocab, merges=((1, 0, 2),), unk_id=1)
    assert dict(canonical_merges(model).rules) == {2: (1, 0)}


def test_two_merges_of_one_token_that_can_both_come_up_are_refused() -> None:
    # With the suffix "b", the text "ab" ends in "bb", and "bb" is also what two letters make.
    vocab = {b"a": 0, b"b": 1, b"bb": 2, b"abb": 3, b"ab": 4}
    merges = ((0, 2, 3), (0, 1, 4), (4, 1, 3))
    model = BytePairModel(vocab, merges, characters=CharacterSymbols(suffix=b"b"))
    with pytest.raises(UnsupportedError, match="two merges that can both make the id 3"):
        canonical_merges(model)


def test_a_merge_that_makes_its_own_part_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="out of itself"):
        canonical_merges(BytePairModel({b"a": 0, b"b": 1}, merges=((0, 1, 0),)))
