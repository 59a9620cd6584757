"""The merges equal those of other trainers also on 5 MB and more of many scripts.

Thousands of merges are compared, because late merges have many ties, where tie-breaks differ.
"""

import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import regex
from peer_trainers import Merge, learned, rustbpe_tokens, tokenizers_merges
from repository import SLOW

from tokexport.sources.patterns import CL100K, GPT2, NANOCHAT

pytestmark = pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: trains on 5 MB and more")

LATE_MERGES = 32_768 - 256
TEXTS = {
    "four hundred languages": ["udhr/*.jsonl"],
    "fourteen languages": ["xquad/*.txt", "japanese/*", "korean/*", "english/pride*.txt"],
}


@pytest.fixture(scope="module", params=TEXTS)
def texts(request: pytest.FixtureRequest, shared: Path) -> list[str]:
    """Documents of 50 lines."""
    documents = []
    for path in chain(*(sorted((shared / "corpora").glob(name)) for name in TEXTS[request.param])):
        lines = path.read_text(encoding="utf-8").splitlines(True)
        if path.suffix == ".jsonl":
            lines = ["".join(map(str, json.loads(line).values())) + "\n" for line in lines]
        documents += ["".join(lines[at : at + 50]) for at in range(0, len(lines), 50)]
    assert sum(len(text.encode()) for text in documents) > 5_000_000
    return documents


def minbpe(texts: list[str], merges: int, pattern: str) -> list[Merge]:
    """The trainer of minbpe's RegexTokenizer: all pairs in all chunks of a text are counted again
    for each merge; of equally frequent pairs, the first in the text is merged.
    """
    chunks = (chunk.encode() for text in texts for chunk in regex.findall(pattern, text))
    # A number above all others separates chunks.
    size = 257 + merges
    separator = np.array([size - 1], np.int64)
    ids = np.concatenate([*chain(*((np.frombuffer(c, np.uint8), separator) for c in chunks))])
    vocab = [bytes((byte,)) for byte in range(256)]
    result = []
    for _ in range(merges):
        pairs = ids[:-1] * size + ids[1:]
        pairs[(ids[:-1] == size - 1) | (ids[1:] == size - 1)] = size * size - 1
        counts = np.bincount(pairs, minlength=size * size)
        counts[-1] = 0
        ties = np.flatnonzero(counts == counts.max())
        best = pairs[np.isin(pairs, ties).argmax()] if len(ties) > 1 else ties[0]
        left, right = divmod(int(best), size)
        at = np.flatnonzero(pairs == best)
        if left == right:  # in a run, every other pair is merged
            starts = np.flatnonzero(np.diff(at, prepend=-2) > 1)
            order = np.arange(len(at)) - np.repeat(starts, np.diff(starts, append=len(at)))
            at = at[order % 2 == 0]
        ids[at] = len(vocab)
        ids = np.delete(ids, at + 1)
        result.append((vocab[left], vocab[right]))
        vocab.append(vocab[left] + vocab[right])
    return result


def test_the_merges_equal_those_of_minbpe(texts: list[str]) -> None:
    expected = minbpe(texts, 1500, CL100K)
    assert learned(texts, 1500, "first-seen", pattern=CL100K) == expected


@pytest.mark.parametrize("pattern", [NANOCHAT, GPT2], ids=["nanochat", "gpt2"])
def test_the_tokens_equal_those_of_rustbpe(texts: list[str], pattern: str) -> None:
    merges = learned(texts, LATE_MERGES, "lowest-ids", pattern=pattern)
    assert [left + right for left, right in merges] == rustbpe_tokens(texts, LATE_MERGES, pattern)


@pytest.mark.parametrize("pattern", [NANOCHAT, GPT2], ids=["nanochat", "gpt2"])
def test_the_merges_equal_those_of_tokenizers(texts: list[str], pattern: str) -> None:
    merges = learned(texts, LATE_MERGES, "lowest-gpt2-ids", pattern=pattern)
    assert merges == tokenizers_merges(texts, LATE_MERGES, pattern)
