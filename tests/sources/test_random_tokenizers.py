"""A random tokenizer is converted exactly or refused, never approximated."""

from contextlib import suppress
from pathlib import Path

import pytest
from random_tokenizers import encoding
from references import assert_same, random_tokenizer, reference_for
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.sources import read

SEEDS = range(600 if SLOW else 40)
TOGETHER = 20


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_a_random_tokenizer_json_is_exact_or_refused(first: int, tmp_path: Path) -> None:
    converted = 0
    for seed in range(first, first + TOGETHER):
        if (made := random_tokenizer(seed, tmp_path)) is not None:
            assert_same(*made[1:], strings=200)
            converted += 1
    assert converted > TOGETHER // 3


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_a_random_encoding_is_exact_or_refused(first: int) -> None:
    converted = 0
    for seed in range(first, first + TOGETHER):
        source = encoding(seed)
        with suppress(UnsupportedError):
            assert_same(file_bytes(read(source)), reference_for(source), strings=200)
            converted += 1
    assert converted > TOGETHER // 3
