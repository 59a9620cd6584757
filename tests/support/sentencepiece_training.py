"""Small SentencePiece models, trained on a few sentences or made piece by piece."""

import io
from collections.abc import Sequence
from typing import Any

import sentencepiece
from unicode_tables.charsmap import charsmap_of

from tokexport.model import Provenance, TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    parse_model,
    serialize,
)
from tokexport.sources.sentencepiece.read import build

BYTES = tuple(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))
SENTENCES = [
    "the quick brown fox jumps over the lazy dog",
    "the theme of the thesis: another theory, there and then",
    "héllo wörld, naïve café",
    "中文字符 한국어 日本語",
    "1234 5678 90 ½ ①",
]


def train(sentences: Sequence[str] = SENTENCES * 3, **options: Any) -> bytes:
    """The bytes of a model trained on sentences."""
    settings: dict[str, Any] = {
        "vocab_size": 90,
        "hard_vocab_limit": False,
        "minloglevel": 2,
        "num_threads": 1,
        "character_coverage": 1.0,
        **options,
    }
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, **settings
    )
    return model.getvalue()


def small(*pieces: Piece, **changes: Any) -> SentencePieceModel:
    """A BPE model of an unknown piece and the given pieces, without a dummy prefix."""
    unknown = Piece("<unk>", 0.0, PieceType.UNKNOWN)
    fields = {"algorithm": Algorithm.BPE, "normalizer": NormalizerSpec(add_dummy_prefix=False)}
    return SentencePieceModel("x.model", (unknown, *pieces), **{**fields, **changes})


def unigram(scores: dict[str, float], *more: Piece, **changes: Any) -> SentencePieceModel:
    """A Unigram model of an unknown piece, and pieces with these scores."""
    pieces = (*more, *(Piece(*item) for item in scores.items()))
    return small(
        *pieces, **{"algorithm": Algorithm.UNIGRAM, "normalizer": normalizer({}), **changes}
    )


def rules_of(*arrows: str) -> dict[str, str]:
    """What replaces what, as in "a→b"."""
    return {before: after for before, _, after in (arrow.partition("→") for arrow in arrows)}


def normalizer(rules: dict[str, str], **flags: bool) -> NormalizerSpec:
    """A normalizer with these replacements, and without a charsmap if there are none."""
    return NormalizerSpec(charsmap_of(rules) if rules else b"", **flags)


def model_of(source: SentencePieceModel) -> TokenizerModel:
    """The model that the converter reads from the file of a test's SentencePiece model."""
    written = parse_model(serialize(source), source.file)  # scores in single precision
    return build(written, SourceFiles(), Provenance("test"))


def library_of(source: SentencePieceModel) -> sentencepiece.SentencePieceProcessor:
    """The library with such a model loaded."""
    return sentencepiece.SentencePieceProcessor(model_proto=serialize(source))
