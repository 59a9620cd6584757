"""Pieces and rules with spaces, as in the library; several in a row only where extra ones stay."""

import random
from collections.abc import Iterator
from itertools import product

import pytest
from compared import ComparedPieces
from hypothesis import assume, given
from hypothesis import strategies as st
from sentencepiece_training import library_of, model_of, normalizer, rules_of, small
from slow_normalizer import normalize

from tokexport.compiler.normalizer.piece_steps import piece_steps
from tokexport.errors import UnsupportedError
from tokexport.model import NormalizerStep
from tokexport.sources.sentencepiece.proto import Algorithm, Piece, PieceType, SentencePieceModel

MARK = "\u2581"
SYMBOLS = ["  ", "    ", "a  b", "  a", "e  ", " ", "\t", "<sep>", MARK * 2, f"{MARK}  "]
RULES = rules_of(
    *("\t→ ", "\r→ ", "\r\n→ ", "\x01→", "A→  ", "B→ b", "C→c ", "D→a  b  ", " \u0301→é", "   →x"),
    *("  \n→ ", " →  ", f"G→ {MARK}"),
)
PARTS = [*RULES, *SYMBOLS, " ", " ", " ", "  ", "a", "b", "e", "\n", "\u0301", "\U0010ffff"]
LETTERS = [Piece(letter, -9.0) for letter in f"abcex{MARK} "]


def model(
    symbols: list[str], rules: dict[str, str], algorithm: Algorithm, flags: tuple[bool, ...]
) -> SentencePieceModel:
    known = [*LETTERS, Piece(MARK + "a", -1.0), Piece("ab", -2.0), Piece("b" + MARK, -3.0)]
    texts = {piece.text for piece in known}
    added = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in symbols if text not in texts]
    prefix, suffix, escapes, removes = flags
    spec = normalizer(
        rules, add_dummy_prefix=prefix, escape_whitespaces=escapes, remove_extra_whitespaces=removes
    )
    how = {"algorithm": algorithm, "whitespace_as_suffix": suffix, "normalizer": spec}
    return small(*known, *added, **how)


def steps_of(source: SentencePieceModel) -> tuple[NormalizerStep, ...]:
    normalizer = model_of(source).piece_normalizer
    assert normalizer is not None
    return piece_steps(normalizer)


def texts(dice: random.Random, count: int) -> Iterator[str]:
    return ("".join(dice.choices(PARTS, k=dice.randrange(1, 12))) for _ in range(count))


@given(
    st.lists(st.sampled_from(SYMBOLS), unique=True),
    st.sets(st.sampled_from([*RULES])),
    st.tuples(*[st.booleans()] * 4),
    st.randoms(use_true_random=False),
)
def test_a_normalized_text_equals_that_of_the_library(
    symbols: list[str], keys: set[str], flags: tuple[bool, ...], dice: random.Random
) -> None:
    rules = {key: RULES[key] for key in sorted(keys)}
    source = model(symbols, rules, Algorithm.BPE, flags)
    if flags[3] and any("  " in text for text in (*symbols, *rules.values())):
        with pytest.raises(UnsupportedError, match="spaces in a row in a piece or a rule"):
            steps_of(source)
        return
    library, steps = library_of(source), steps_of(source)
    try:
        normalize(" ", steps)
    except UnsupportedError as error:
        if "a lookahead over more than one character" not in error.problem:
            raise
        assume(False)
    for text in texts(dice, 25):
        assert normalize(text, steps) == library.Normalize(text), text


@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_ids_offsets_and_texts_equal_those_of_the_library(algorithm: Algorithm) -> None:
    dice = random.Random(algorithm.value)
    for flags in dice.sample([*product((False, True), repeat=3)], 4):
        keys = sorted(dice.sample([*RULES], 6)) if dice.random() < 0.7 else []
        symbols = ["  ", *dice.sample(SYMBOLS[1:], 4)]
        source = model(symbols, {key: RULES[key] for key in keys}, algorithm, (*flags, False))
        readers = ComparedPieces.of(source)
        for number, text in enumerate(texts(dice, 60)):
            readers.check(text, slow=number % 12 == 0)
