"""Many texts to one array: the ids of each text, from lists and from Arrow arrays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runtime_samples import tokenizer

pa = pytest.importorskip("pyarrow")

SUBJECT = tokenizer("ranks")


def same_as_one_by_one(texts: list[str], source: object, **options: object) -> None:
    ids, offsets = SUBJECT.encode_batch_to_numpy(source, **options)  # type: ignore[arg-type]
    assert (ids.dtype, offsets.dtype) == (np.dtype("u4"), np.dtype("u8"))
    assert [ids[a:b].tolist() for a, b in pairwise(offsets)] == [
        SUBJECT.encode(text) for text in texts
    ]


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(1, 4))
def test_the_ids_equal_those_of_each_text(texts: list[str], threads: int) -> None:
    same_as_one_by_one(texts, texts, num_threads=threads)
    for kind in (pa.string(), pa.large_string()):
        array = pa.array(texts, kind)
        same_as_one_by_one(texts, array, num_threads=threads)
        same_as_one_by_one(texts[3:7], array[3:7], num_threads=threads)


def test_a_column_of_a_table_is_one_array() -> None:
    texts = ["the", "lighthouse", "", "é"]
    for chunks in ([], [texts], [texts[:1], texts[1:]]):
        column = pa.chunked_array(chunks, pa.string())
        same_as_one_by_one([*column.to_pylist()], column)


def test_threads_share_a_long_batch() -> None:
    texts = [f"the lighthouse {i} " * (i % 50) for i in range(3000)]
    same_as_one_by_one(texts, pa.array(texts), num_threads=3)


def test_bytes_of_an_arrow_array_must_be_utf8() -> None:
    same_as_one_by_one(["é"], pa.array(["é".encode()]))
    with pytest.raises(UnicodeDecodeError):
        SUBJECT.encode_batch_to_numpy(pa.array([b"\xff"]))


@pytest.mark.parametrize(
    ("texts", "error", "words"),
    [
        (pa.array([1, 2]), TypeError, "cast it to string"),
        (pa.array(["a", None]), ValueError, "must not hold nulls"),
        ("abc", TypeError, "several texts"),
        ([1], TypeError, "text must be a str"),
    ],
)
def test_other_values_are_refused(texts: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        SUBJECT.encode_batch_to_numpy(texts)  # type: ignore[arg-type]
