"""Golden files that only decode: one for each kind of decoder rule, with the text that the
reference returns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import sentencepiece
import tokenizers
from golden import merge_rows

from tokexport.model import (
    BytePairModel,
    Decoding,
    Provenance,
    Reference,
    Token,
    TokenizerModel,
    Vocabulary,
)
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import parse
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    serialize,
)
from tokexport.sources.sentencepiece.read import build
from tokexport.sources.tokenizer_json.decoder import read_decoder
from tokexport.sources.tokenizer_json.decoder_chain import decode_forms

# What ids decode to, with special tokens (True) or without.
Texts = Mapping[tuple[tuple[int, ...], bool], str]


@dataclass(frozen=True)
class GoldenDecoder:
    """A model that only decodes, and what some ids decode to."""

    name: str
    model: TokenizerModel
    texts: Texts


def replace(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


def strip(character: str, count: int) -> dict[str, Any]:
    return {"type": "Strip", "content": character, "start": count, "stop": 0}


def sequence(*decoders: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


FUSE, FALLBACK = {"type": "Fuse"}, {"type": "ByteFallback"}
METASPACE = {
    "type": "Metaspace",
    "replacement": "\u2581",
    "prepend_scheme": "always",
    "split": True,
}
LLAMA = sequence(replace("\u2581", " "), FALLBACK, FUSE, strip(" ", 1))
# Replacements that span two tokens, between two strips.
EDITED = sequence(FUSE, strip("b", 1), replace("a\u2581", "\u00e9"), strip("\u00e9", 1))
BYTES = ["<0xE2>", "<0x96>", "<0x81>", "<0x20>", "<0xFF>"]
# Tokens with a decoder; special tokens come last.
DECODERS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("decode-fallback", LLAMA, ["\u2581hello", "\u2581", "x", *BYTES, "<s>"]),
    ("decode-runs", sequence(FALLBACK, METASPACE), ["\u2581", "<0xE2>", "<0x96>", "<0x81>", "<s>"]),
    ("decode-edited", EDITED, ["a", "\u2581", "b", "\u2581a", "c\u00e9"]),
    (
        "decode-pieces",
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        ["hello", "##ing", "##", ".", "n't", "\u4e2d", "##\U0001f642", "<s>"],
    ),
    ("decode-last", {"type": "BPEDecoder", "suffix": "</w>"}, ["a", "c</w>", "</w>", "b", "<s>"]),
)


def golden_decoders() -> list[GoldenDecoder]:
    """All of them, in the order of their files."""
    return [
        *(_by_tokenizers(*decoder) for decoder in DECODERS),
        _by_sentencepiece("decode-first", removes_spaces=True),
        _by_sentencepiece("decode-content", removes_spaces=False),
    ]


def _by_tokenizers(name: str, decoder: dict[str, Any], vocab: list[str]) -> GoldenDecoder:
    node = parse(json.dumps({"decoder": decoder}).encode(), name)
    strings = Vocabulary.of({text.encode(): id for id, text in enumerate(vocab)})
    tokens, decoding = decode_forms(strings, read_decoder(node))
    tokens.special[:] = [text == "<s>" for text in vocab]
    library = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({token: id for id, token in enumerate(vocab)}, vocab[0])
    )
    document = json.loads(library.to_str()) | {"decoder": decoder}
    library = tokenizers.Tokenizer.from_str(json.dumps(document))
    if "<s>" in vocab:
        library.add_special_tokens(["<s>"])
    texts = {
        (ids, skip): library.decode(list(ids), skip_special_tokens=skip)
        for ids in _sequences(len(vocab))
        for skip in (False, True)[: 1 + (vocab[max(ids)] == "<s>" and len(ids) > 2)]
    }
    return GoldenDecoder(name, _model(tokens, decoding, Reference.TOKENIZERS), texts)


def _by_sentencepiece(name: str, *, removes_spaces: bool) -> GoldenDecoder:
    """What sentencepiece decodes; the texts of the last ids, which it does not have, are written
    here. One of them is neither a byte of a run nor a character, one is a byte of a run whose
    surface form is ignored, and two are parts of a character.
    """
    pieces = (
        Piece("<s>", 0, PieceType.CONTROL),
        Piece("<unk>", 0, PieceType.UNKNOWN),
        Piece("\u2581", -1),
        Piece("\u2581a", -2),
        *(Piece(f"<0x{byte:02X}>", 0, PieceType.BYTE) for byte in range(256)),
    )
    source = SentencePieceModel(
        name,
        pieces,
        Algorithm.UNIGRAM,
        byte_fallback=True,
        normalizer=NormalizerSpec(remove_extra_whitespaces=removes_spaces),
    )
    model = build(source, SourceFiles(), Provenance("golden"))
    library = sentencepiece.SentencePieceProcessor(model_proto=serialize(source))
    first, second, third, fourth = (4 + byte for byte in "\U0001f642".encode())
    rows = [
        *product((0, 2, 3, first), repeat=2),
        *product((0, 2, 3), repeat=3),
        (first, second, third, fourth),
        (2, first, second, 4 + 0xC3, 4 + 0xA9, 3),
        (first, 0, second),
        (1, 3),
        (),
    ]
    texts = {(row, False): str(library.decode(list(row))) for row in rows}
    last = len(pieces)
    texts[(last, 3), False] = "\ufffd\ufffdx\ufffd a"
    texts[(last + 1, first, second, third, fourth, 3), False] = "A\U0001f642 a"
    texts[(last + 2, last + 3, 3), False] = "\ufffd\ufffd\ufffd a"
    more = [Token(b"\xe2\x96x\xff"), Token(b"A", first=b"", fallback=True)]
    more += [Token(b"\xe2\x96"), Token(b"\x81")]
    return GoldenDecoder(
        name, _model((*model.tokens, *more), model.decoding, Reference.SENTENCEPIECE), texts
    )


def _sequences(count: int) -> list[tuple[int, ...]]:
    """Each id, each pair, and some longer cyclic sequences."""
    pairs: list[tuple[int, ...]] = [*product(range(count), repeat=2)]
    longer = [
        tuple((start + step * place) % count for place in range(count))
        for start in range(count)
        for step in (1, 3)
    ]
    return [*((id,) for id in range(count)), *pairs, *dict.fromkeys(longer)]


def _model(
    tokens: Sequence[Token | None], decoding: Decoding, reference: Reference
) -> TokenizerModel:
    return TokenizerModel(
        tuple(tokens),
        BytePairModel({}, merge_rows()),
        reference,
        Provenance("golden"),
        decoding=decoding,
    )
