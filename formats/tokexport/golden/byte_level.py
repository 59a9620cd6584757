"""Byte-level BPE in golden files: the model for the writer, and the same tokenizer in the
reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import tokenizers
from golden import PROVENANCE, Around, Encode, Locate, Special, merge_rows

from tokexport.model import AddedToken, BytePairModel, Reference, Token, TokenizerModel, TokenKind


def byte_tokens() -> list[str | bytes]:
    return [bytes([byte]) for byte in range(256)]


def _raw(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def byte_level_model(
    tokens: Sequence[str | bytes],
    merges: Sequence[tuple[str | bytes, str | bytes]],
    *,
    unknown: str | None = None,
    fuse_unknown: bool = False,
    added_tokens: tuple[AddedToken, ...] = (),
    **fields: Any,
) -> TokenizerModel:
    vocab = {_raw(content): index for index, content in enumerate(tokens)}
    rows = merge_rows((vocab[_raw(a)], vocab[_raw(b)], vocab[_raw(a) + _raw(b)]) for a, b in merges)
    all_tokens = [
        Token(
            content,
            TokenKind.UNKNOWN if content.decode(errors="replace") == unknown else TokenKind.MODEL,
        )
        for content in vocab
    ]
    all_tokens += [
        Token(token.content.encode(), TokenKind.ADDED, token.special) for token in added_tokens
    ]
    unknown_id = None if unknown is None else vocab[unknown.encode()]
    return TokenizerModel(
        tokens=tuple(all_tokens),
        model=BytePairModel(vocab, rows, unk_id=unknown_id, fuse_unk=fuse_unknown),
        reference=Reference.TOKENIZERS,
        provenance=PROVENANCE,
        added_tokens=added_tokens,
        **fields,
    )


def library(
    tokens: Sequence[str | bytes],
    merges: Sequence[tuple[str | bytes, str | bytes]],
    *,
    added_tokens: Sequence[Mapping[str, Any]] = (),
    normalizer: Mapping[str, Any] | None = None,
    pre_tokenizer: Mapping[str, Any] | None = None,
    post_processor: Mapping[str, Any] | None = None,
    **model_fields: Any,
) -> tuple[Encode, Locate]:
    """The same tokenizer in the reference: its ids, and its spans."""
    fields: dict[str, Any] = {"added_tokens": added_tokens, "normalizer": normalizer}
    fields |= {"pre_tokenizer": pre_tokenizer, "post_processor": post_processor}
    tokenizer = _loaded(tokens, merges, **fields, **model_fields)

    def encode(text: str, special: Special) -> Sequence[int]:
        tokenizer.encode_special_tokens = not special
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def locate(text: str, special: Special) -> Sequence[tuple[int, int]]:
        tokenizer.encode_special_tokens = not special
        spans: list[tuple[int, int]] = tokenizer.encode(text, add_special_tokens=False).offsets
        return spans

    return encode, locate


def library_template(
    tokens: Sequence[str | bytes], merges: Sequence[tuple[str | bytes, str | bytes]], **parts: Any
) -> Around:
    """The template of the tokenizer in the reference."""
    tokenizer = _loaded(tokens, merges, **parts)

    def around(text: str, pair: str | None, adds: bool) -> tuple[Sequence[int], Sequence[int]]:
        found = tokenizer.encode(text, pair, add_special_tokens=adds)
        return found.ids, found.type_ids

    return around


def _loaded(
    tokens: Sequence[str | bytes],
    merges: Sequence[tuple[str | bytes, str | bytes]],
    *,
    added_tokens: Sequence[Mapping[str, Any]] = (),
    normalizer: Mapping[str, Any] | None = None,
    pre_tokenizer: Mapping[str, Any] | None = None,
    post_processor: Mapping[str, Any] | None = None,
    **model_fields: Any,
) -> tokenizers.Tokenizer:
    source = {
        "version": "1.0",
        "added_tokens": list(added_tokens),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer or byte_level(),
        "post_processor": post_processor,
        "model": {
            "type": "BPE",
            "vocab": {_spelled(content): index for index, content in enumerate(tokens)},
            "merges": [[_spelled(a), _spelled(b)] for a, b in merges],
            **model_fields,
        },
    }
    return tokenizers.Tokenizer.from_str(json.dumps(source))


def byte_level(
    *, add_prefix_space: bool = False, use_regex: bool = False, trim_offsets: bool = False
) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "use_regex": use_regex,
        "trim_offsets": trim_offsets,
    }


def added_json(added_tokens: Sequence[AddedToken]) -> list[dict[str, Any]]:
    return [asdict(token) for token in added_tokens]


def _spelled(content: str | bytes) -> str:
    """Bytes in GPT-2's byte alphabet, as tokenizer.json spells them. ``<unk>`` is ASCII and is not
    changed.
    """
    return "".join(BYTE_ALPHABET[byte] for byte in _raw(content))


def _byte_alphabet() -> list[str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte if byte in printable else 0x100 + others.index(byte)) for byte in range(256)]


BYTE_ALPHABET = _byte_alphabet()


def library_version() -> str:
    return f"tokenizers {tokenizers.__version__}"
