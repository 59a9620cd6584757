"""The bulk engine has the ids of the references for BPE over characters of any vocabulary."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bulk_cores import used_for
from compared import file_or_none, ids_or_none
from json_parts import FUSE, metaspace, normalizers, replace
from parts.cases import document
from random_character_models import character_model, text
from random_piece_models import piece_model, piece_texts
from reader_samples import reference
from repository import SLOW

from tokexport._core import Core
from tokexport.sources.sentencepiece.proto import Algorithm

MODELS = 600 if SLOW else 104
PARTS = 8

MAP_SPACES = replace(" ", "\u2581")
NORMALIZERS = (None, MAP_SPACES, normalizers({"type": "Prepend", "prepend": "\u2581"}, MAP_SPACES))
PRE_TOKENIZERS = (None, *(metaspace(scheme, False) for scheme in ("always", "first", "never")))


def texts(r: random.Random, samples: list[str]) -> Iterator[str]:
    """Texts, again when all their words are cached, and as parts of long ones."""
    yield from samples
    yield from samples
    yield "".join(samples)
    for _ in range(10):
        yield r.choice(samples) * r.randint(1, 200)


def ids(core: Core, text: str) -> list[int] | None:
    """The ids of a text; None if a character is unknown and there is no unknown token."""
    return ids_or_none(lambda text: core.encode_numpy(text, (), False).tolist(), text)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_vocabularies_produce_the_ids_of_tokenizers(tmp_path: Path, part: int) -> None:
    with_bulk = 0
    for seed in range(part, MODELS, PARTS):
        r = random.Random(seed)
        model = character_model(seed)
        model["ignore_merges"] = False
        parts = {"pre_tokenizer": r.choice(PRE_TOKENIZERS), "normalizer": r.choice(NORMALIZERS)}
        source = document(model, **parts, decoder=FUSE)
        if (content := file_or_none(source, tmp_path)) is None:
            continue
        engine, library = Core(content, "random", 0), reference(source)
        for sample in texts(r, [text(r, 60) for _ in range(20)]):
            assert ids(engine, sample) == ids_or_none(library.encode, sample), (seed, sample)
        with_bulk += engine.uses_bulk
    assert with_bulk > MODELS // PARTS // 4


@pytest.mark.parametrize("part", range(PARTS))
def test_random_pieces_produce_the_ids_of_sentencepiece(part: int) -> None:
    with_bulk = 0
    for seed in range(part, 4 * MODELS, PARTS):
        r = random.Random(seed)
        model = piece_model(r)
        if model.algorithm is Algorithm.BPE:
            with_bulk += used_for(model, texts(r, piece_texts(r, model, 20)))
    assert with_bulk > MODELS // PARTS // 4


@pytest.mark.parametrize("name", ["llama2", "mistral-7b-v0.1", "gemma3"])
def test_texts_around_special_tokens_have_the_ids_of_the_core(
    shared_content: Callable[[str], bytes], name: str
) -> None:
    content = shared_content(f"{name}/tokenizer.json")
    engine, core = Core(content, name, 0), Core(content, name, 2**63)
    r = random.Random(3)
    parts = [" ", "  ", "\u2581", "hello", " the quick", "\n", "\u4e2d\u6587", "a" * 300, "<", "\t"]
    for _ in range(400):
        sample = "".join(r.choices([*parts, "<s>", "</s>"], k=r.choice([1, 3, 20, 200])))
        for allowed in ((), "all"):
            actual = engine.encode(sample, allowed, False)
            assert actual == core.encode(sample, allowed, False), sample
    assert engine.uses_bulk
