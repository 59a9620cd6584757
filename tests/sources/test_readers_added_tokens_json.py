"""added_tokens.json beside vocab.json and merges.txt: its tokens are added in the order of their
ids, as in the library.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from reader_samples import BYTES
from references import assert_same, reference_for

from tokexport.conversion import Options, file_bytes
from tokexport.errors import SourceError
from tokexport.sources import read

VOCAB = {**BYTES, "ab": 256, "<s>": 257}
ADDED = {"<y>": 260, "<x>": 259, "<s>": 257, " a": 258, "ab": 261, "b<x>": 262}
ROLES = {
    "bos_token": "<s>",
    "pad_token": {"content": "<x>", "lstrip": True},
    "additional_special_tokens": ["b<x>"],
}


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    (tmp_path / "vocab.json").write_text(json.dumps(VOCAB), "utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    return tmp_path


def beside(folder: Path, name: str, content: Any) -> Path:
    (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


@pytest.mark.parametrize("roles", ["special_tokens_map.json", "tokenizer_config.json", None])
def test_a_pair_with_added_tokens_is_exact(pair: Path, roles: str | None) -> None:
    beside(pair, "added_tokens.json", ADDED)
    if roles is not None:
        beside(pair, roles, ROLES)
    model = read(pair)
    special = {token.content for token in model.added_tokens if token.special}
    assert special == ({"<s>", "<x>", "b<x>"} if roles is not None else set())
    assert_same(file_bytes(model, Options()), reference_for(pair), strings=2000)


def test_tokens_get_ids_in_the_order_of_declared_ids(pair: Path) -> None:
    model = read(beside(pair, "added_tokens.json", {"<b>": 300, "<a>": 299}))
    found = [(token.id, token.content) for token in model.added_tokens]
    assert found == [(258, "<a>"), (259, "<b>")]
    declared = 'declares the id 299 for "<a>": the reference gives it 258'
    assert any(declared in note for note in model.notes)


def test_given_special_tokens_replace_the_file(pair: Path) -> None:
    beside(pair, "added_tokens.json", ADDED)
    given = {"<b>": 301, "<a>": 300}
    model = read(pair, special_tokens=given)
    assert [token.content for token in model.added_tokens] == ["<a>", "<b>"]
    assert any("added_tokens.json is left out" in note for note in model.notes)
    reference = reference_for(pair, special_tokens=given)
    assert_same(file_bytes(model, Options()), reference, strings=500)


@pytest.mark.parametrize("content", [["<x>"], {"<x>": "5"}, {"<x>": -1}])
def test_a_file_that_is_not_an_object_of_ids_is_refused(pair: Path, content: Any) -> None:
    with pytest.raises(SourceError, match=r"added_tokens\.json"):
        read(beside(pair, "added_tokens.json", content))
