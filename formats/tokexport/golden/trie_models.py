"""The golden files of the models that use a trie: Unigram, WordPiece, WordLevel, greedy."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import tokenizers
from golden import PROVENANCE, Encode, Golden, Locate, Special

from tokexport.model import (
    Behavior,
    CharacterTest,
    GreedyModel,
    Model,
    Reference,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)

SPACES = Split(CharacterTest.WHITESPACE, Behavior.REMOVED)
UNIGRAM_TEXTS = (
    "abcabcd",
    "ababab",
    "x",
    "abxyzab",
    "a<unk>b<unk>x",
    "xx",
    "xxx",
    "\u00e9\u00e9 \u4e2d\u6587 \U0001f600",
    "aaaaaaaaaaaa",
    "",
    "abc" * 40,
)


def trie_goldens() -> tuple[Golden, ...]:
    """All of them."""
    return unigram(), unigram_fallback(), word_pieces(), words(), greedy()


def unigram() -> Golden:
    """Scores of 32 bits, many of them equal; a text of unknown characters that is a token; the
    unknown token in the text.
    """
    scores = {
        "<unk>": 0.0,
        "a": -1.0,
        "b": -1.0,
        "ab": -2.0,
        "abc": -2.5,
        "c": -0.5,
        "xx": -30.0,
        "aa": -2.0,
        "\u00e9\u00e9": -3.25,
    }
    ids = {piece: number for number, piece in enumerate(scores)}
    model = UnigramModel(
        {piece.encode(): number for piece, number in ids.items()},
        tuple(scores.values()),
        0,
        min(scores.values()) - 10,
    )
    reference, locate = _reference({"type": "Unigram", "unk_id": 0, "vocab": list(scores.items())})
    return Golden(
        "unigram", _tokenizer(list(scores), model), reference, _version(), UNIGRAM_TEXTS, locate
    )


def unigram_fallback() -> Golden:
    """SC64, BIDS without some bytes, splits; two ways whose sums differ in the last bit; unknown
    text that is a token, namely the unknown one.
    """
    pieces = [
        "<unk>",
        "a",
        "b",
        "ab",
        "abc",
        "c",
        "ba",
        "bab",
        "cab",
        *(f"<0x{byte:02X}>" for byte in (*range(0x60, 0xB0), 0xC3, 0xE4, *b"<>")),
    ]
    scores = {piece: -0.1 * number for number, piece in enumerate(pieces)} | {
        "bab": -0.3,
        "ab": -0.1 - 0.2,
    }
    scores["cab"] = math.nextafter(scores["c"] + scores["ab"], -math.inf)
    ids = {piece: number for number, piece in enumerate(pieces)}
    model = UnigramModel(
        {piece.encode(): number for piece, number in ids.items()},
        tuple(scores.values()),
        0,
        min(scores.values()) - 10,
        tuple(ids.get(f"<0x{byte:02X}>") for byte in range(256)),
    )
    spelled = [[piece, scores[piece]] for piece in pieces]
    reference, locate = _reference(
        {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": spelled}, spaces=True
    )
    texts = (
        *UNIGRAM_TEXTS,
        "\u00e9 \u00ff \u4e2d",
        "babab bababab <0xC3>",
        "xy\u00e9z \u00e9\u00fe",
        "cab",
    )
    return Golden(
        "unigram-fallback", _tokenizer(pieces, model, SPACES), reference, _version(), texts, locate
    )


def word_pieces() -> Golden:
    """WordPiece with a word that is too long, one without a matching last token, and characters of
    several bytes.
    """
    tokens = [
        "[UNK]",
        "un",
        "##aff",
        "##able",
        "##a",
        "a",
        "##\u00e9",
        "\u4e2d",
        "##\u6587",
        "##",
        "#",
        "##b",
        "unaff",
        "\U0001f600",
    ]
    vocab = {token: number for number, token in enumerate(tokens)}
    model = WordPieceModel({token.encode(): number for token, number in vocab.items()}, 0, b"##", 8)
    fields = {
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 8,
        "vocab": vocab,
    }
    texts = (
        "unaffable",
        "unable unaff una aaaaaaaa aaaaaaaaa",
        (
            "a\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
            " a\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
        ),
        "\u4e2d\u6587 \u6587\u4e2d",
        "##b #b ##",
        "unx x",
        "\U0001f600\U0001f600",
        "",
    )
    reference, locate = _reference({"type": "WordPiece", **fields}, spaces=True)
    return Golden(
        "wordpiece", _tokenizer(tokens, model, SPACES), reference, _version(), texts, locate
    )


def words() -> Golden:
    """WordLevel."""
    tokens = ["b", "<unk>", "word", "words", "\u00e9t\u00e9", "a"]
    vocab = {token: number for number, token in enumerate(tokens)}
    model = WordLevelModel({token.encode(): number for token, number in vocab.items()}, 1)
    reference, locate = _reference(
        {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"}, spaces=True
    )
    texts = (
        "a word words wor sword",
        "\u00e9t\u00e9 \u00e9t \u00e9t\u00e9s",
        "<unk> b",
        "",
        "word" * 20,
    )
    return Golden(
        "wordlevel", _tokenizer(tokens, model, SPACES), reference, _version(), texts, locate
    )


def greedy() -> Golden:
    """RWKV: tokens of any bytes, including parts of characters. The reference is the published
    algorithm: the longest token first.
    """
    vocab = {bytes([byte]): byte for byte in range(256)}
    vocab |= {
        token: 256 + n
        for n, token in enumerate(
            [b"the", b" the", b"there", b" th", b"\xe4\xb8", b"\x96\xe7", b"aa", b"aaaa"]
        )
    }
    model = GreedyModel(vocab)

    def encode(text: str, special: Special) -> Sequence[int]:
        ids = []
        data = text.encode()
        while data:
            token = max((token for token in vocab if data.startswith(token)), key=len)
            ids.append(vocab[token])
            data = data[len(token) :]
        return ids

    tokens = tuple(Token(token) for token in vocab)
    texts = ("the there ther", "\u4e16\u754c\u4e16", "a" * 11, "", "\0\u00e9 th the")
    tokenizer = TokenizerModel(tokens, model, Reference.RWKV, PROVENANCE)
    return Golden("greedy", tokenizer, encode, "the longest token first", texts)


def _tokenizer(tokens: Sequence[str], model: Model, *splits: Split) -> TokenizerModel:
    kinds = [
        TokenKind.UNKNOWN if number == model.unk_id else TokenKind.MODEL
        for number in range(len(tokens))
    ]
    contents = tuple(Token(token.encode(), kind) for token, kind in zip(tokens, kinds, strict=True))
    return TokenizerModel(contents, model, Reference.TOKENIZERS, PROVENANCE, pre_tokenizer=splits)


def _reference(model: Mapping[str, Any], *, spaces: bool = False) -> tuple[Encode, Locate]:
    """The same tokenizer in the reference: its ids, and its spans."""
    pre_tokenizer = {"type": "WhitespaceSplit"} if spaces else None
    source: dict[str, Any] = {"version": "1.0", "added_tokens": [], "model": model}
    source["pre_tokenizer"] = pre_tokenizer
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(source))

    def encode(text: str, special: Special) -> Sequence[int]:
        ids: list[int] = tokenizer.encode(text).ids
        return ids

    def locate(text: str, special: Special) -> Sequence[tuple[int, int]]:
        spans: list[tuple[int, int]] = tokenizer.encode(text).offsets
        return spans

    return encode, locate


def _version() -> str:
    return f"tokenizers {tokenizers.__version__}"
