"""The reader of a tokenizer.json is as strict as the reference, and every refusal has a path."""

import json
from pathlib import Path
from typing import Any

import pytest
from reader_samples import added, document, read_document, reference

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TemplateItem
from tokexport.sources.json_node import parse

TOKEN = {"added_tokens": [added("<s>")]}


def changed(old: str, new: str, **changes: Any) -> str:
    """The text of a document, with a part of it replaced."""
    text = json.dumps(document(**changes))
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed('"!": 33', '"\\ud800": 33'), "lone surrogate"),
        (changed('"!": 33', '"!": NaN'), "NaN is not JSON"),
        (changed('"!": 33', f'"!": {"1" * 5000}'), "a number of thousands of digits"),
        (changed('"truncation"', '\ufeff"truncation"'), "line 1, column"),
        ("\ufeff" + json.dumps(document()), "not JSON|byte order mark"),
        (json.dumps(document())[:-1], "line 1, column"),
        (changed('"content":', '"id": 0, "content":', **TOKEN), r"added_tokens\[0\] has a key"),
        (changed('"version": "1.0"', '"version": null'), "version is null"),
        (changed('"added_tokens": []', '"added_tokens": null'), "added_tokens is null"),
        (
            changed('"lstrip": false, ', "", **TOKEN),
            r"added_tokens\[0\] lacks the required field 'lstrip'",
        ),
        (changed('"id": 0', '"id": -1', **TOKEN), r"added_tokens\[0\].id is -1"),
    ],
)
def test_the_reference_refuses_refused_documents(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((SourceError, UnsupportedError), match=message):
        read_document(text, tmp_path)
    with pytest.raises(Exception, match=r".+"):
        reference(text)


def test_the_last_id_of_a_duplicate_token_counts(tmp_path: Path) -> None:
    text = changed('"!": 33', '"!": 999, "!": 33')
    assert len(read_document(text, tmp_path).tokens) == 256
    assert reference(text).token_to_id("!") == 33


def test_a_surrogate_pair_or_escaped_backslash_is_not_a_lone_surrogate() -> None:
    assert parse(b'["\\ud83d\\ude00", "\\\\ud800"]', "x").value == ["\U0001f600", "\\ud800"]


def test_an_error_shows_what_is_beside_a_lone_surrogate() -> None:
    near = r'\[0, {\\"k k\\": \\"\\udc00\\"}]'
    with pytest.raises(SourceError, match=near):
        parse(b'{"a": [0, {"k k": "\\udc00"}]}', "x.json")


def test_a_document_may_have_only_its_parts(tmp_path: Path) -> None:
    parts = ("pre_tokenizer", "decoder", "model")
    fields = {name: value for name, value in document().items() if name in parts}
    model = read_document(fields, tmp_path)
    assert len(model.tokens) == len(reference(fields).get_vocab())
    pair = (TemplateItem(sequence="A"), TemplateItem(sequence="B", type_id=1))
    assert model.template.pair == pair


def test_notes_mention_truncation_and_padding(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    model = read_document(document(truncation=truncation), tmp_path)
    assert any("truncation" in note for note in model.notes)


def test_a_key_that_is_not_a_word_is_quoted_in_the_path() -> None:
    node = parse(b'{"a b": 1}', "x.json")
    with pytest.raises(SourceError, match=r'x.json: \["a b"\] is 1; expected a string'):
        node.field("a b").string()
