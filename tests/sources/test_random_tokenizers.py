"""A tokenizer never seen before is converted exactly, or refused; never approximated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from random_tokenizers import encoding, tokenizer_json
from references import assert_same, reference_for
from repository import SLOW

from tokexport.conversion import Options, file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.reference import ReferenceTokenizer

SEEDS = range(600 if SLOW else 40)
TOGETHER = 20


def same(source: object, reference: ReferenceTokenizer) -> bool:
    """True if the file of a source gives the reference's ids; False if the source is refused."""
    try:
        data = file_bytes(read(source), Options())  # type: ignore[arg-type]
    except UnsupportedError:
        return False
    assert_same(data, reference, strings=200)
    return True


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_a_random_tokenizer_json_is_exact_or_refused(first: int, tmp_path: Path) -> None:
    converted = 0
    for seed in range(first, first + TOGETHER):
        path = tmp_path / f"{seed}.json"
        path.write_text(json.dumps(tokenizer_json(seed)), "utf-8")
        try:
            reference = reference_for(path)
        except SourceError:
            with pytest.raises((SourceError, UnsupportedError)):
                read(path)
            continue
        converted += same(path, reference)
    assert converted > TOGETHER // 3


@pytest.mark.parametrize("first", SEEDS[::TOGETHER])
def test_a_random_encoding_is_exact_or_refused(first: int) -> None:
    converted = 0
    for seed in range(first, first + TOGETHER):
        source = encoding(seed)
        converted += same(source, reference_for(source))
    assert converted > TOGETHER // 3
