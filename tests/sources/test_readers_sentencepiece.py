"""SentencePiece models trained here, of every type and with every normalizer option, mean what
their library makes of them.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from sentencepiece_rules import rules_file
from slow_encoder import SlowEncoder

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources import read
from tokexport.sources.references import reference_for
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    parse_model,
)
from tokexport.sources.sentencepiece.serialize import serialize

SENTENCES = [
    "the quick brown fox jumps over the lazy dog",
    "the theme of the thesis: another theory, there and then",
    "héllo wörld, naïve café",
    "中文字符 한국어 日本語",
    "1234 5678 90 ½ ①",
    "a  b   c\td",
]
TEXTS = st.text(
    st.sampled_from(" \u2581\u00a0\t\n\x01\u200baethqoé.,½①中한1\u0301<sep>\U0010ffff"), max_size=14
)

OPTIONS: dict[str, dict[str, object]] = {
    "unigram": {"model_type": "unigram"},
    "bpe": {"model_type": "bpe"},
    "char": {"model_type": "char"},
    "word": {"model_type": "word"},
    "unigram with bytes": {"model_type": "unigram", "byte_fallback": True, "vocab_size": 320},
    "bpe with bytes": {"model_type": "bpe", "byte_fallback": True, "vocab_size": 330},
    "unigram with symbols": {
        "model_type": "unigram",
        "user_defined_symbols": ["<sep>", "th", "\u2581\u2581", "é"],
    },
    "bpe with symbols": {
        "model_type": "bpe",
        "user_defined_symbols": ["<sep>", "th", "the", "\u2581\u2581"],
    },
    "char with symbols": {"model_type": "char", "user_defined_symbols": ["<sep>", "th"]},
    "identity": {
        "model_type": "bpe",
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "identity, trimmed": {"model_type": "bpe", "normalization_rule_name": "identity"},
    "no dummy prefix": {"model_type": "bpe", "add_dummy_prefix": False},
    "no dummy prefix, spaces kept": {
        "model_type": "unigram",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    },
    "spaces kept": {"model_type": "bpe", "remove_extra_whitespaces": False},
    "folded": {
        "model_type": "unigram",
        "normalization_rule_name": "nmt_nfkc_cf",
        "remove_extra_whitespaces": False,
    },
    "suffix": {"model_type": "bpe", "treat_whitespace_as_suffix": True},
    "suffix, spaces kept": {
        "model_type": "unigram",
        "treat_whitespace_as_suffix": True,
        "remove_extra_whitespaces": False,
    },
    "suffix without rules": {
        "model_type": "bpe",
        "treat_whitespace_as_suffix": True,
        "normalization_rule_name": "identity",
    },
    "suffix, word": {"model_type": "word", "treat_whitespace_as_suffix": True},
}


WITH_ALL_RULES = ("unigram", "bpe with symbols", "suffix")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a small model, by the name of its options."""
    folder = tmp_path_factory.mktemp("trained")

    def train(name: str) -> Path:
        path = folder / f"{name}.model"
        if not path.exists():
            model = io.BytesIO()
            options = {
                "vocab_size": 90,
                "hard_vocab_limit": False,
                "minloglevel": 2,
                "num_threads": 1,
                **OPTIONS[name],
            }
            if not (SLOW or name in WITH_ALL_RULES or "normalization_rule_name" in options):
                options["normalization_rule_tsv"] = str(rules_file(folder))
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(SENTENCES * 3),
                model_writer=model,
                character_coverage=1.0,
                **options,
            )
            path.write_bytes(model.getvalue())
        return path

    return train


@pytest.mark.parametrize("name", OPTIONS)
def test_a_trained_model_gives_the_ids_of_the_library(
    name: str, trained: Callable[[str], Path]
) -> None:
    path = trained(name)
    encoder, reference = SlowEncoder(read(path)), reference_for(path)

    @settings(max_examples=300 if SLOW else 25, deadline=None)
    @given(TEXTS)
    def same(text: str) -> None:
        assert encoder.encode(text) == reference.encode(text, False)

    same()
    for text in (
        "",
        " ",
        "   ",
        "\x01",
        "\u2581",
        " \x01 ",
        "\u00a0",
        "\U0010ffff",
        " \u2581 a",
        "a \u2581",
        "the",
        *SENTENCES,
    ):
        assert encoder.encode(text) == reference.encode(text, False), text


def small(*pieces: Piece, **changes: object) -> SentencePieceModel:
    """A model of an unknown piece and others."""
    model = SentencePieceModel("x.model", (Piece("<unk>", 0.0, PieceType.UNKNOWN), *pieces))
    return replace(
        model, algorithm=Algorithm.BPE, normalizer=NormalizerSpec(add_dummy_prefix=False), **changes
    )


def read_small(model: SentencePieceModel, folder: Path) -> TokenizerModel:
    path = folder / "x.model"
    path.write_bytes(serialize(model))
    return read(path)


LETTERS = tuple(Piece(letter, -9.0) for letter in "abcdef\u2581")


