"""The self test of a file is small and deterministic, and covers differences between tokenizers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from json_parts import word_piece
from reader_samples import added, document
from references import reference_for
from repository import small_source
from runtime_samples import NAMES

import tokexport
from tokexport.model import SelfTestCase
from tokexport.sources import read
from tokexport.verification.selftest import self_test


def cases_of(name: str, limit: int = 32) -> Sequence[SelfTestCase]:
    source = small_source(name)
    return self_test(read(source), reference_for(source), limit)[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_are_few_small_and_deterministic(name: str) -> None:
    cases = cases_of(name)
    assert 16 <= len(cases) <= 32
    assert sum(len(case.text.encode()) for case in cases) <= 4096
    assert cases == cases_of(name)
    assert len({(case.text, case.special) for case in cases}) == len(cases)


@pytest.mark.parametrize("name", NAMES)
def test_the_ids_equal_those_of_the_reference(name: str) -> None:
    reference = reference_for(small_source(name))
    for case in cases_of(name):
        assert list(case.ids) == reference.encode(case.text, case.special)


def test_special_tokens_occur_as_ids_and_as_text() -> None:
    cases, tokens = cases_of("added"), read(small_source("added")).added_tokens
    special = {token.content: token.id for token in tokens if token.special}
    relevant = [case for case in cases if any(content in case.text for content in special)]
    assert any(case.special and set(special.values()) & set(case.ids) for case in relevant)
    assert any(not case.special and not set(special.values()) & set(case.ids) for case in relevant)


def test_the_texts_have_every_valid_combination_of_flags() -> None:
    texts = [case.text for case in cases_of("added", 48) if case.special]
    kinds = {
        (t.special, t.single_word, t.lstrip, t.rstrip, t.normalized): t.content
        for t in reversed(read(small_source("added")).added_tokens)
    }
    occurring = [content for content in kinds.values() if any(content in text for text in texts)]
    assert len(occurring) >= min(4, len(kinds))


def test_the_texts_cover_spaces_scripts_normalization_and_the_edge_of_a_hundred_bytes() -> None:
    text = "\0".join(case.text for case in cases_of("qwen"))
    for part in (
        *("\r\n", "\u00a0", "\u2028", "it'\u017f", "e\u0301", "\u1100\u1161", "你好", "😀", "123"),
        "x" * 99,
        "y" * 101,
    ):
        assert part in text, repr(part)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_fewer_cases_are_made_on_request(limit: int) -> None:
    assert len(cases_of("added", limit)) <= limit


WORDS = {"type": "WordLevel", "vocab": {"a": 0, "=": 1}, "unk_token": "[UNK]"}
WORD_PIECE = word_piece({"a": 0, "##b": 1, "##a": 2, "b": 3})
UNIGRAM = {"type": "Unigram", "vocab": [["a", -1.0], ["b", -2.0]], "unk_id": None}


@pytest.mark.parametrize("special", [[], [added("[UNK]", 9, special=True)]])
@pytest.mark.parametrize("model", [WORDS, WORD_PIECE, UNIGRAM], ids=lambda model: model["type"])
def test_texts_at_which_the_reference_stops_are_skipped_and_counted(
    model: dict[str, Any], special: list[dict[str, Any]], tmp_path: Path
) -> None:
    fields = document(pre_tokenizer={"type": "WhitespaceSplit"}, decoder=None)
    fields |= {"model": model, "added_tokens": special}
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields))
    conversion = tokexport.convert(tmp_path, tmp_path / "tokenizer.bin")
    tokenizer = tokexport.load(tmp_path / "tokenizer.bin")
    texts = [case.text for case in self_test(conversion.model, reference_for(tmp_path), 32)[0]]
    assert tokenizer.self_test() == len(texts)
    note = conversion.notes[-1]
    assert "itself stops at the others" in note
    assert {"a", ""} <= set(texts)
    assert f"has {len(texts)} of " in note
    with pytest.raises(ValueError, match="not in the vocabulary"):
        tokenizer.encode("zzz")


def test_a_model_that_never_needs_its_missing_unknown_token_has_every_text(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(model={"unk_token": "[UNK]"})))
    cases, notes = self_test(read(tmp_path), reference_for(tmp_path), 32)
    assert len(cases) >= 16
    assert notes == ()
