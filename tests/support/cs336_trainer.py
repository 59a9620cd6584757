"""The trainer of Stanford's CS336 as described in its handout: slow and plain."""

import re

import regex
from peer_trainers import Merge, greatest_bytes, recounted

PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def slowly_learned(
    text: str, size: int, special: list[str]
) -> tuple[dict[int, bytes], list[Merge]]:
    """As in the assignment, with all pairs counted again for each merge."""
    longest_first = "|".join(re.escape(name) for name in sorted(special, key=len, reverse=True))
    documents = re.split(longest_first, text) if special else [text]
    words = (word for document in documents for word in regex.findall(PATTERN, document))
    merges = recounted(map(str.encode, words), size - 256 - len(special), greatest_bytes)
    single = (bytes((byte,)) for byte in range(256))
    vocab = [*map(str.encode, special), *single, *map(b"".join, merges)]
    return dict(enumerate(vocab)), merges
