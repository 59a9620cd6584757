"""The rows of PIDX change nothing but the speed."""

import itertools
import random
import string
from pathlib import Path

import pytest
import random_character_models
import random_piece_models
from compared import Compared, ComparedPieces
from parts.cases import document
from tokexport_reader.data import u32

from tokexport.compiler.merges import byte_pair
from tokexport.sources.sentencepiece.proto import Algorithm


def test_the_leftmost_of_several_merges_of_one_rank_is_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(byte_pair, "FEW_MERGES", -1)
    compared = 0
    for seed in range(300):
        r = random.Random(seed)
        model = random_piece_models.piece_model(r)
        if model.algorithm is not Algorithm.BPE:
            continue
        readers = ComparedPieces.of(model)
        texts = [random_character_models.runs(r, "abcx") for _ in range(25)]
        compared += len([*map(readers.check, (*texts, *(letter * 150 for letter in "abcx")))])
    assert compared > 1000


def test_a_large_model_has_rows_and_produces_the_ids_of_tokenizers(tmp_path: Path) -> None:
    r = random.Random(5)
    letters = string.ascii_lowercase
    merges = [(a, b) for a, b in itertools.product(letters, letters) if r.random() < 0.8]
    merges += r.sample([(a + b, c) for (a, b), c in itertools.product(merges, letters)], 12_000)
    r.shuffle(merges)
    tokens = dict.fromkeys([*letters, *map("".join, merges)])
    vocab = {token: number for number, token in enumerate(tokens)}
    source = document({"type": "BPE", "vocab": vocab, "merges": merges})
    readers = Compared(source, tmp_path)
    assert u32(readers.spec.sections[b"PIDX"], 8) == byte_pair.ROW_SHIFT
    for length in (*range(1, 70), 300, 5000):
        assert readers.check("".join(r.choices(letters, k=length)), slow=False)
