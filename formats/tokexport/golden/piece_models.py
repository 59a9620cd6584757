"""The golden file of a SentencePiece model, whose spans are found by a second pass through the
normalizer (ALGN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sentencepiece
from golden import PROVENANCE, Golden, Special
from unicode_tables.charsmap import charsmap_of

from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf.in_text import InText
from tokexport.sources.gguf.reference import PiecesReference
from tokexport.sources.reference import Mode
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    serialize,
)
from tokexport.sources.sentencepiece.read import build
from tokexport.sources.sentencepiece.reference import SentencePieceReference

RULES = {"\ufb01": "fi", "\u3000": " ", "\x01": "", "e\u0301": "\u00e9", "\u2163": "iv", "\t": " "}
PIECES = (
    Piece("<unk>", 0.0, PieceType.UNKNOWN),
    *(Piece(letter, -9.0) for letter in "\u2581abefi\u00e9<>"),
    Piece("ab", -1.0),
    Piece("\u2581ab", -2.0),
    Piece("fi", -3.0),
    Piece("<a", 0.0, PieceType.USER_DEFINED),
    Piece("abfi", -4.0),
)
TEXTS = (
    "ab  \ufb01\u3000\u3000ab",
    "  \x01 ab e\u0301\u0302 ",
    "\x01ab\x01",
    "\x01 \x01",
    "a\u2163\u2163 <ab>ab<a>",
    "\u4f60\u597d \U0001f600x",
    "\u2581ab\u2581 \t",
    "",
    "   ",
    "abfi abfifi abfififi" + "abfifi" * 4,
)


def piece_goldens() -> tuple[Golden, ...]:
    """A charsmap with protected texts; spaces are dropped, and one is put before; consecutive
    unknown characters become one id.
    """
    source = SentencePieceModel(
        "golden.model", PIECES, normalizer=NormalizerSpec(charsmap_of(RULES))
    )
    source = replace(source, algorithm=Algorithm.BPE)
    return (piece_golden("pieces", source, TEXTS),)


def piece_golden(
    name: str, source: SentencePieceModel, texts: Sequence[str], added: Sequence[AddedToken] = ()
) -> Golden:
    """A SentencePiece model, and `sentencepiece` that has loaded it, between added tokens."""
    library = SentencePieceReference.from_bytes(serialize(source), name)
    reference = PiecesReference(library, library, InText(added))

    def encode(text: str, special: Special) -> Sequence[int]:
        return reference.encode(text, bool(special))

    def locate(text: str, special: Special) -> Sequence[tuple[int, int]]:
        return reference.offsets(text, Mode.IDS if special else Mode.TEXT)

    model = build(source, SourceFiles(), PROVENANCE)
    model = replace(model, added_tokens=(*model.added_tokens, *added))
    version = f"sentencepiece {sentencepiece.__version__}"
    return Golden(name, model, encode, version, texts, locate)
