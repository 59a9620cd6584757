"""The parts of a tokenizer.json, for sources that are rewritten as one."""

from collections.abc import Mapping, Sequence
from typing import Any


def tokenizer_document(**parts: Any) -> dict[str, Any]:
    """A tokenizer.json with these parts, without truncation and padding."""
    return {"version": "1.0", "truncation": None, "padding": None, **parts}


def byte_pair_model(
    vocab: Mapping[str, int], merges: Sequence[Sequence[str]], **settings: str | None
) -> dict[str, Any]:
    """The model of a tokenizer.json: BPE without tokens for bytes."""
    pairs = [list(merge) for merge in merges]
    return {"type": "BPE", **settings, "vocab": dict(vocab), "merges": pairs}


def added_token(
    number: int, content: str, *, special: bool, normalized: bool = False, lstrip: bool = False
) -> dict[str, Any]:
    """An entry of ``added_tokens``; with ``lstrip`` it strips the white space before it.

    >>> added_token(5, "<s>", special=True)["content"]
    '<s>'
    """
    flags = {"single_word": False, "lstrip": lstrip, "rstrip": False, "normalized": normalized}
    return {"id": number, "content": content, "special": special, **flags}


def special_tokens(ids: Mapping[str, int]) -> list[dict[str, Any]]:
    """The entries of special tokens, given by content, in order of their ids."""
    by_id = sorted(ids.items(), key=lambda token: token[1])
    return [added_token(number, content, special=True) for content, number in by_id]


def byte_level(use_regex: bool) -> dict[str, Any]:
    """The ByteLevel part; with ``use_regex`` it splits with GPT-2's pattern."""
    flags = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def text(name: str, type_id: int = 0) -> dict[str, Any]:
    """The template item for the first text, ``A``, or the second, ``B``."""
    return {"Sequence": {"id": name, "type_id": type_id}}


def special(content: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": content, "type_id": type_id}}


def template(
    single: list[dict[str, Any]], pair: list[dict[str, Any]], ids: Mapping[str, int]
) -> dict[str, Any]:
    """The TemplateProcessing part; ``ids`` are the ids of its tokens by content."""
    tokens = {name: {"id": name, "ids": [id], "tokens": [name]} for name, id in ids.items()}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}
