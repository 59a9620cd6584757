"""The small tokenizers of fixtures/small have the ids that their reference once produced."""

import pytest
from command_line import PathOf
from references import assert_same, reference_for
from repository import FIXTURES, SLOW, SMALL, script, small_source
from runtime_samples import cases

import tokexport

NAMES = sorted(path.stem for path in SMALL.glob("*.jsonl"))


def test_every_small_tokenizer_has_golden_ids() -> None:
    assert set(NAMES) == {*script(FIXTURES / "make_small.py").TOKENIZERS, "ranks"}
    assert all(len(cases(name)) > 15 for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_installed_reference_still_produces_the_golden_ids(name: str) -> None:
    module = script(FIXTURES / "make_small.py")
    make = module.tiktoken_cases if name == "ranks" else module.tokenizers_cases
    assert list(make(small_source(name))) == cases(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_converted_tokenizer_passes_verification(name: str, small_file: PathOf) -> None:
    tokenizer, reference = tokexport.load(small_file(name)), reference_for(small_source(name))
    assert_same(tokenizer, reference, strings=2000, seed=3, code_points=SLOW)
