"""Strings in columns behave like lists of strings, even with more than one block of strings."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import differing_places, joined_parts
from tokexport.model import ByteStrings, Vocabulary
from tokexport.model.byte_alphabet import all_to_bytes, to_bytes
from tokexport.model.byte_strings import Suffixes

BLOCK = 1 << 14  # strings per block
TEXTS = st.lists(st.text("ab \u0120\u00e9\u2581\U0001f600", max_size=3).map(str.encode), max_size=8)
# Few strings, or so many copies of them that they end just before, at or after the end of a block.
LISTS = st.tuples(TEXTS, st.sampled_from([0, 0, 0, BLOCK - 1, BLOCK, BLOCK + 1])).map(
    lambda drawn: (drawn[0] * (drawn[1] // max(len(drawn[0]), 1) + 1))[: drawn[1] or None]
)


@given(LISTS, st.data())
def test_rows_can_be_selected(strings: list[bytes], data: Any) -> None:
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1)) if strings else st.just([]))
    columns = ByteStrings.of(strings)
    assert [*columns] == strings
    assert [*columns.take(np.array(rows, np.int64))] == [strings[row] for row in rows]
    assert [*columns.take(np.arange(len(strings)))] == strings


@given(LISTS, st.integers(0, 2), st.integers(0, 2))
def test_a_part_of_each_string_can_be_selected(strings: list[bytes], front: int, back: int) -> None:
    sizes = np.array([len(text) for text in strings], np.int64)
    skipped = np.minimum(sizes, front)
    left = np.maximum(sizes - skipped - back, 0)
    expected = [text[: -back or None][front:] for text in strings]
    assert [*ByteStrings.of(strings).within(skipped, left)] == expected


@given(LISTS, st.dictionaries(st.integers(0, 7), st.binary(max_size=3)))
def test_some_strings_can_be_replaced(strings: list[bytes], replacements: dict[int, bytes]) -> None:
    replacements = {row: text for row, text in replacements.items() if row < len(strings)}
    replaced = ByteStrings.of(strings).replaced(replacements)
    expected = [replacements.get(row, text) for row, text in enumerate(strings)]
    assert [*replaced] == expected
    differing = [row for row, text in enumerate(strings) if expected[row] != text]
    assert replaced.indices_of_others(ByteStrings.of(strings)).tolist() == differing


@given(LISTS)
def test_all_strings_can_be_changed_at_once(strings: list[bytes]) -> None:
    changed = ByteStrings.of(strings).changed(
        lambda text: text.replace(b"a", b"").replace(b"b", b"aa")
    )
    assert [*changed] == [text.replace(b"a", b"").replace(b"b", b"aa") for text in strings]


@given(LISTS, st.binary(max_size=2))
def test_strings_with_a_prefix_are_found(strings: list[bytes], prefix: bytes) -> None:
    columns = ByteStrings.of(strings)
    expected = [row for row, text in enumerate(strings) if text.startswith(prefix)]
    assert columns.indices_of_prefix(prefix).tolist() == expected
    alone = [row for row, text in enumerate(strings) if text == prefix]
    assert columns.indices_of_prefix(prefix, alone=True).tolist() == alone


@given(LISTS)
def test_letters_of_the_byte_alphabet_become_bytes(strings: list[bytes]) -> None:
    spelled, is_spelled = all_to_bytes(ByteStrings.of(strings))
    expected = [to_bytes(text.decode()) for text in strings]
    assert is_spelled.tolist() == [data is not None for data in expected]
    assert [*spelled] == [data or b"" for data in expected]


@given(st.dictionaries(st.binary(max_size=2), st.integers(0, 9)), st.binary(max_size=2))
def test_a_vocabulary_is_a_mapping(ids: dict[bytes, int], key: bytes) -> None:
    vocabulary = Vocabulary.of(ids)
    assert vocabulary == ids
    assert vocabulary.get(key) == ids.get(key)
    assert [*vocabulary.without_empty] == [key for key in ids if key]


def test_items_of_a_vocabulary_need_no_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lookup is linear: all lookups of the 100,000 tokens of a model took minutes."""
    vocabulary = Vocabulary.of({b"a": 7, b"": 9})
    monkeypatch.delattr(Vocabulary, "__getitem__")
    assert [*vocabulary.items()] == [(b"a", 7), (b"", 9)]


def test_columns_that_do_not_match_are_refused() -> None:
    def numbers(*values: int) -> npt.NDArray[np.uint32]:
        return np.array(values, np.uint32)

    assert joined_parts(b"abc", numbers(2, 3), numbers(1, 0)) == b"c"
    for begins, sizes in (([4], [0]), ([2], [2]), ([0xFFFFFFFF], [1]), ([1], [])):
        with pytest.raises(ValueError, match=r"a part outside of the data|one size for each begin"):
            joined_parts(b"abc", numbers(*begins), numbers(*sizes))
    for ends, match in ((numbers(1), "as many strings"), (numbers(1, 4), "an end of a key")):
        with pytest.raises(ValueError, match=match):
            differing_places(b"abc", numbers(1, 3), b"abc", ends)


@given(LISTS, st.integers(0, 2), st.data())
def test_suffixes_are_the_strings_that_they_were_made_of(
    strings: list[bytes], front: int, data: Any
) -> None:
    whole, ends = ByteStrings.of(strings), [text[front:] for text in strings]
    suffixes = Suffixes.of(ByteStrings.of(ends), whole)
    assert isinstance(suffixes, Suffixes)
    places = data.draw(st.lists(st.integers(0, len(strings) - 1)) if strings else st.just([]))
    assert [suffixes[place] for place in range(len(strings))] == [*suffixes] == ends
    assert [*suffixes.take(np.array(places, np.int64))] == [ends[place] for place in places]
    others = [place for place, text in enumerate(strings) if text != ends[place]]
    assert suffixes.indices_of_others(whole).tolist() == others


@pytest.mark.parametrize("end", [b"xab", b"b ", b"aab", b""])
def test_strings_that_are_no_suffixes_stay_as_they_are(end: bytes) -> None:
    whole = ByteStrings.of([*[b" a"] * BLOCK, b"ab" if end else bytes(256)])
    strings = ByteStrings.of([*[b"a"] * BLOCK, end])
    assert Suffixes.of(strings, whole) is strings
