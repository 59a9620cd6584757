"""The merges that other trainers and ours learn, as pairs of bytes in the order of merging."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from tokexport._core import Core, SplitText
from tokexport.conversion import file_bytes
from tokexport.model import Provenance
from tokexport.model.byte_alphabet import to_bytes
from tokexport.sources.tiktoken.encoding import build
from tokexport.training import train_from_iterator
from tokexport.training.train import TieBreak

Merge = tuple[bytes, bytes]
Pair = tuple[int, int]
# Which of the most frequent pairs a trainer merges: the one with the greatest key, which is given a
# pair, the tokens by their ids, and all pairs in the order of the texts.
Key = Callable[[Pair, list[bytes], list[Pair]], Any]


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


def greatest_bytes(pair: Pair, vocab: list[bytes], seen: list[Pair]) -> list[bytes]:
    """The key of CS336."""
    return [vocab[id] for id in pair]


def recounted(words: Iterable[bytes], merges: int, key: Key) -> list[Merge]:
    """Counts all pairs of all words again for each merge, like minbpe."""
    counted = Counter(map(tuple, words))
    vocab = [bytes((byte,)) for byte in range(256)]
    result = []
    for _ in range(merges):
        counts: Counter[Pair] = Counter()
        for word, times in counted.items():
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            break
        highest, seen = max(counts.values()), list(counts)
        ties = [pair for pair in seen if counts[pair] == highest]
        best = max(ties, key=lambda pair: key(pair, vocab, seen))
        result.append((vocab[best[0]], vocab[best[1]]))
        counted = Counter({joined(word, best, len(vocab)): n for word, n in counted.items()})
        vocab.append(vocab[best[0]] + vocab[best[1]])
    return result


def joined(word: tuple[int, ...], pair: Pair, merged: int) -> tuple[int, ...]:
    """A word with another id in place of each of its pairs of two ids, from the left."""
    out, at = [], 0
    while at < len(word):
        is_pair = word[at : at + 2] == pair
        out.append(merged if is_pair else word[at])
        at += 1 + is_pair
    return tuple(out)


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
    return [(to_bytes(left) or b"", to_bytes(right) or b"") for left, right in model["merges"]]


def tokenizers_merges(texts: Sequence[str], merges: int, pattern: str) -> list[Merge]:
    return merges_of(tokenizers_model(texts, 256 + merges, pattern))
