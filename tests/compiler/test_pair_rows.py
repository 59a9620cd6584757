"""The rows of PIDX change nothing but the speed."""

import itertools
import random
import string
from pathlib import Path

import pytest
import random_character_models
import random_piece_models
import tokexport_reader
from compared import file_or_none, ids_or_none
from json_parts import FUSE
from parts.cases import document
from reader_samples import read_document, reference
from sentencepiece_training import library_of, model_of
from tokexport_reader.data import u32

from tokexport.compiler.merges import byte_pair
from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import Algorithm


@pytest.fixture
def every_model_has_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_pair, "FEW_MERGES", -1)


def runs(r: random.Random, letters: str) -> str:
    """Runs of letters; some texts are longer than a short pre-token."""
    times = r.choice([1, 1, 4])
    chosen = r.choices(letters, k=r.randint(1, 30))
    return "".join(letter * r.choice([1, 1, 2, 3, 8]) for letter in chosen) * times


@pytest.mark.usefixtures("every_model_has_rows")
def test_random_models_produce_the_ids_and_spans_of_tokenizers(tmp_path: Path) -> None:
    compared = 0
    for seed in range(120):
        r = random.Random(seed)
        source = document(random_character_models.character_model(seed), decoder=FUSE)
        if (content := file_or_none(source, tmp_path)) is None:
            continue
        tokenizer, library = load(content), reference(source)
        texts = [runs(r, "abcde") for _ in range(20)]
        texts += [random_character_models.text(r, 24) for _ in range(20)]
        for text in texts:
            ids = ids_or_none(library.encode, text)
            assert ids_or_none(tokenizer.encode, text) == ids, (seed, text)
            if ids is not None:
                spans = library.encode(text).offsets
                assert tokenizer.encode_with_offsets(text).offsets == spans, (seed, text)
                compared += 1
    assert compared > 2000


@pytest.mark.usefixtures("every_model_has_rows")
def test_the_leftmost_of_several_merges_of_one_rank_is_first() -> None:
    compared = 0
    for seed in range(300):
        r = random.Random(seed)
        model = random_piece_models.piece_model(r)
        if model.algorithm is not Algorithm.BPE:
            continue
        tokenizer, library = load(file_bytes(model_of(model))), library_of(model)
        for text in [runs(r, "abcx") for _ in range(25)] + [letter * 150 for letter in "abcx"]:
            assert tokenizer.encode(text) == library.encode(text), (seed, text)
            compared += 1
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
    library, content = reference(source), file_bytes(read_document(source, tmp_path))
    assert u32(tokexport_reader.open_file(content).sections[b"PIDX"], 8) == byte_pair.ROW_SHIFT
    tokenizer = load(content)
    for length in (*range(1, 70), 300, 5000):
        text = "".join(r.choices(letters, k=length))
        assert tokenizer.encode(text) == library.encode(text).ids