@settings(max_examples=60, deadline=None)
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
)
def test_pieces_with_equal_scores_are_chosen_as_the_library_does(
    pieces: list[tuple[str, float, bool]],
    texts: list[str],
    algorithm: Algorithm,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = [
        Piece(text, score, PieceType.USER_DEFINED if odd else PieceType.NORMAL)
        for text, score, odd in pieces
    ]
    path = tmp_path_factory.mktemp("scores") / "x.model"
    path.write_bytes(serialize(replace(small(*LETTERS, *made), algorithm=algorithm)))
    encoder, reference = SlowEncoder(read(path)), reference_for(path)
    for text in texts:
        assert encoder.encode(text) == reference.encode(text, False)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.text(st.sampled_from("ab"), min_size=2, max_size=4), unique=True),
    unused=st.lists(st.booleans(), min_size=30, max_size=30),
    texts=st.lists(st.text(st.sampled_from("abc "), max_size=12), max_size=20),
)
def test_unused_pieces_are_taken_apart_as_the_library_does(
    pieces: list[str],
    unused: list[bool],
    texts: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = [
        Piece(text, -float(number), PieceType.UNUSED if odd else PieceType.NORMAL)
        for number, (text, odd) in enumerate(zip(pieces, unused, strict=False))
    ]
    path = tmp_path_factory.mktemp("unused") / "x.model"
    path.write_bytes(serialize(small(*LETTERS, *made)))
    encoder, reference = SlowEncoder(read(path)), reference_for(path)
    for text in texts:
        assert encoder.encode(text) == reference.encode(text, False)


def test_a_score_of_a_user_defined_piece_is_the_library_s(tmp_path: Path) -> None:
    pieces = (
        Piece("ab", 0.0, PieceType.USER_DEFINED),
        Piece("a", 3.0),
        Piece("b", 2.0),
        Piece("c", -1.0),
    )
    model = read_small(replace(small(*pieces), algorithm=Algorithm.UNIGRAM), tmp_path)
    reference = reference_for(tmp_path / "x.model")
    assert model.model.scores[1] == pytest.approx(0.1)
    for text in ("ab", "aab", "abab", "cabc", "ba"):
        assert SlowEncoder(model).encode(text) == reference.encode(text, False)


@pytest.mark.parametrize("algorithm", [Algorithm.WORD, Algorithm.CHAR, Algorithm.BPE])
def test_a_control_piece_in_a_text_is_unknown(algorithm: Algorithm, tmp_path: Path) -> None:
    controls = (Piece("<s>", 0.0, PieceType.CONTROL), Piece("$", 0.0, PieceType.CONTROL))
    encoder = SlowEncoder(
        read_small(replace(small(*LETTERS, *controls), algorithm=algorithm), tmp_path)
    )
    reference = reference_for(tmp_path / "x.model")
    for text in ("<s>", "a <s>", "$", "a $ a", "a$a"):
        assert encoder.encode(text) == reference.encode(text, False)


def test_what_the_file_says_is_kept(tmp_path: Path) -> None:
    bytes_ = tuple(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))
    pieces = (
        Piece("<s>", 0.0, PieceType.CONTROL),
        Piece("</s>", 0.0, PieceType.CONTROL),
        Piece("\u2581a", -0.5),
        *bytes_,
    )
    model = read_small(small(*LETTERS, *pieces, byte_fallback=True, unk_surface="?"), tmp_path)
    assert model.special_ids.bos == 8
    assert model.special_ids.eos == 9
    assert model.special_ids.stop == (9,)
    assert model.special_ids.unk == 0
    assert model.tokens[0].content == b"?"
    assert model.tokens[8].content == b""
    assert model.tokens[10].content == b" a"
    assert model.tokens[10].first == b"a"
    assert model.tokens[11].fallback
    assert model.model.characters.byte_ids == tuple(range(11, 267))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (SentencePieceModel("x", (Piece("a"),)), SourceError, "0 pieces are of type UNKNOWN"),
        (small(Piece("b", 0.0, PieceType.UNKNOWN)), SourceError, "2 pieces are of type UNKNOWN"),
        (small(Piece("a"), Piece("a")), SourceError, 'pieces 1 and 2 are both "a"'),
        (
            small(Piece("a"), Piece("a", 0.0, PieceType.CONTROL)),
            UnsupportedError,
            "a control piece and an ordinary one",
        ),
        (small(Piece("")), SourceError, "a text that is not empty"),
        (small(Piece("a\0b")), SourceError, "without NUL"),
        (small(Piece("a", float("nan"))), SourceError, "has the score nan"),
        (small(Piece("<0x41>", 0.0, PieceType.BYTE)), SourceError, "is of type BYTE"),
        (
            small(byte_fallback=True),
            SourceError,
            "byte_fallback needs 256 pieces of type BYTE; 0 are there",
        ),
        (
            small(Piece("ab", 0.0, PieceType.UNUSED)),
            UnsupportedError,
            'the unused piece "ab" .id 1., which begins or',
        ),
        (
            small(*(Piece(chr(0x4E00 + n) + "a") for n in range(1023))),
            UnsupportedError,
            "1,024 characters of pieces",
        ),
    ],
)
def test_a_model_that_cannot_be_exact_is_refused(
    model: SentencePieceModel, error: type, message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        read_small(model, tmp_path)


@settings(max_examples=300 if SLOW else 5, deadline=None)
@given(data=st.data())
def test_a_damaged_file_gives_an_error_and_never_anything_else(
    data: st.DataObject, trained: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bytearray(trained("suffix").read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(whole), len(whole) // 2, len(whole) - 1]))
    path = tmp_path_factory.mktemp("damaged") / "x.model"
    path.write_bytes(whole[:cut])
    with contextlib.suppress(SourceError, UnsupportedError):
        read(path)


def test_a_model_that_is_written_is_the_one_that_was_read(trained: Callable[[str], Path]) -> None:
    model = parse_model(trained("suffix").read_bytes(), "x.model")
    assert parse_model(serialize(model), "x.model") == model
