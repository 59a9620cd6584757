"""The template adds the ids and type ids of the reference's post-processor to a text or a pair."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTE_LEVEL, document, read_document, reference
from repository import SLOW
from tokenizers import Tokenizer

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import Template, TemplateItem
from tokexport.runtime.tokenizer import load
from tokexport.sources.tokenizer_json.document import special as token
from tokexport.sources.tokenizer_json.document import text as sequence

TRIMS = {"trim_offsets": True, "add_prefix_space": True}
ROBERTA = {"type": "RobertaProcessing", "sep": ["s", 1], "cls": ["c", 2], **TRIMS}
A, B = sequence("A"), sequence("B")
BERT = {"type": "BertProcessing", "sep": ["s", 3], "cls": ["c", 4]}


def template(single: list[Any], pair: list[Any]) -> dict[str, Any]:
    table = {
        "q": {"id": "q", "ids": [7, 8], "tokens": ["x", "y"]},
        "r": {"id": "r", "ids": [9], "tokens": ["r"]},
    }
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": table}


TYPE = st.integers(0, 3)
TOKEN = st.builds(token, st.sampled_from(["q", "r"]), TYPE)
A_TEXT = st.lists(TOKEN, max_size=2)


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    single = [*draw(A_TEXT), sequence("A", draw(TYPE)), *draw(A_TEXT)]
    pair = [*draw(A_TEXT), sequence("A", draw(TYPE)), *draw(A_TEXT)]
    pair += [sequence("B", draw(TYPE)), *draw(A_TEXT)]
    return template(single, draw(st.permutations(pair)))


PROCESSORS = st.recursive(
    st.one_of(st.just(BYTE_LEVEL), st.just(ROBERTA), st.just(BERT), templates()),
    lambda inner: st.builds(
        lambda parts: {"type": "Sequence", "processors": parts}, st.lists(inner, max_size=3)
    ),
    max_leaves=4,
)


def adding(processor: Any) -> int:
    """How many of the processors add ids."""
    match processor:
        case {"type": "Sequence", "processors": parts}:
            return sum(map(adding, parts))
    return int(processor is not None and processor["type"] != "ByteLevel")


def filled(items: Sequence[TemplateItem]) -> list[tuple[int | None, int]]:
    """The items with ids in place of the texts: ids with their type ids."""
    ids = {"A": b"ab", "B": b"c"}
    return [
        (number, item.type_id)
        for item in items
        for number in ([item.id] if item.sequence is None else ids[item.sequence])
    ]


def assert_same(theirs: Tokenizer, template: Template, *, special: bool = True) -> None:
    """Compares what is added to "ab", and to the pair of it and "c"."""
    for pair, items in ((None, template.single), ("c", template.pair)):
        encoding = theirs.encode("ab", pair, add_special_tokens=special)
        kept = [item for item in items if special or item.id is None]
        assert list(zip(encoding.ids, encoding.type_ids, strict=True)) == filled(kept)


@settings(max_examples=400 if SLOW else 150)
@given(processor=st.one_of(st.none(), PROCESSORS))
def test_single_and_pair_equal_those_of_the_reference(processor: Any, tmp_path: Path) -> None:
    fields = document(post_processor=processor)
    try:
        model = read_document(fields, tmp_path)
    except UnsupportedError:
        assert adding(processor) > 1
        return
    assert adding(processor) <= 1
    for special in (True, False):
        assert_same(reference(fields), model.template, special=special)


FIELDS = {
    name: value
    for name, value in (BYTE_LEVEL | ROBERTA | template([A], [B])).items()
    if name != "type"
}


@settings(max_examples=300 if SLOW else 100)
@given(
    kind=st.sampled_from(
        ["BertProcessing", "RobertaProcessing", "TemplateProcessing", "ByteLevel", "Sequence"]
    ),
    names=st.sets(st.sampled_from(sorted(FIELDS))),
    wrong=st.sampled_from([{}, {}, {"sep": ["s"]}, {"cls": ["c", True]}, {"trim_offsets": 1}]),
)
def test_a_processor_with_fields_of_another_is_refused_or_the_same(
    kind: str, names: set[str], wrong: dict[str, Any], tmp_path: Path
) -> None:
    given = {name: FIELDS[name] for name in names}
    processor = {"type": kind, "processors": [BYTE_LEVEL], **given, **wrong}
    fields = document(post_processor=processor)
    try:
        theirs = reference(fields)
    except Exception:  # the library raises no narrower type
        with pytest.raises((SourceError, UnsupportedError)):
            read_document(fields, tmp_path)
        return
    with contextlib.suppress(SourceError, UnsupportedError):
        assert_same(theirs, read_document(fields, tmp_path).template)


def test_the_fields_of_bytelevel_in_a_template_are_ignored(tmp_path: Path) -> None:
    flags = {"add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    fields = document(post_processor=template([A], [A]) | flags)
    assert_same(reference(fields), read_document(fields, tmp_path).template)


@pytest.mark.parametrize("number", [256, 5000])
def test_an_id_that_is_not_a_token_is_added_unchanged(number: int, tmp_path: Path) -> None:
    fields = document(post_processor=ROBERTA | {"sep": ["s", number]})
    model = read_document(fields, tmp_path)
    runtime = load(file_bytes(model))
    encoding = reference(fields).encode("ab")
    ours = runtime.encode_with_offsets("ab", add_special_tokens=True)
    assert (list(ours.ids), list(ours.offsets)) == (encoding.ids, encoding.offsets)
    pair = runtime.encode_pair("ab", "c", add_special_tokens=True)
    assert pair == reference(fields).encode("ab", "c").ids
    note = f"tokenizer.json: the post_processor adds the id {number}, which is not a token."
    assert note in model.notes
    with pytest.raises(KeyError):
        runtime.decode([number])


ITEMS = st.lists(st.sampled_from([A, sequence("A", 1), token("r"), token("q", 1)]), max_size=4)


@given(
    single=ITEMS, pair=st.lists(st.sampled_from([B, sequence("B", 1)]), max_size=2), others=ITEMS
)
def test_texts_are_repeated_and_ordered_by_the_template_with_and_without_special_tokens(
    single: list[Any], pair: list[Any], others: list[Any], tmp_path: Path
) -> None:
    fields = document(post_processor=template(single, [*others, *pair, *others[:1]]))
    theirs, ours = reference(fields), load(file_bytes(read_document(fields, tmp_path)))
    for add in (True, False):
        for text in ("ab", ""):
            encoding = theirs.encode(text, add_special_tokens=add)
            found = ours.encode_with_offsets(text, add_special_tokens=add)
            assert (list(found.ids), list(found.offsets)) == (encoding.ids, encoding.offsets)
            assert list(found.type_ids) == encoding.type_ids
            assert ours.encode(text, add_special_tokens=add) == encoding.ids
            assert ours.encode_batch([text], add_special_tokens=add) == [encoding.ids]
            wanted = theirs.encode(text, "c", add_special_tokens=add)
            assert ours.encode_pair(text, "c", add_special_tokens=add) == wanted.ids
            both = ours.encode_pair_with_offsets(text, "c", add_special_tokens=add)
            assert (list(both.ids), list(both.type_ids)) == (wanted.ids, wanted.type_ids)


@pytest.mark.parametrize(
    ("processor", "error", "path"),
    [
        ({"type": "Whatever"}, UnsupportedError, "post_processor.type"),
        (template([B], [A]), SourceError, r"post_processor.single\[0\].Sequence.id"),
        (template([token("z"), A], []), SourceError, r"post_processor.single\[0\].SpecialToken.id"),
        (ROBERTA | {"sep": ["s"]}, SourceError, "post_processor.sep"),
        (ROBERTA | {"sep": ["s", 1 << 31]}, UnsupportedError, "post_processor.*2147483648"),
    ],
)
def test_an_invalid_template_is_refused_with_its_path(
    processor: Any, error: type, path: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=path):
        read_document(document(post_processor=processor), tmp_path)
