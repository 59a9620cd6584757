"""BPE over characters, with byte fallback, affixes and rows of merges, has the reference's ids."""

import itertools
import random
import string
from pathlib import Path
from typing import Any

import pytest
import random_character_models
import random_piece_models
import tokexport_reader
from compared import Compared, ComparedPieces, compared_or_none, file_or_none, ids_or_none
from json_parts import FUSE, digits, replace, split
from parts.cases import document
from reader_samples import added, reference
from repository import SLOW
from tokexport_reader.data import u32

from tokexport.compiler.merges import byte_pair
from tokexport.sources.sentencepiece.proto import Algorithm

SEEDS = range(1_000 if SLOW else 120)
SEEDS_PER_TEST = 40


SPLIT = split("[ \n]+")


@pytest.mark.parametrize("few_merges", [byte_pair.FEW_MERGES, -1])
@pytest.mark.parametrize("first", SEEDS[::SEEDS_PER_TEST])
def test_a_random_model_is_exact_or_refused(
    first: int, few_merges: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_pair, "FEW_MERGES", few_merges)  # with more, PIDX has rows
    exact = compared = 0
    for seed in range(first, first + SEEDS_PER_TEST):
        r = random.Random(seed)
        model = random_character_models.character_model(seed)
        source = document(model, pre_tokenizer=r.choice([None, SPLIT]), decoder=FUSE)
        if (readers := compared_or_none(source, tmp_path)) is None:
            continue
        texts = [random_character_models.text(r, 24) for _ in range(60)]
        texts += ["".join(r.choices(list(model["vocab"]), k=r.randint(1, 6))) for _ in range(20)]
        texts += [random_character_models.runs(r, "abcde") for _ in range(20)]
        exact += 1
        compared += sum(readers.check(text, slow=False) for text in texts)
        for text in texts[:5]:
            readers.check(text[:40])
    assert exact > SEEDS_PER_TEST * 0.7
    assert compared > SEEDS_PER_TEST * 50


MARK = "\u2581"
REPLACE = replace(" ", MARK)


@pytest.mark.parametrize("stage", [None, SPLIT, digits(False)])
def test_both_sides_of_a_cut_have_the_ids_of_the_whole(
    stage: dict[str, Any] | None, tmp_path: Path
) -> None:
    cut = 0
    for seed in range(16):
        r = random.Random(seed)
        model = random_character_models.character_model(seed)
        token = added("b e", len(model["vocab"]), normalized=seed % 2 == 0)
        parts = {"normalizer": REPLACE, "pre_tokenizer": stage, "added_tokens": [token]}
        source = document(model, **parts, decoder=FUSE)
        if (content := file_or_none(source, tmp_path)) is None:
            continue
        file = tokexport_reader.open_file(content)
        library, cuts = reference(source), file.sections.get(b"CUTS", bytes(2048))
        for _ in range(20):
            text = "".join(r.choices("abcdexy \n1", k=30))
            ids = ids_or_none(library.encode, text)
            for at in range(1, len(text)):
                x, y = ord(text[at - 1]), ord(text[at])
                if ids is not None and cuts[16 * x + (y >> 3)] >> (y & 7) & 1:
                    cut += 1
                    sides = library.encode(text[:at]).ids + library.encode(text[at:]).ids
                    assert sides == ids, (seed, text, at)
    assert cut > 300


def test_an_unknown_token_that_is_a_character_also_merges(tmp_path: Path) -> None:
    vocab = {"u": 0, "a": 1, "b": 2, "au": 3, "ub": 4}
    model = {"type": "BPE", "unk_token": "u", "vocab": vocab, "merges": [["a", "u"], ["u", "b"]]}
    for fuse in (True, False):
        source = document({**model, "fuse_unk": fuse, "byte_fallback": False})
        readers = Compared(source, tmp_path)
        for letters in itertools.product("aub\u4e2d", repeat=5):
            assert readers.check("".join(letters), slow=False)


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
