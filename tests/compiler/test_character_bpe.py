"""BPE over characters, with byte fallback, affixes and cuts, produces the ids of the reference."""

import itertools
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import random_character_models
import tokexport_reader
from compared import file_or_none, ids_or_none
from json_parts import FUSE, digits, replace, split
from parts.cases import document
from reader_samples import added, read_document, reference
from repository import SLOW

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import load

SEEDS = range(1_000 if SLOW else 100)
SEEDS_PER_TEST = 50


SPLIT = split("[ \n]+")


@pytest.mark.parametrize("first", SEEDS[::SEEDS_PER_TEST])
def test_a_random_model_is_exact_or_refused(first: int, tmp_path: Path) -> None:
    exact = 0
    for seed in range(first, first + SEEDS_PER_TEST):
        r = random.Random(seed)
        model = random_character_models.character_model(seed)
        source = document(model, pre_tokenizer=r.choice([None, SPLIT]), decoder=FUSE)
        library = reference(source)
        if (content := file_or_none(source, tmp_path)) is None:
            continue
        exact += 1
        tokenizer, file = load(content), tokexport_reader.open_file(content)
        texts = [random_character_models.text(r, 24) for _ in range(60)]
        texts += ["".join(r.choices(list(model["vocab"]), k=r.randint(1, 6))) for _ in range(20)]
        for text in texts:
            ids = ids_or_none(library.encode, text)
            assert ids_or_none(tokenizer.encode, text) == ids, (seed, text)
        for text in (text[:40] for text in texts[:5]):
            specified = ids_or_none(partial(tokexport_reader.encode, file), text.encode())
            assert specified == ids_or_none(library.encode, text), (seed, text)
    assert exact > SEEDS_PER_TEST * 0.7


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
        runtime, library = load(file_bytes(read_document(source, tmp_path))), reference(source)
        for letters in itertools.product("aub\u4e2d", repeat=5):
            text = "".join(letters)
            assert runtime.encode(text) == library.encode(text).ids, text
