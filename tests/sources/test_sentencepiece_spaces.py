"""Pieces and rules with several spaces, in models that remove extra ones, as in the library."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from compared import ComparedPieces
from hypothesis import assume, given
from hypothesis import strategies as st
from references import assert_same
from sentencepiece import SentencePieceProcessor
from sentencepiece_training import library_of, model_of, normalizer, small, train
from slow_normalizer import normalize

from tokexport.compiler.normalizer.piece_steps import piece_steps
from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.model import Charsmap, NormalizerStep
from tokexport.runtime.tokenizer import load
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    Piece,
    PieceType,
    SentencePieceModel,
    parse_model,
)
from tokexport.sources.sentencepiece.reference import SentencePieceReference

MARK = "\u2581"
SYMBOLS = ["  ", "    ", "a  b", "  a", "e  ", " ", "\t", "<sep>", MARK * 2, f"{MARK}  "]
RULES = {
    "\t": " ",
    "\r": " ",
    "\r\n": " ",
    "\x01": "",
    "A": "  ",
    "B": " b",
    "C": "c ",
    "D": "a  b  ",
    " \u0301": "é",
    "   ": "x",
    "  \n": " ",
    " ": "  ",
    "G": f" {MARK}",
}
PARTS = [*RULES, *SYMBOLS, " ", " ", " ", "  ", "a", "b", "e", "\n", "\u0301", "\U0010ffff"]
LETTERS = [Piece(letter, -9.0) for letter in f"abcex{MARK} "]


def model(
    symbols: list[str], rules: dict[str, str], algorithm: Algorithm, flags: tuple[bool, bool, bool]
) -> SentencePieceModel:
    known = [*LETTERS, Piece(MARK + "a", -1.0), Piece("ab", -2.0), Piece("b" + MARK, -3.0)]
    texts = {piece.text for piece in known}
    added = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in symbols if text not in texts]
    prefix, suffix, escapes = flags
    spec = normalizer(rules, add_dummy_prefix=prefix, escape_whitespaces=escapes)
    how = {"algorithm": algorithm, "whitespace_as_suffix": suffix, "normalizer": spec}
    return small(*known, *added, **how)


def steps_of(source: SentencePieceModel) -> tuple[NormalizerStep, ...]:
    normalizer = model_of(source).piece_normalizer
    assert normalizer is not None
    return piece_steps(normalizer)


def collapses(source: SentencePieceModel) -> bool:
    return any(isinstance(step, Charsmap) and step.collapses for step in steps_of(source))


def texts(dice: random.Random, count: int) -> Iterator[str]:
    return ("".join(dice.choices(PARTS, k=dice.randrange(1, 12))) for _ in range(count))


@given(
    st.lists(st.sampled_from(SYMBOLS), unique=True),
    st.sets(st.sampled_from([*RULES])),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.randoms(use_true_random=False),
)
def test_a_normalized_text_equals_that_of_the_library(
    symbols: list[str], keys: set[str], flags: tuple[bool, bool, bool], dice: random.Random
) -> None:
    source = model(symbols, {key: RULES[key] for key in sorted(keys)}, Algorithm.BPE, flags)
    library, steps = library_of(source), steps_of(source)
    try:
        normalize(" ", steps)
    except UnsupportedError as error:
        if "a lookahead over more than one character" not in error.problem:
            raise
        assume(False)
    for text in texts(dice, 25):
        assert normalize(text, steps) == library.Normalize(text), text


def test_a_suffix_is_refused_if_a_lone_space_may_begin_a_longer_piece() -> None:
    """To know whether a text consists of lone spaces would need lookahead over three characters."""
    flags = (True, True, True)
    with pytest.raises(UnsupportedError, match="a lookahead over more than one character"):
        file_bytes(model_of(model([" " * 4], {}, Algorithm.BPE, flags)))
    assert file_bytes(model_of(model([" " * 4, "  "], {}, Algorithm.BPE, flags)))


@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_ids_offsets_and_texts_equal_those_of_the_library(algorithm: Algorithm) -> None:
    dice = random.Random(algorithm.value)
    either = (False, True)
    for flags in dice.sample([*product(either, either, either)], 4):
        keys = sorted(dice.sample([*RULES], 6)) if dice.random() < 0.7 else []
        symbols = ["  ", *dice.sample(SYMBOLS[1:], 4)]
        source = model(symbols, {key: RULES[key] for key in keys}, algorithm, flags)
        assert collapses(source)
        readers = ComparedPieces.of(source)
        for number, text in enumerate(texts(dice, 60)):
            readers.check(text, slow=number % 12 == 0)


def test_a_trained_model_may_have_symbols_of_spaces() -> None:
    data = train(
        model_type="bpe",
        vocab_size=360,
        byte_fallback=True,
        user_defined_symbols=["  ", "    ", "\t"],
    )
    library = SentencePieceProcessor(model_proto=data)
    assert library.Normalize("  a   b\t  c ") == f"{MARK}a{MARK}{MARK}b\t{MARK}{MARK}c"
    subject = load(file_bytes(model_of(parse_model(data, "x.model"))))
    assert_same(subject, SentencePieceReference(library), strings=150)


def test_lone_spaces_get_no_suffix_but_double_spaces_do() -> None:
    source = model(["  "], {"\t": " ", "\t\t": ""}, Algorithm.BPE, (True, True, True))
    library, steps = library_of(source), steps_of(source)
    for text in ("", " ", "  ", "   ", "\t", "\t\t", "\t\t\t", " \t ", "\t  ", "\x01"):
        assert normalize(text, steps) == library.Normalize(text), text
    assert library.Normalize(" \t ") == ""
    assert library.Normalize("\t\t") == library.Normalize("  ") == MARK
    # Without such pieces there is no difference.
    plain = replace(source, pieces=tuple(piece for piece in source.pieces if piece.text != "  "))
    assert not collapses(plain)
