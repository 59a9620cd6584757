"""Qwen3's file is small, and each of its merged tokens has the score of its merge."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tokexport.conversion import convert
from tokexport.runtime.tokenizer import Tokenizer, load

MB = 1_000_000


@pytest.fixture(scope="module")
def source(shared: Path) -> Path:
    return shared / "tokenizers" / "qwen3"


@pytest.fixture(scope="module")
def tokenizer(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("qwen3") / "tokenizer.bin"
    convert(source, path)
    return load(path)


def test_a_complete_file_has_at_most_5_3_megabytes(tokenizer: Tokenizer) -> None:
    assert tokenizer.path is not None
    assert tokenizer.path.stat().st_size <= 5.3 * MB
    assert {"SCOR", "TEST", "CHAT", "NORM"} <= {str(tag) for tag, _ in tokenizer.sections()}


def test_a_decode_only_file_has_at_most_2_3_megabytes(source: Path, tmp_path: Path) -> None:
    assert convert(source, tmp_path / "tokenizer.bin", decode_only=True).size <= 2.3 * MB


def test_every_token_has_the_score_that_small_runtimes_expect(
    source: Path, tokenizer: Tokenizer
) -> None:
    """-ln(rank + 1), found by the joined text of the merge; the text of the pair with a space in it
    is not a token.
    """
    model = json.loads((source / "tokenizer.json").read_text("utf-8"))["model"]
    ranks = {"".join(pair): rank for rank, pair in enumerate(model["merges"])}
    expected = np.full(tokenizer.n_vocab, -1e6)
    for token, token_id in model["vocab"].items():
        if token in ranks:
            expected[token_id] = -math.log(ranks[token] + 1)
    assert tokenizer.scores is not None
    assert (tokenizer.scores == expected.astype(np.float32)).all()
    assert int((tokenizer.scores != np.float32(-1e6)).sum()) == len(model["merges"]) == 151_387
