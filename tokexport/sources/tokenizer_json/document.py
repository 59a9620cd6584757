"""Parts of a tokenizer.json, for sources that are read as the tokenizer.json that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def tokenizer_document(
    *,
    model: dict[str, Any],
    added_tokens: list[dict[str, Any]],
    normalizer: dict[str, Any] | None,
    pre_tokenizer: dict[str, Any] | None,
    post_processor: dict[str, Any] | None,
    decoder: dict[str, Any] | None,
) -> dict[str, Any]:
    """A tokenizer.json without truncation and padding."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens,
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor,
        "decoder": decoder,
        "model": model,
    }


def byte_pair_model(
    vocab: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    unk_token: str | None = None,
    end_of_word_suffix: str = "",
) -> dict[str, Any]:
    """The model of a tokenizer.json: BPE without tokens for bytes."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk_token,
        "continuing_subword_prefix": "",
        "end_of_word_suffix": end_of_word_suffix,
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": dict(vocab),
        "merges": [list(merge) for merge in merges],
    }


def added_token(
    number: int, content: str, *, special: bool, normalized: bool = False, lstrip: bool = False
) -> dict[str, Any]:
    """An entry of ``added_tokens``; with ``lstrip`` it takes the white space before it.

    >>> added_token(5, "<s>", special=True)["content"]
    '<s>'
    """
    flags = {
        "single_word": False,
        "lstrip": lstrip,
        "rstrip": False,
        "normalized": normalized,
        "special": special,
    }
    return {"id": number, "content": content, **flags}


def byte_level(use_regex: bool) -> dict[str, Any]:
    """The ByteLevel part; with ``use_regex`` it splits by GPT-2's pattern."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> dict[str, Any]:
    """The Split part for a regular expression."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    """A Sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": list(parts)}


def text(name: str, type_id: int = 0) -> dict[str, Any]:
    """The piece of a template that stands for the first text, ``A``, or the second, ``B``."""
    return {"Sequence": {"id": name, "type_id": type_id}}


def special(content: str, type_id: int = 0) -> dict[str, Any]:
    """The piece of a template that is a token."""
    return {"SpecialToken": {"id": content, "type_id": type_id}}


def template(
    single: list[dict[str, Any]], pair: list[dict[str, Any]], ids: Mapping[str, int]
) -> dict[str, Any]:
    """The TemplateProcessing part; ``ids`` are those of its tokens by content."""
    tokens = {
        content: {"id": content, "ids": [number], "tokens": [content]}
        for content, number in ids.items()
    }
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}
