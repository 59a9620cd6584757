"""Golden files of BPE over characters, with tokens for bytes, and of BPE with affixes; used by
``models.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import tokenizers
from golden import Encode, Locate, Special, UnknownTextError, merge_rows

from tokexport.model import (
    Behavior,
    BytePairModel,
    CharacterSymbols,
    Provenance,
    Reference,
    Split,
    Token,
    TokenizerModel,
    TokenKind,
)

Merges = Sequence[tuple[str, str]]
Parts = tuple[
    TokenizerModel, Encode, Sequence[str], Locate
]  # a model, the reference's ids, texts, the reference's spans


def byte_fallback() -> Parts:
    """CHRS and XPRS: some bytes have tokens, so that a character becomes its bytes, or the unknown
    token if one of them has none.
    """
    letters = [
        "<unk>",
        *(f"<0x{byte:02X}>" for byte in (0x0A, 0xC3, 0xA9, 0xA8)),
        *"abc",
        "\u2581",
        "\u4e2d",
        "\u6587",
    ]
    merges = [
        ("a", "b"),
        ("\u2581", "ab"),
        ("\u4e2d", "\u6587"),
        ("ab", "c"),
        ("b", "c"),
        ("\u2581", "a"),
    ]
    vocab = _vocab(letters, merges)
    byte_ids = tuple(vocab.get(f"<0x{byte:02X}>") for byte in range(256))
    model = _model(vocab, merges, CharacterSymbols(byte_ids=byte_ids), unk_id=0, fuse_unk=True)
    encode, locate = _reference(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    texts = [
        "\u2581ab\u2581abc abcb",
        "x\u00e9y\n\u00e8\u00eaa",
        "xyz xyz \u4e2d\u6587\u4e2d\u4e2d\u6587",
        "\u00e9\u00e9ab\u00e9x\u00e9",
        "<0x0A><unk>",
        "",
        "b" * 70 + "abc" * 30,
        "\U0001f600\u2581a\U0001f600",
    ]
    return model, encode, texts, locate


def affixes() -> Parts:
    """CHRS with four places, and KEYS: a prefix inside words and a suffix at their ends. Unknown
    characters are dropped.
    """
    letters = [*"ab", "a@", "b@", "##a", "##b", "##a@", "##b@", "\u00e9", "##\u00e9"]
    merges = [("a", "##b"), ("##a", "##b@"), ("ab", "##ab@"), ("a", "##b@"), ("##\u00e9", "##a")]
    vocab = _vocab(letters, merges, prefix="##")
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    characters = CharacterSymbols(prefix=b"##", suffix=b"@")
    model = _model(vocab, merges, characters, pre_tokenizer=(Split(" ", Behavior.REMOVED),))
    affix = {"continuing_subword_prefix": "##", "end_of_word_suffix": "@"}
    encode, locate = _reference(vocab, merges, pre_tokenizer=split, **affix)
    texts = [
        "abab ab a b aba",
        "a\u00e9aab b\u00e9 \u00e9",
        "abxab xab abx x",
        "##ab ab@",
        "",
        "ab" * 50,
    ]
    return model, encode, texts, locate


def byte_suffix() -> Parts:
    """CHRS for bytes: the last byte of a word has a suffix, as in CLIP. A byte without a token
    becomes the unknown token.
    """
    letters = ["?", *"abc\u00c3\u00a9", *(f"{letter}</w>" for letter in "abc\u00a9")]
    merges = [
        ("a", "b</w>"),
        ("\u00c3", "\u00a9</w>"),
        ("a", "b"),
        ("ab", "c</w>"),
        ("c", "ab</w>"),
    ]
    vocab = _vocab(letters, merges)
    pre_tokenizer = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "use_regex": False,
        "trim_offsets": False,
    }
    split = {"type": "Split", "pattern": {"Regex": " +"}, "behavior": "Removed", "invert": False}
    parts = {"type": "Sequence", "pretokenizers": [split, pre_tokenizer]}
    spelling = {
        character: bytes([ord(character)]) for character in "\u00c3\u00a9"
    }  # themselves in GPT-2's alphabet
    model = _model(
        vocab,
        merges,
        CharacterSymbols(suffix=b"</w>", of_bytes=True),
        spelling=spelling,
        unk_id=0,
        pre_tokenizer=(Split(" +", Behavior.REMOVED),),
    )
    encode, locate = _reference(
        vocab, merges, unk_token="?", pre_tokenizer=parts, end_of_word_suffix="</w>"
    )
    texts = ["ab abc cab a", "\u00e9 a\u00e9 \u00e9a", "xab abx a</w>", "", "abc" * 40]
    return model, encode, texts, locate


def stopping() -> Parts:
    """A character without a symbol stops the encoder, as it stops the reference if the unknown
    token is not in the vocabulary.
    """
    merges = [("a", "b"), ("ab", "ab"), ("b", "a")]
    vocab = _vocab("ab", merges)
    model = _model(vocab, merges, CharacterSymbols(), unknown_stops=True)
    encode, locate = _reference(vocab, merges, unk_token="[UNK]")
    return model, encode, ["abab", "baab", "", "ab" * 40], locate


# ---- Small helpers ----------------------------------------------------------


def _vocab(letters: Sequence[str], merges: Merges, prefix: str = "") -> dict[str, int]:
    tokens = dict.fromkeys([*letters, *(left + right[len(prefix) :] for left, right in merges)])
    return {token: index for index, token in enumerate(tokens)}


def _model(
    vocab: Mapping[str, int],
    merges: Merges,
    characters: CharacterSymbols,
    *,
    spelling: Mapping[str, bytes] | None = None,
    pre_tokenizer: tuple[Split, ...] = (),
    **fields: Any,
) -> TokenizerModel:
    spelled = {
        b"".join((spelling or {}).get(character, character.encode()) for character in token): number
        for token, number in vocab.items()
    }
    size = len(characters.prefix)
    kinds = [
        TokenKind.UNKNOWN if number == fields.get("unk_id") else TokenKind.MODEL
        for number in vocab.values()
    ]
    # The bytes that a token decodes to: of <0x0A>, a byte; of the end of a word, a space.
    contents = [
        bytes.fromhex(key[3:5].decode())
        if key.startswith(b"<0x")
        else key.replace(b"</w>", b" ").replace(b"@", b" ")
        for key in spelled
    ]
    return TokenizerModel(
        tokens=tuple(Token(content, kind) for content, kind in zip(contents, kinds, strict=True)),
        model=BytePairModel(
            spelled,
            merge_rows(
                (vocab[left], vocab[right], vocab[left + right[size:]]) for left, right in merges
            ),
            characters=characters,
            **fields,
        ),
        reference=Reference.TOKENIZERS,
        provenance=Provenance("golden"),
        pre_tokenizer=pre_tokenizer,
    )


def _reference(
    vocab: Mapping[str, int],
    merges: Merges,
    *,
    pre_tokenizer: Mapping[str, Any] | None = None,
    **fields: Any,
) -> tuple[Encode, Locate]:
    model = {"type": "BPE", "vocab": vocab, "merges": [list(pair) for pair in merges], **fields}
    source: dict[str, Any] = {"version": "1.0", "added_tokens": [], "model": model}
    source["pre_tokenizer"] = pre_tokenizer
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(source))

    def encode(text: str, special: Special) -> Sequence[int]:
        try:
            ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        except Exception as error:
            raise UnknownTextError from error
        return ids

    def locate(text: str, special: Special) -> Sequence[tuple[int, int]]:
        spans: list[tuple[int, int]] = tokenizer.encode(text, add_special_tokens=False).offsets
        return spans

    return encode, locate
