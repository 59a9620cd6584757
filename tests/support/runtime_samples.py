"""Tokexport files for the tests of the Python runtime, made from fixtures/small."""

import json
from functools import cache
from typing import Any

import tiktoken
from repository import SMALL
from tiktoken.load import load_tiktoken_bpe

from tokexport.conversion import Options, file_bytes
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources import read

NAMES = sorted(path.stem for path in SMALL.glob("*.jsonl") if path.stem != "ranks")


@cache
def encoding() -> tiktoken.Encoding:
    """A tiktoken encoding with holes between its ids."""
    ranks = load_tiktoken_bpe(str(SMALL / "ranks.tiktoken"))
    settings = json.loads((SMALL / "ranks.json").read_text(encoding="utf-8"))
    special_tokens = {"<|bos|>": len(ranks), "<|end|>": len(ranks) + 5}
    return tiktoken.Encoding(
        "ranks", pat_str=settings["pattern"], mergeable_ranks=ranks, special_tokens=special_tokens
    )


@cache
def content(name: str, *, decode_only: bool = False) -> bytes:
    """The file of a tokenizer.json in fixtures/small, or, for "ranks", of :func:`encoding`."""
    source = encoding() if name == "ranks" else SMALL / f"{name}.json"
    return file_bytes(read(source), Options(decode_only=decode_only))


@cache
def tokenizer(name: str) -> Tokenizer:
    return load(content(name))


def cases(name: str) -> list[dict[str, Any]]:
    """Texts with the reference's ids."""
    lines = (SMALL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def byte_ids(data: bytes) -> list[int]:
    """The ids of single bytes in the tokenizer "ranks", which differ from the byte values."""
    return [encoding().encode_single_token(bytes([byte])) for byte in data]
