"""Merges given as strings get the same ids as by a lookup in a Python dictionary."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import Keys, merges_of_strings
from tokexport.model import Vocabulary
from tokexport.sources.byte_pair import Names

# Strings that Python stores with one, two and four bytes per code point.
TEXTS = st.text("ab\u00e9\u0120\u3042\U0001f600", max_size=4)
VOCABULARIES = st.lists(TEXTS, unique=True, max_size=40).map(
    lambda texts: {text: 3 * number for number, text in enumerate(texts)}
)


def merges_of(vocab: dict[str, int], merges: list[Any], prefix_size: int) -> list[int]:
    names = Names.of(Vocabulary.of({name.encode(): id for name, id in vocab.items()}))
    merged = merges_of_strings(names.index, names.vocabulary.ids, merges, prefix_size)
    numbers: list[int] = merged.tolist()
    return numbers


def slow(vocab: dict[str, int], left: str, right: str, prefix_size: int) -> list[int]:
    data = right.encode()
    try:
        rest = data[prefix_size:].decode() if len(data) >= prefix_size else None
    except UnicodeDecodeError:
        rest = None
    merged = -1 if rest is None else vocab.get(left + rest, -1)
    return [vocab.get(left, -1), vocab.get(right, -1), merged]


@given(VOCABULARIES, st.lists(st.tuples(TEXTS, TEXTS), max_size=40), st.integers(0, 5))
def test_pairs_and_lines_have_the_ids_of_a_dictionary(
    vocab: dict[str, int], pairs: Sequence[tuple[str, str]], prefix_size: int
) -> None:
    expected = [number for pair in pairs for number in slow(vocab, *pair, prefix_size)]
    lists: list[Any] = [[*pair] for pair in pairs]
    lines: list[Any] = [" ".join(pair) for pair in pairs]
    assert merges_of(vocab, lists, prefix_size) == expected
    assert merges_of(vocab, lines, prefix_size) == expected


@pytest.mark.parametrize("merge", ["a", "a b c", "a  b", ["a"], ["a", 1], ["a", "b", "c"], None, 7])
def test_a_merge_that_is_not_a_pair_of_strings_is_reported_as_such(merge: object) -> None:
    vocab = {"a": 0, "b": 1, "ab": 2}
    assert merges_of(vocab, ["a b", merge], 0) == [0, 1, 2, -2, -2, -2]


def test_keys_and_ids_that_do_not_match_are_an_error() -> None:
    keys = Keys(b"ab", np.array([1, 2], np.uint32))
    with pytest.raises(ValueError, match="one id for each key"):
        merges_of_strings(keys, np.zeros(1, np.uint32), [], 0)
    for ends in ((2, 1), (1, 3)):
        with pytest.raises(ValueError, match="before the last one or outside"):
            Keys(b"ab", np.array(ends, np.uint32))


@given(st.lists(st.binary(max_size=2)), st.binary(max_size=2))
def test_the_first_of_equal_keys_is_found(strings: list[bytes], other: bytes) -> None:
    ends = np.cumsum([len(string) for string in strings], dtype=np.uint32)
    keys = Keys(b"".join(strings), ends)
    assert keys.firsts().tolist() == [strings.index(string) for string in strings]
    for string in (*strings, other):
        assert keys.place(string) == (strings.index(string) if string in strings else None)
