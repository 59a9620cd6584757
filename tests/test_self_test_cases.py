"""A file's self test is small, the same each time, and covers what differs between tokenizers."""

from __future__ import annotations

import pytest
from runtime_samples import NAMES, SMALL

from tokexport.model import TokenizerModel
from tokexport.readers import read
from tokexport.references import ReferenceTokenizer, reference_for
from tokexport.selftest import self_test_cases


def sample(name: str) -> tuple[TokenizerModel, ReferenceTokenizer]:
    source = SMALL / f"{name}.json"
    return read(source), reference_for(source)


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_are_few_small_and_the_same_each_time(name: str) -> None:
    model, reference = sample(name)
    cases = self_test_cases(model, reference, 32)
    assert 16 <= len(cases) <= 32
    assert sum(len(case.text.encode()) for case in cases) <= 4096
    assert cases == self_test_cases(model, reference, 32)
    assert len({(case.text, case.special) for case in cases}) == len(cases)


@pytest.mark.parametrize("name", NAMES)
def test_the_ids_are_those_of_the_reference(name: str) -> None:
    model, reference = sample(name)
    for case in self_test_cases(model, reference, 32):
        assert list(case.ids) == reference.encode(case.text, case.special)


def test_special_tokens_come_as_ids_and_as_text() -> None:
    model, reference = sample("added")
    cases = self_test_cases(model, reference, 32)
    special = {token.content: token.id for token in model.added_tokens if token.special}
    found = [case for case in cases if any(content in case.text for content in special)]
    assert any(case.special and set(special.values()) & set(case.ids) for case in found)
    assert any(not case.special and not set(special.values()) & set(case.ids) for case in found)


def test_every_combination_of_flags_that_fits_is_among_the_texts() -> None:
    model, reference = sample("added")
    texts = [case.text for case in self_test_cases(model, reference, 48) if case.special]
    kinds = {
        (t.special, t.single_word, t.lstrip, t.rstrip, t.normalized): t.content for t in reversed(model.added_tokens)
    }
    assert sum(any(content in text for text in texts) for content in kinds.values()) >= min(4, len(kinds))


def test_the_texts_cover_white_space_scripts_normalization_and_the_edge_of_a_hundred_bytes() -> None:
    model, reference = sample("qwen")
    text = "\0".join(case.text for case in self_test_cases(model, reference, 32))
    for part in (
        "\r\n",
        "\u00a0",
        "\u2028",
        "it'\u017f",
        "e\u0301",
        "\u1100\u1161",
        "你好",
        "😀",
        "123",
        "x" * 99,
        "y" * 101,
    ):
        assert part in text, repr(part)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_fewer_cases_are_made_where_fewer_are_wanted(limit: int) -> None:
    model, reference = sample("added")
    assert len(self_test_cases(model, reference, limit)) <= limit
