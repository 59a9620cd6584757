"""The trainer of Stanford's CS336 as described in its handout: slow and plain."""

import re
from collections import Counter
from itertools import pairwise

import regex

Merge = tuple[bytes, bytes]
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def slowly_learned(
    text: str, size: int, special: list[str]
) -> tuple[dict[int, bytes], list[Merge]]:
    """As in the assignment, with all pairs counted again for each merge."""
    longest_first = "|".join(re.escape(name) for name in sorted(special, key=len, reverse=True))
    words: Counter[tuple[bytes, ...]] = Counter()
    for document in re.split(longest_first, text) if special else [text]:
        for word in regex.findall(PATTERN, document):
            words[tuple(bytes([byte]) for byte in word.encode())] += 1
    vocab = [name.encode() for name in special] + [bytes([byte]) for byte in range(256)]
    merges: list[Merge] = []
    while len(vocab) < size:
        pairs: Counter[Merge] = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        words = Counter({_merged(word, best): count for word, count in words.items()})
        merges.append(best)
        vocab.append(b"".join(best))
    return dict(enumerate(vocab)), merges


def _merged(word: tuple[bytes, ...], pair: Merge) -> tuple[bytes, ...]:
    out: list[bytes] = []
    at = 0
    while at < len(word):
        is_pair = word[at : at + 2] == pair
        out.append(b"".join(pair) if is_pair else word[at])
        at += 1 + is_pair
    return tuple(out)
