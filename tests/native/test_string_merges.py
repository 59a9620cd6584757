"""Merges that are spelled as strings get the ids that dictionaries of Python find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import merges_of_strings

# Code points that Python stores in one, two and four bytes.
TEXTS = st.text("ab\u00e9\u0120\u3042\U0001f600", max_size=4)
VOCABULARIES = st.lists(TEXTS, unique=True, max_size=40).map(
    lambda texts: {text: 3 * number for number, text in enumerate(texts)}
)


def slow(vocab: dict[str, int], left: str, right: str, prefix_size: int) -> list[int]:
    data = right.encode()
    try:
        rest = data[prefix_size:].decode() if len(data) >= prefix_size else None
    except UnicodeDecodeError:
        rest = None
    product = -1 if rest is None else vocab.get(left + rest, -1)
    return [vocab.get(left, -1), vocab.get(right, -1), product]


@given(VOCABULARIES, st.lists(st.tuples(TEXTS, TEXTS), max_size=40), st.integers(0, 5))
def test_pairs_and_lines_give_the_ids_of_a_dictionary(
    vocab: dict[str, int], pairs: Sequence[tuple[str, str]], prefix_size: int
) -> None:
    expected = [number for pair in pairs for number in slow(vocab, *pair, prefix_size)]
    lists: list[Any] = [[*pair] for pair in pairs]
    lines: list[Any] = [" ".join(pair) for pair in pairs]
    assert merges_of_strings(vocab, lists, prefix_size).tolist() == expected
    assert merges_of_strings(vocab, lines, prefix_size).tolist() == expected


@pytest.mark.parametrize("merge", ["a", "a b c", "a  b", ["a"], ["a", 1], ["a", "b", "c"], None, 7])
def test_what_is_no_pair_of_strings_is_named_as_such(merge: object) -> None:
    vocab = {"a": 0, "b": 1, "ab": 2}
    assert merges_of_strings(vocab, ["a b", merge], 0).tolist() == [0, 1, 2, -2, -2, -2]


def test_an_id_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="an id is not negative"):
        merges_of_strings({"a": -1}, [], 0)
