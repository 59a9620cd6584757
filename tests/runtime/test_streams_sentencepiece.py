"""A text of a SentencePiece model may arrive in parts: cut where the file says so, it has the ids
that the library gives the whole text, though sums and unknown words run through it.
"""

import random
from dataclasses import replace

import pytest
from random_piece_models import MARK, TEXTS, piece_model, piece_texts
from repository import SLOW
from sentencepiece_training import library_of, model_of, normalizer, small, unigram

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources.sentencepiece.proto import Algorithm, Piece, PieceType, SentencePieceModel


def in_parts(tokenizer: Tokenizer, text: str, size: int) -> list[int]:
    parts = (text[at : at + size] for at in range(0, len(text), size))
    return [id for ids in tokenizer.encode_stream(parts) for id in ids.tolist()]


def with_cuts(rng: random.Random) -> tuple[SentencePieceModel, Tokenizer] | None:
    """A random model whose file has cuts, and what is converted from it."""
    source = piece_model(rng)
    if source.algorithm is Algorithm.UNIGRAM:
        scored = [replace(piece, score=-rng.uniform(0, 12)) for piece in source.pieces]
        source = replace(source, pieces=tuple(scored))
    content = file_bytes(model_of(source))
    return (source, load(content)) if b"CUTS" in content[:2048] else None


def test_a_random_model_has_the_ids_of_the_library_however_the_text_arrives() -> None:
    models = dict.fromkeys(Algorithm, 0)
    for seed in range(4000 if SLOW else 400):
        rng = random.Random(seed)
        found = with_cuts(rng)
        if found is None:
            continue
        source, tokenizer = found
        library = library_of(source)
        models[source.algorithm] += 1
        for _ in range(12):
            words = [*piece_texts(rng, source, 4), *rng.choices(TEXTS, k=4)]
            text = "".join(rng.choices(words + [" "] * 4, k=rng.randrange(2, 30)))
            expected = library.encode(text)
            for size in (1, 2, 7):
                assert in_parts(tokenizer, text, size) == expected, (seed, text, size)
    assert min(models.values()) > 20, models


@pytest.fixture(scope="module")
def tied() -> SentencePieceModel:
    """A model in which words have several paths of equal sums, so that rounding decides."""
    scores = {MARK: -1.97, "x": -4.489, "xxx": -11.484, "xxxx": -16.01}
    return unigram(scores, Piece("<s>", 0.0, PieceType.CONTROL))


def test_a_sum_runs_on_after_a_cut(tied: SentencePieceModel) -> None:
    library, tokenizer = library_of(tied), load(file_bytes(model_of(tied)))
    for seed in range(20):
        rng = random.Random(seed)
        made = ["x" * rng.randrange(1, 9) for _ in range(6000)]
        text = " ".join(made)
        expected = library.encode(text)
        assert [id for word in made for id in tokenizer.encode(word)] != expected
        assert in_parts(tokenizer, text, 1000) == expected
        assert tokenizer.encode(text) == expected  # in blocks
        many = f"{text} " * 20
        assert tokenizer.encode_batch([many], num_threads=2) == [library.encode(many)]


def test_unknown_words_are_one_id_on_both_sides_of_a_cut() -> None:
    words = (Piece(f"{MARK}{word}", -1.0) for word in ("a", "b"))
    source = small(*words, algorithm=Algorithm.WORD, normalizer=normalizer({}))
    library, tokenizer = library_of(source), load(file_bytes(model_of(source)))
    for seed in range(100):
        rng = random.Random(seed)
        text = " ".join(rng.choices(["a", "b", "x", "y", MARK, "\u4e2d", ""], k=40))
        expected = library.encode(text)
        assert in_parts(tokenizer, text, rng.choice((1, 2, 7))) == expected, text
        many = f"{text} x " * 10_000
        assert tokenizer.encode_batch([many], num_threads=2) == [library.encode(many)]
