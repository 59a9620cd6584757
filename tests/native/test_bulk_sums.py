"""The bulk engine has the ids of the core and the library for SentencePiece's running sums."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from bulk_cores import compare, used_for
from random_piece_models import LETTERS, MARK, RULES, TEXTS, piece_model
from repository import SLOW
from sentencepiece_training import library_of, model_of, normalizer, small, unigram
from shared_collection import beginnings

from tokexport.conversion import file_bytes
from tokexport.errors import TokexportError
from tokexport.model import AddedToken
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import Algorithm, Piece, PieceType, SentencePieceModel

SHARED = ("albert-style-30k-clean/30k-clean", "spm-unigram-4000/spm", "xlnet-base-cased/spiece")
WORDS = (
    *(" ", " ", " a", " ab", "abc", "xx", " xxxx", "b ", " é中", "x" * 300, " " + "ab" * 700),
    *(" xxxxxx", " abxx", "cxxab"),
)


def tied(r: random.Random) -> SentencePieceModel:
    """A model of almost equal sums, so that rounding decides, most of which are reset soon."""
    unit = r.choice((0.1, 8, 33))

    def score() -> float:
        return -unit * r.randrange(1, 4) + r.choice((0, 0, 0.001, 0.003, 0.006, -0.004))

    pieces = [
        replace(piece, score=score())
        for piece in piece_model(r).pieces
        if piece.type in (PieceType.NORMAL, PieceType.USER_DEFINED) and MARK not in piece.text[1:]
    ]
    known = {piece.text for piece in pieces}
    runs = [MARK, *LETTERS.replace(" ", ""), "xx", "xxx", MARK + "x", MARK + "xx"]
    pieces += [Piece(text, score()) for text in runs if text not in known]
    rules = {key: value for key, value in RULES.items() if r.random() < 0.5}
    spec = normalizer(rules, add_dummy_prefix=r.random() < 0.8)
    return small(*pieces, algorithm=Algorithm.UNIGRAM, normalizer=spec)


def text_of(r: random.Random) -> str:
    parts = [*r.sample(TEXTS, 6), *r.sample(WORDS, 8), "😀"]
    text = "".join(r.choices(parts, k=r.choice((3, 40, 3000))))
    return r.choice((text, text * 3, text.replace(" ", "  ")))


def test_random_models_produce_the_ids_of_the_core_and_of_the_library() -> None:
    used = 0
    for seed in range(600 if SLOW else 60):
        r = random.Random(seed)
        source, texts = tied(r), [text_of(r) for _ in range(10)]
        used += used_for(source, [*texts, *(text[1:] for text in texts)])
    assert used > 30


def test_a_sum_begins_again_after_an_added_token() -> None:
    used = 0
    for seed in range(200 if SLOW else 20):
        r = random.Random(seed)
        source = tied(r)
        number = len(source.pieces)
        source = replace(source, pieces=(*source.pieces, Piece("<s>", 0.0, PieceType.CONTROL)))
        try:
            model = model_of(source)
        except TokexportError:
            continue
        model = replace(model, added_tokens=(AddedToken(number, "<s>", special=False),))
        library = library_of(source)
        texts = ["<s>".join(text_of(r) for _ in range(r.randrange(1, 5))) for _ in range(10)]
        ids = {
            text: [id for part in text.split("<s>") for id in (*library.encode(part), number)][:-1]
            for text in texts
        }
        used += compare(file_bytes(model), texts, ids.get)
    assert used > 10


def test_a_sum_may_be_reset_inside_a_word() -> None:
    # "xxxx" has two paths of equal sums, and the sum is reset every few hundred words.
    scores = {MARK: -7.97, "x": -25.889, "xxx": -71.484, MARK + "abc": -70.01, MARK + "c": -60.2}
    words = ["abc", "abc", "c", "xxxx", "xxxxxxx"]
    texts = (" ".join(random.Random(seed).choices(words, k=20_000)) for seed in range(20))
    assert used_for(unigram(scores), texts)


@pytest.mark.parametrize("name", SHARED)
def test_real_models_produce_the_ids_of_the_core(shared: Path, name: str) -> None:
    data = file_bytes(read(shared / "tokenizers" / f"{name}.model"))
    texts = beginnings(shared)
    assert compare(data, (part for text in texts for part in (text, text[len(text) // 2 :])))
