"""Golden files that only decode: one for each kind of rule that a decoder can have, with the text
that its reference gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import tokenizers

from tokexport.model import (
    BytePairModel,
    Decoding,
    FirstIs,
    Provenance,
    Reference,
    Token,
    TokenizerModel,
)
from tokexport.sources.json_node import parse
from tokexport.sources.tokenizer_json.decoder import read_decoder
from tokexport.sources.tokenizer_json.decoder_chain import decode_forms


@dataclass(frozen=True)
class GoldenDecoder:
    """A model that only decodes, and what some ids decode to."""

    name: str
    model: TokenizerModel
    texts: Mapping[tuple[int, ...], str]


LLAMA = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
# Strip stops the library where nothing is left, so the end is stripped of what no text is made of
# alone.
STRIPPED = {
    "type": "Sequence",
    "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "\u2581", "start": 0, "stop": 2}],
}
# Replacements that reach from one token into the next, between two strips.
EDITED = {
    "type": "Sequence",
    "decoders": [
        {"type": "Fuse"},
        {"type": "Strip", "content": "b", "start": 1, "stop": 0},
        {"type": "Replace", "pattern": {"String": "a\u2581"}, "content": "\u00e9"},
        {"type": "Strip", "content": "\u00e9", "start": 1, "stop": 0},
    ],
}
# Strings that bytes spell, to which something is done before they are joined.
RUNS = {
    "type": "Sequence",
    "decoders": [
        {"type": "ByteFallback"},
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    ],
}
BYTES = ["<0x41>", "<0xE2>", "<0x96>", "<0x81>", "<0x20>", "<0xFF>"]
DECODERS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("decode-fallback", LLAMA, ["\u2581hello", "\u2581", "world", "\u2581\u2581", *BYTES]),
    ("decode-stripped", STRIPPED, ["a", "\u2581a", "b\u2581", "\u2581b\u2581\u2581", "c"]),
    ("decode-runs", RUNS, ["\u2581", "<0xE2>", "<0x96>", "<0x81>"]),
    ("decode-edited", EDITED, ["a", "\u2581", "b", "\u2581a", "c\u00e9"]),
    (
        "decode-pieces",
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        ["hello", "##ing", "##", ".", "n't", "\u4e2d", "do not", "##\U0001f642"],
    ),
    (
        "decode-repeats",
        {
            "type": "Sequence",
            "decoders": [
                {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
                {
                    "type": "Metaspace",
                    "replacement": "\u2581",
                    "prepend_scheme": "always",
                    "split": True,
                },
                {"type": "BPEDecoder", "suffix": "</w>"},
            ],
        },
        ["<pad>", "|", "a", "\u2581b", "c</w>", "\u2581</w>d</w>"],
    ),
)


def golden_decoders() -> list[GoldenDecoder]:
    """All of them, in the order of their files."""
    return [*(_by_tokenizers(*decoder) for decoder in DECODERS), _by_sentencepiece()]


def _by_tokenizers(name: str, decoder: dict[str, Any], vocab: list[str]) -> GoldenDecoder:
    node = parse(json.dumps({"decoder": decoder}).encode(), name)
    decoded = decode_forms(dict(enumerate(vocab)), read_decoder(node))
    tokens = [decoded.token(number) for number in range(len(vocab))]
    library = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({token: id for id, token in enumerate(vocab)}, vocab[0])
    )
    document = json.loads(library.to_str()) | {"decoder": decoder}
    library = tokenizers.Tokenizer.from_str(json.dumps(document))
    texts = {ids: library.decode(list(ids)) for ids in _sequences(len(vocab))}
    return GoldenDecoder(name, _model(tokens, decoded.decoding, Reference.TOKENIZERS), texts)


def _by_sentencepiece() -> GoldenDecoder:
    """As sentencepiece 0.2.1 decodes with remove_extra_whitespaces: the texts are what it gave."""
    tokens = [
        Token(b"", special=True),
        Token(" \u2047 ".encode()),
        Token(b" ", first=b""),
        Token(b" a", first=b"a"),
        *(Token(bytes([byte]), fallback=True) for byte in (0xF0, 0x9F, 0xC3, 0xA9)),
    ]
    decoding = Decoding(byte_fallback=True, fallback_by_character=True, first_is=FirstIs.TEXT)
    texts = {
        (2, 2, 0, 3, 3): "a a",
        (0, 3, 2, 2): "a  ",
        (1, 3): " \u2047  a",
        (4, 5, 6, 7): "\ufffd\ufffd\u00e9",
        (6, 3, 7): "\ufffd a\ufffd",
        (6, 0, 7): "\ufffd\ufffd",
        (): "",
    }
    return GoldenDecoder("decode-first", _model(tokens, decoding, Reference.SENTENCEPIECE), texts)


def _sequences(count: int) -> list[tuple[int, ...]]:
    """Each id, each two, and some longer ones that go round."""
    pairs: list[tuple[int, ...]] = [*product(range(count), repeat=2)]
    longer = [
        tuple((start + step * place) % count for place in range(count))
        for start in range(count)
        for step in (1, 3, 5)
    ]
    return [*((id,) for id in range(count)), *pairs, *dict.fromkeys(longer)]


def _model(tokens: Sequence[Token], decoding: Decoding, reference: Reference) -> TokenizerModel:
    return TokenizerModel(
        tuple(tokens), BytePairModel({}, ()), reference, Provenance("golden"), decoding=decoding
    )
