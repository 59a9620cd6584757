"""What stays bytes of a tokenizer.json is what Python's parser reads there, in any document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import merges_of_array, merges_of_strings, scores_of_array
from tokexport.errors import SourceError
from tokexport.sources.json_node import LongArray, parse, parse_large

TEXTS = st.text(st.sampled_from('ab \\"/\b\n\x7f\u00e9\u0120\u3042\ufffd\U0001f600'), max_size=4)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(-100, 0), st.sampled_from([0.0, -0.0, 1e-9, 1e30])
)
SCORES = st.lists(st.tuples(TEXTS, NUMBERS).map(list), max_size=5)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS).map(list), max_size=5)
LINES = st.lists(TEXTS, max_size=5)
OTHERS = st.one_of(
    st.none(),
    st.lists(st.one_of(TEXTS, PAIRS, SCORES, NUMBERS, st.just("#version: 0.2")), max_size=3),
    st.dictionaries(TEXTS, PAIRS, max_size=3),
)
ARRAYS = st.one_of(SCORES, PAIRS, LINES, OTHERS)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["model", "merges", "added"]),
    st.dictionaries(st.sampled_from(["merges", "vocab", "other"]), ARRAYS, max_size=3),
    max_size=3,
)
PLAIN = st.fixed_dictionaries(
    {
        "before": OTHERS,
        "model": st.fixed_dictionaries(
            {
                "other": OTHERS,
                "vocab": st.dictionaries(TEXTS, st.integers(0, 9)),
                "merges": st.one_of(PAIRS.filter(bool), LINES.filter(bool)),
                "merges ": OTHERS,
            }
        ),
        "merges": OTHERS,
    }
)


def opened(value: Any) -> Any:
    """A document with the objects of its long array in place."""
    if isinstance(value, dict):
        return {name: opened(one) for name, one in value.items()}
    return value.objects if isinstance(value, LongArray) else value


def long_array(root: Any) -> LongArray:
    (array,) = (value for value in root["model"].values() if isinstance(value, LongArray))
    return array


@given(PLAIN, st.sampled_from([None, 1]), st.booleans())
def test_a_document_with_plain_merges_is_what_the_parser_reads(
    document: Any, indent: int | None, is_ascii: bool
) -> None:
    data = json.dumps(document, indent=indent, ensure_ascii=is_ascii).encode()
    root = parse_large(data, "x.json")
    assert root is not None
    assert isinstance(root.value["model"]["merges"], LongArray)
    assert repr(opened(root.value)) == repr(parse(data, "x.json").value)


@given(DOCUMENTS, st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=2)), min_size=1))
def test_a_damaged_document_is_read_only_where_the_parser_reads_it(
    document: Any, changes: list[tuple[int, bytes]]
) -> None:
    data = json.dumps(document, ensure_ascii=False).encode()
    for place, new in changes:
        data = data[:place] + new + data[place + 1 :]
    root = parse_large(data, "x.json")
    if root is not None:
        assert repr(opened(root.value)) == repr(parse(data, "x.json").value)


@given(PAIRS.filter(bool), st.booleans(), st.integers(0, 3))
def test_merges_get_the_ids_that_their_objects_get(
    pairs: list[list[str]], are_lines: bool, prefix_size: int
) -> None:
    merges: list[Any] = [" ".join(pair) for pair in pairs] if are_lines else pairs
    texts = dict.fromkeys(text for pair in pairs for text in (*pair, "".join(pair)))
    vocab = {text: id for id, text in enumerate(texts)}
    data = json.dumps({"model": {"merges": merges}}).encode()
    if (root := parse_large(data, "x.json")) is None:
        pytest.fail("its merges are plain ones")
    array = long_array(root.value)
    found = merges_of_array(vocab, array.document, array.begin, prefix_size)
    assert found.tolist() == merges_of_strings(vocab, merges, prefix_size).tolist()


@given(st.lists(st.tuples(TEXTS, st.decimals(-99, 99, places=9)), min_size=1))
def test_scores_are_what_the_parser_makes_of_them(entries: list[tuple[str, Any]]) -> None:
    rows = ",".join(f"[{json.dumps(text)}, {score:f}]" for text, score in entries)
    data = f'{{"model": {{"vocab": [{rows}]}}}}'.encode()
    if (root := parse_large(data, "x.json")) is None:
        pytest.fail("its pieces are plain ones")
    array = long_array(root.value)
    pieces, scores = scores_of_array(array.document, array.begin)
    expected = parse(data, "x.json").value["model"]["vocab"]
    assert [*map(repr, zip(pieces, scores.tolist(), strict=True))] == [
        repr((piece, score)) for piece, score in expected
    ]


@pytest.mark.parametrize(
    "merge",
    [
        *('"a \\ud800"', '"a \ud800"', '"a', '"a\n"', '"a \\x"', '["a"]', '["a", "b", "c"]'),
        '["a", 1e2]',
    ],
)
def test_what_is_no_plain_merge_is_left_to_the_parser(merge: str) -> None:
    data = f'{{"model": {{"merges": [{merge}]}}}}'.encode("utf-8", "surrogatepass")
    assert parse_large(data, "x.json") is None


def test_an_error_in_the_rest_is_left_to_the_parser_which_says_where_it_is() -> None:
    data = b'{"model": {"merges": ["a b"]},\n oops}'
    assert parse_large(data, "x.json") is None
    with pytest.raises(SourceError, match="line 2"):
        parse(data, "x.json")


@pytest.mark.parametrize("keys", ['"model": 1, "model"', '"model": {"merges": 1}, "model"'])
def test_a_key_that_stands_twice_is_left_to_the_parser(keys: str) -> None:
    data = f'{{{keys}: {{"merges": ["a b"]}}}}'.encode()
    assert parse_large(data, "x.json") is None
