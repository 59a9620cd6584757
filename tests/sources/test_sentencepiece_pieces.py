"""SentencePiece models with pieces of every type, and with unusual ones, are exact or refused."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from compared import ComparedPieces
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from sentencepiece_training import BYTES, library_of, model_of, small

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import BytePairModel, UnigramModel
from tokexport.runtime.tokenizer import load
from tokexport.sources.files import SourceFiles
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    serialize,
)
from tokexport.sources.sentencepiece.read import read_sentencepiece

LETTERS = tuple(Piece(letter, -9.0) for letter in "abcdef\u2581")


def check(source: SentencePieceModel, texts: Iterable[str]) -> None:
    """Compares texts, and the text of all ids, with the library."""
    readers = ComparedPieces.of(source)
    for text in texts:
        readers.check(text)
    everything = list(range(readers.library.get_piece_size()))
    assert readers.runtime.decode(everything) == readers.library.decode(everything)


def test_an_unknown_character_costs_ten_more_than_the_worst_piece() -> None:
    """The score of ``ab, cd`` is -20, that of ``a, bcd`` -20.1, with an unknown ``a`` of -20."""
    pieces = (Piece("ab", -10.0), Piece("cd", -10.0), Piece("bcd", -0.1))
    source = small(*pieces, algorithm=Algorithm.UNIGRAM)
    assert load(file_bytes(model_of(source))).encode("abcd") == [1, 2]
    check(source, ["abcd", "abcdabcd", "bcda"])


@settings(max_examples=500 if SLOW else 100)
@given(
    pieces=st.lists(
        st.tuples(
            st.text(st.sampled_from("abc"), min_size=2, max_size=5),
            st.sampled_from([-1.0, -2.0, -2.5]),
            st.booleans(),
        ),
        unique_by=lambda piece: piece[0],
    ),
    texts=st.lists(st.text(st.sampled_from("abc x"), max_size=12), max_size=20),
    algorithm=st.sampled_from([Algorithm.BPE, Algorithm.UNIGRAM]),
    has_bytes=st.booleans(),
)
def test_pieces_with_equal_scores_are_chosen_as_in_the_library(
    pieces: list[tuple[str, float, bool]], texts: list[str], algorithm: Algorithm, has_bytes: bool
) -> None:
    several = [
        Piece(text, score, PieceType.USER_DEFINED if odd else PieceType.NORMAL)
        for text, score, odd in pieces
    ]
    all_pieces = (*LETTERS, *several, *(BYTES if has_bytes else ()))
    check(small(*all_pieces, algorithm=algorithm, byte_fallback=has_bytes), texts)


@pytest.mark.parametrize("scores", [(-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)])
def test_a_negative_zero_is_below_zero(scores: tuple[float, float]) -> None:
    """As in a trained model, whose first piece has -0, with pieces added later."""
    pieces = (Piece("ab", scores[0]), Piece("bc", scores[1]))
    check(small(*LETTERS, *pieces, algorithm=Algorithm.BPE), ["abc", "abcabc"])


def test_a_score_of_a_user_defined_piece_equals_that_of_the_library() -> None:
    pieces = (Piece("ab", 0.0, PieceType.USER_DEFINED), Piece("a", 3.0), Piece("b", 2.0))
    source = small(*pieces, Piece("c", -1.0), algorithm=Algorithm.UNIGRAM)
    model = model_of(source).model
    assert isinstance(model, UnigramModel)
    assert model.scores[1] == pytest.approx(0.1)
    check(source, ("ab", "aab", "abab", "cabc", "ba"))


@pytest.mark.parametrize("algorithm", [Algorithm.WORD, Algorithm.CHAR, Algorithm.BPE])
def test_a_control_piece_in_a_text_is_unknown(algorithm: Algorithm) -> None:
    controls = (Piece("<s>", 0.0, PieceType.CONTROL), Piece("$", 0.0, PieceType.CONTROL))
    source = small(*LETTERS, *controls, algorithm=algorithm)
    check(source, ("<s>", "a <s>", "$", "a $ a", "a$a"))


def test_a_piece_that_no_merges_produce_may_have_any_character() -> None:
    source = small(*LETTERS, Piece("ab", -1.0), Piece("<mask>", -9.0), Piece("ba<", -2.0))
    check(source, ("<mask>", "ab<mask>ba", "ba<", "< a>", "<<m"))


def test_a_user_defined_character_is_never_a_part_of_another_piece() -> None:
    user_defined = Piece("x", 0.0, PieceType.USER_DEFINED)
    several = (Piece("ab", -1.0), Piece("ax", -2.0), Piece("abx", -3.0), Piece("xé", -3.0))
    check(small(*LETTERS, user_defined, *several), ("ax", "abx", "xab", "xx", "x", "axabxx", "xé"))


@pytest.mark.parametrize("algorithm", [Algorithm.BPE, Algorithm.UNIGRAM])
@pytest.mark.parametrize("kind", [PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.CONTROL])
def test_with_tokens_for_bytes_a_piece_that_is_nul_is_never_used(
    kind: PieceType, algorithm: Algorithm
) -> None:
    pieces = (*LETTERS, Piece("ab", -1.0), Piece("\0", -3.0, kind), *BYTES)
    source = small(*pieces, algorithm=algorithm, byte_fallback=True)
    check(source, ("a\0b", "\0", "ab\0\0ab", "ab"))


@pytest.mark.parametrize(("text", "has_bytes"), [("\0", False), ("a\0", True)])
def test_other_pieces_with_nul_are_refused_as_in_the_library(text: str, has_bytes: bool) -> None:
    source = small(*LETTERS, *(BYTES if has_bytes else ()), Piece(text), byte_fallback=has_bytes)
    with pytest.raises(RuntimeError):
        library_of(source)
    with pytest.raises(SourceError):
        model_of(source)


def test_metadata_of_the_file_is_kept() -> None:
    controls = (Piece("<s>", 0.0, PieceType.CONTROL), Piece("</s>", 0.0, PieceType.CONTROL))
    pieces = (*LETTERS, *controls, Piece("\u2581a", -0.5), *BYTES)
    model = model_of(small(*pieces, byte_fallback=True, unk_surface="?"))
    assert (model.special_ids.bos, model.special_ids.eos, model.special_ids.unk) == (8, 9, 0)
    assert model.special_ids.stop == (9,)
    contents = [token.content for token in model.tokens if token]
    assert (contents[0], contents[8], contents[10]) == (b"?", b"", b" a")
    assert model.tokens[10] is not None
    assert model.tokens[10].first == b"a"
    assert model.tokens[11] is not None
    assert model.tokens[11].fallback
    assert isinstance(model.model, BytePairModel)
    assert model.model.characters is not None
    assert model.model.characters.byte_ids == tuple(range(11, 267))


BROKEN = [
    (SentencePieceModel("x", (Piece("a"),)), "0 pieces are of type UNKNOWN"),
    (small(Piece("b", 0.0, PieceType.UNKNOWN)), "2 pieces are of type UNKNOWN"),
    (small(Piece("")), "a non-empty text"),
    (small(Piece("a\0b")), "without NUL"),
    (small(Piece("a", float("nan"))), "score is a number, not nan"),
    (small(Piece("<0x41>", 0.0, PieceType.BYTE)), "for the type BYTE"),
    (small(byte_fallback=True), "0 pieces are of type BYTE; byte_fallback needs 256"),
]
UNSUPPORTED = [
    (small(Piece("a"), Piece("a")), 'piece 2: piece 1 is "a" too'),
    (small(Piece("a"), Piece("a", 0.0, PieceType.CONTROL)), "give each piece a text of its own"),
    (
        small(Piece("ab", 0.0, PieceType.UNUSED)),
        'piece 1: the UNUSED piece "ab" is not supported; only a GGUF of Unigram can have',
    ),
    (small(*LETTERS, Piece("ax")), 'piece 8: the character "x" of "ax" is not a piece'),
    (
        small(*LETTERS, *BYTES, Piece("xx"), Piece("xxa"), byte_fallback=True),
        'piece 264: the character "x" of "xx" is not a piece',
    ),
    (
        small(*LETTERS, normalizer=NormalizerSpec(b"\1\0\0\0")),
        "normalizer_spec: the precompiled charsmap is damaged",
    ),
]


@pytest.mark.parametrize(
    ("error", "source", "message"),
    [
        *((SourceError, *case) for case in BROKEN),
        *((UnsupportedError, *case) for case in UNSUPPORTED),
    ],
)
def test_a_model_that_cannot_be_exact_is_refused(
    error: type[Exception], source: SentencePieceModel, message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        file_bytes(read_sentencepiece(serialize(source), "x.model", SourceFiles(tmp_path)))


def test_a_model_with_a_denormalizer_is_refused(tmp_path: Path) -> None:
    denormalizer = b"\x2a\x03\x12\x01a"  # field 5, whose field 2 is a charsmap
    data = serialize(small(*LETTERS)) + denormalizer
    with pytest.raises(UnsupportedError, match="a model with a denormalizer is not supported"):
        read_sentencepiece(data, "x.model", SourceFiles(tmp_path))
