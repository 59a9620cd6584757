"""The merges that other trainers and ours learn, as pairs of bytes in the order of merging."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from tokexport._core import Core, SplitText
from tokexport.conversion import file_bytes
from tokexport.model import Provenance
from tokexport.sources.tiktoken.encoding import build
from tokexport.training import train_from_iterator
from tokexport.training.train import TieBreak
from tokexport.unicode.byte_alphabet import to_bytes

Merge = tuple[bytes, bytes]


@cache
def _splitter(pattern: str) -> SplitText:
    ranks = {bytes((byte,)): byte for byte in range(256)}
    model = build("pattern", ranks, pattern, {}, Provenance("bytes"), spelling={})
    return SplitText(Core(file_bytes(model), "pattern"), 0)


def words_of(text: str, pattern: str) -> Iterator[bytes]:
    """The words that a pattern matches in a text."""
    data = text.encode()
    ends = _splitter(pattern).ends(data)
    assert ends is not None
    return (data[a:b] for a, b in pairwise([0, *ends.tolist()]))


def learned(texts: Sequence[str], merges: int, tie_break: TieBreak, **options: Any) -> list[Merge]:
    """Our merges."""
    trained = train_from_iterator(texts, 256 + merges, tie_break=tie_break, **options)
    return [(merge.left, merge.right) for merge in trained.merges]


def rustbpe_tokens(texts: Sequence[str], merges: int, pattern: str) -> list[bytes]:
    """The tokens of rustbpe after the bytes; it does not expose their halves."""
    peer = pytest.importorskip("rustbpe").Tokenizer()
    peer.train_from_iterator(iter(texts), 256 + merges, pattern=pattern)
    return [bytes(token) for token, _ in peer.get_mergeable_ranks()][256:]


def tokenizers_model(
    texts: Sequence[str], size: int, pattern: str, **options: Any
) -> dict[str, Any]:
    """The ``model`` that BpeTrainer of tokenizers learns from texts."""
    tokenizers = pytest.importorskip("tokenizers")
    parts = tokenizers.pre_tokenizers
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    split = parts.Split(tokenizers.Regex(pattern), "isolated")
    level = parts.ByteLevel(add_prefix_space=False, use_regex=False)
    peer.pre_tokenizer = parts.Sequence([split, level])
    options |= {"initial_alphabet": level.alphabet(), "show_progress": False}
    peer.train_from_iterator(texts, tokenizers.trainers.BpeTrainer(vocab_size=size, **options))
    model: dict[str, Any] = json.loads(peer.to_str())["model"]
    return model


def merges_of(model: dict[str, Any]) -> list[Merge]:
    """The merges of such a model."""
    return [(to_bytes(left) or b"", to_bytes(right) or b"") for left, right in model["merges"]]


def tokenizers_merges(texts: Sequence[str], merges: int, pattern: str) -> list[Merge]:
    """The merges of BpeTrainer of tokenizers."""
    return merges_of(tokenizers_model(texts, 256 + merges, pattern))
