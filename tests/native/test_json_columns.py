"""Values of a tokenizer.json that remain bytes equal those read by Python's parser."""

import hashlib
import json
import mmap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import merges_of_array, merges_of_strings, strings_and_numbers
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import ByteStrings, Vocabulary
from tokexport.sources.byte_pair import Names, read_names
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import LongValue, Node, parse, parse_large

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
    """A document with its long values replaced by their objects."""
    if isinstance(value, dict):
        return {name: opened(inner) for name, inner in value.items()}
    return value.objects if isinstance(value, LongValue) else value


def large(data: bytes) -> Node:
    root = parse_large(data, "x.json")
    if root is None:
        pytest.fail("plain values are read natively")
    return root


@given(PLAIN, st.sampled_from([None, 1]), st.booleans())
def test_a_document_with_plain_merges_equals_that_of_the_parser(
    document: Any, indent: int | None, is_ascii: bool
) -> None:
    data = json.dumps(document, indent=indent, ensure_ascii=is_ascii).encode()
    root = large(data)
    model = root.value["model"]
    assert isinstance(model["merges"], LongValue)
    assert isinstance(model["vocab"], LongValue) == bool(document["model"]["vocab"])
    assert repr(opened(root.value)) == repr(parse(data, "x.json").value)


@given(DOCUMENTS, st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=2)), min_size=1))
def test_a_damaged_document_is_read_only_if_the_parser_reads_it(
    document: Any, changes: list[tuple[int, bytes]]
) -> None:
    data = json.dumps(document, ensure_ascii=False).encode()
    for offset, new in changes:
        data = data[:offset] + new + data[offset + 1 :]
    root = parse_large(data, "x.json")
    if root is not None:
        assert repr(opened(root.value)) == repr(parse(data, "x.json").value)


@given(PAIRS.filter(bool), st.booleans(), st.integers(0, 3))
def test_merges_have_the_same_ids_as_objects(
    pairs: list[list[str]], are_lines: bool, prefix_size: int
) -> None:
    merges: list[Any] = [" ".join(pair) for pair in pairs] if are_lines else pairs
    texts = dict.fromkeys(text for pair in pairs for text in (*pair, "".join(pair)))
    vocab = {text: id for id, text in enumerate(texts)}
    data = json.dumps({"model": {"merges": merges}}).encode()
    array = large(data).value["model"]["merges"]
    names = Names.of(Vocabulary.of({text.encode(): id for text, id in vocab.items()}))
    keys, ids = names.index, names.vocabulary.ids
    actual = merges_of_array(keys, ids, array.document, array.begin, prefix_size)
    assert actual.tolist() == merges_of_strings(keys, ids, merges, prefix_size).tolist()


@given(st.lists(st.tuples(TEXTS, st.decimals(-99, 99, places=9)), min_size=1))
def test_scores_equal_those_of_the_parser(entries: list[tuple[str, Any]]) -> None:
    rows = ",".join(f"[{json.dumps(text)}, {score:f}]" for text, score in entries)
    data = f'{{"model": {{"vocab": [{rows}]}}}}'.encode()
    array = large(data).value["model"]["vocab"]
    joined, ends, scores = strings_and_numbers(array.document, array.begin)
    expected = parse(data, "x.json").value["model"]["vocab"]
    assert [*ByteStrings(joined, ends)] == [piece.encode() for piece, _ in expected]
    assert [*map(repr, scores.tolist())] == [repr(score) for _, score in expected]


@given(st.dictionaries(TEXTS, st.integers(0, 10**9 - 1), min_size=1), st.booleans())
def test_a_vocabulary_equals_that_of_the_parser(vocab: dict[str, int], is_ascii: bool) -> None:
    value = large(json.dumps({"model": {"vocab": vocab}}, ensure_ascii=is_ascii).encode())
    array = value.value["model"]["vocab"]
    joined, ends, ids = strings_and_numbers(array.document, array.begin)
    assert [*ByteStrings(joined, ends)] == [name.encode() for name in vocab]
    assert ids.tolist() == [*vocab.values()]


@given(st.lists(st.tuples(TEXTS, st.integers(0, 9)), min_size=1))
def test_a_vocabulary_with_repeated_names_or_ids_is_read_like_its_objects(
    entries: list[tuple[str, int]],
) -> None:
    text = ",".join(f"{json.dumps(name)}: {id}" for name, id in entries)
    data = f'{{"model": {{"vocab": {{{text}}}}}}}'.encode()
    outcomes = []
    for root in (large(data), parse(data, "x.json")):
        node = root.field("model").field("vocab")
        try:
            outcomes.append(repr([*read_names(node).items()]))
        except UnsupportedError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


IDS = ("-1", "01", "1.0", "1e1", "true", "1000000000", '"1"', "1 1")
MERGES = (
    *('"a \\ud800"', '"a \ud800"', '"a', '"a\n"', '"a \\x"', '["a"]', '["a", "b", "c"]'),
    '["a", 1e2]',
)


@pytest.mark.parametrize(
    "fields",
    [
        *(f'"model": {{"vocab": {{"a": {id}}}}}' for id in IDS),
        *(f'"model": {{"merges": [{merge}]}}' for merge in MERGES),
        '"model": 1, "model": {"merges": ["a b"]}',
        '"model": {"merges": 1}, "model": {"merges": ["a b"]}',
    ],
)
def test_values_that_are_not_plain_and_duplicate_keys_are_left_to_the_parser(fields: str) -> None:
    assert parse_large(f"{{{fields}}}".encode("utf-8", "surrogatepass"), "x.json") is None


def test_an_error_elsewhere_is_left_to_the_parser_which_reports_its_location() -> None:
    data = b'{"model": {"merges": ["a b"]},\n oops}'
    assert parse_large(data, "x.json") is None
    with pytest.raises(SourceError, match="line 2"):
        parse(data, "x.json")


def test_a_mapped_file_is_read_like_its_bytes_even_after_its_release(tmp_path: Path) -> None:
    vocab = {f"token {id}": id for id in range(5_000)}
    data = json.dumps({"model": {"vocab": vocab, "merges": ["a b"]}}).encode()
    (tmp_path / "x.json").write_bytes(data)
    files = SourceFiles(tmp_path)
    view = files.view("x.json")
    assert isinstance(view, mmap.mmap)
    assert (files.sha256, files.sizes) == (
        {"x.json": hashlib.sha256(data).hexdigest()},
        {"x.json": len(data)},
    )
    root = parse_large(view, "x.json")
    assert root is not None
    for _ in range(2):
        assert dict(read_names(root.field("model").field("vocab"))) == vocab
        root.value["model"]["vocab"].release()
    (tmp_path / "empty.json").write_bytes(b"")
    assert files.view("empty.json") == b""
