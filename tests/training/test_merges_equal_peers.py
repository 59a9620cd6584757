"""The merges equal those of other trainers, with the tie-break of each."""

import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from peer_trainers import (
    Key,
    Merge,
    greatest_bytes,
    learned,
    recounted,
    rustbpe_tokens,
    tokenizers_merges,
    words_of,
)
from repository import SLOW

from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.sources.patterns import CL100K, GPT2, NANOCHAT
from tokexport.training.train import TieBreak

MERGES = 8000 if SLOW else 400
# Late merges have many ties, where tie-breaks differ.
LATE_MERGES = 32_768 - 256
# A pattern that compiles fast.
SMALL = r" ?\p{L}+|\P{L}"
SCRIPTS = """
    english/tinyshakespeare.txt japanese/wagahaiwa_nekodearu.txt korean/ChatbotData.csv
    udhr/udhr_all_languages.jsonl cs336/german.txt unicode/emoji-zwj-sequences.txt
"""
# Texts of 5 MB and more: of four hundred languages, and of fourteen.
LONG = ("udhr/*.jsonl", "xquad/*.txt japanese/* korean/* english/pride*.txt") if SLOW else ()


def documents(shared: Path, names: str) -> list[str]:
    """Documents of 50 lines."""
    result = []
    for path in chain(*(sorted((shared / "corpora").glob(name)) for name in names.split())):
        lines = path.read_text(encoding="utf-8").splitlines(True)
        if path.suffix == ".jsonl":
            lines = ["".join(map(str, json.loads(line).values())) + "\n" for line in lines]
        result += ["".join(lines[at : at + 50]) for at in range(0, len(lines), 50)]
    return result


@pytest.fixture(scope="module", params=SCRIPTS.split())
def texts(request: pytest.FixtureRequest, shared: Path) -> list[str]:
    return documents(shared, request.param)


def gpt2_id(id: int) -> int:
    return sorted(range(256), key=lambda byte: CHARACTERS[byte]).index(id) if id < 256 else id


KEYS: dict[TieBreak, Key] = {
    "lowest-ids": lambda pair, vocab, seen: [-id for id in pair],
    "lowest-gpt2-ids": lambda pair, vocab, seen: [-gpt2_id(id) for id in pair],
    "greatest-bytes": greatest_bytes,
    "first-seen": lambda pair, vocab, seen: -seen.index(pair),
}


def naive(texts: list[str], pattern: str, merges: int, tie_break: TieBreak) -> list[Merge]:
    words = (word for text in texts for word in words_of(text, pattern))
    return recounted(words, merges, KEYS[tie_break])


@pytest.mark.parametrize("tie_break", KEYS)
@given(texts=st.lists(st.text(st.sampled_from("aaabc 'séß日1\n\0") | st.characters(codec="utf-8"))))
@example(texts=["aaaa aaaaa", "aaa abab ababab bababa" * 3])
@example(texts=["banana bandana ananas" + "an" * 40])
def test_the_merges_equal_those_of_recounting(texts: list[str], tie_break: TieBreak) -> None:
    if not "".join(texts):
        return
    assert learned(texts, 60, tie_break, pattern=SMALL) == naive(texts, SMALL, 60, tie_break)


@pytest.mark.parametrize("tie_break", KEYS)
def test_the_merges_of_real_texts_equal_those_of_recounting(
    texts: list[str], tie_break: TieBreak
) -> None:
    """First-seen is the tie-break of minbpe's RegexTokenizer, greatest-bytes that of CS336."""
    part = ["".join(texts)[:10_000]]
    expected = naive(part, GPT2, 80, tie_break)
    assert learned(part, 80, tie_break, pattern="gpt2") == expected


@pytest.mark.parametrize("pattern", [NANOCHAT, GPT2], ids=["nanochat", "gpt2"])
@pytest.mark.parametrize("names", [*SCRIPTS.split(), *LONG])
def test_the_merges_equal_those_of_rustbpe_and_of_tokenizers(
    shared: Path, names: str, pattern: str
) -> None:
    texts, merges = documents(shared, names), LATE_MERGES if names in LONG else MERGES
    ours = learned(texts, merges, "lowest-gpt2-ids", pattern=pattern)
    assert ours == tokenizers_merges(texts, merges, pattern)
    ours = learned(texts, merges, "lowest-ids", pattern=pattern)
    assert [left + right for left, right in ours] == rustbpe_tokens(texts, merges, pattern)


@pytest.mark.parametrize("tie_break", KEYS)
def test_the_merges_do_not_depend_on_threads(texts: list[str], tie_break: TieBreak) -> None:
    of_one = learned(texts, 2000, tie_break, num_threads=1)
    for threads in (2, 3):
        assert learned(texts, 2000, tie_break, num_threads=threads) == of_one


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


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: trains on 5 MB and more")
@pytest.mark.parametrize("names", LONG)
def test_the_merges_of_long_texts_equal_those_of_minbpe(shared: Path, names: str) -> None:
    texts = documents(shared, names)
    assert sum(len(text.encode()) for text in texts) > 5_000_000
    assert learned(texts, 1500, "first-seen", pattern=CL100K) == minbpe(texts, 1500, CL100K)
