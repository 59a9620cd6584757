"""The merges equal those of other trainers, with the tie-break of each."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from peer_trainers import Merge, learned, rustbpe_tokens, tokenizers_merges, words_of
from repository import SLOW

from tokexport.sources.patterns import GPT2, NANOCHAT
from tokexport.training.train import TieBreak
from tokexport.unicode.byte_alphabet import CHARACTERS

Pair = tuple[int, int]
MERGES = 8000 if SLOW else 400
# A pattern that compiles fast.
SMALL = r" ?\p{L}+|\P{L}"
SCRIPTS = """
    english/tinyshakespeare.txt japanese/wagahaiwa_nekodearu.txt korean/ChatbotData.csv
    udhr/udhr_all_languages.jsonl cs336/german.txt unicode/emoji-zwj-sequences.txt
"""


@pytest.fixture(scope="module", params=SCRIPTS.split())
def texts(request: pytest.FixtureRequest, shared: Path) -> list[str]:
    lines = (shared / "corpora" / request.param).read_text(encoding="utf-8").splitlines(True)
    return ["".join(lines[at : at + 50]) for at in range(0, len(lines), 50)]


# The order in which a trainer merges equally frequent pairs: the smallest key first.
Key = Callable[[Pair, list[bytes], list[Pair]], Any]


def gpt2_id(id: int) -> int:
    return sorted(range(256), key=lambda byte: CHARACTERS[byte]).index(id) if id < 256 else id


def backwards(data: bytes) -> list[int]:
    """A key that sorts bytes in descending order."""
    return [255 - byte for byte in data] + [256]


KEYS: dict[TieBreak, Key] = {
    "lowest-ids": lambda pair, vocab, seen: pair,
    "lowest-gpt2-ids": lambda pair, vocab, seen: tuple(map(gpt2_id, pair)),
    "greatest-bytes": lambda pair, vocab, seen: [backwards(vocab[id]) for id in pair],
    "first-seen": lambda pair, vocab, seen: seen.index(pair),
}


def naive(texts: list[str], pattern: str, merges: int, tie_break: TieBreak) -> list[Merge]:
    """Counts all pairs of all words again for each merge, like minbpe."""
    words: Counter[tuple[int, ...]] = Counter()
    for text in texts:
        words.update(map(tuple, words_of(text, pattern)))
    vocab = [bytes((byte,)) for byte in range(256)]
    result = []
    for _ in range(merges):
        counts: Counter[Pair] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            break
        highest, seen = max(counts.values()), list(counts)
        ties = [pair for pair in seen if counts[pair] == highest]
        best = min(ties, key=lambda pair: KEYS[tie_break](pair, vocab, seen))
        result.append((vocab[best[0]], vocab[best[1]]))
        words = Counter({_merged(word, best, len(vocab)): n for word, n in words.items()})
        vocab.append(vocab[best[0]] + vocab[best[1]])
    return result


def _merged(word: tuple[int, ...], pair: Pair, merged: int) -> tuple[int, ...]:
    out, at = [], 0
    while at < len(word):
        is_pair = word[at : at + 2] == pair
        out.append(merged if is_pair else word[at])
        at += 1 + is_pair
    return tuple(out)


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
def test_the_tokens_equal_those_of_rustbpe(texts: list[str], pattern: str) -> None:
    merges = learned(texts, MERGES, "lowest-ids", pattern=pattern)
    assert [left + right for left, right in merges] == rustbpe_tokens(texts, MERGES, pattern)


@pytest.mark.parametrize("pattern", [NANOCHAT, GPT2], ids=["nanochat", "gpt2"])
def test_the_merges_equal_those_of_tokenizers(texts: list[str], pattern: str) -> None:
    merges = learned(texts, MERGES, "lowest-gpt2-ids", pattern=pattern)
    assert merges == tokenizers_merges(texts, MERGES, pattern)


@pytest.mark.parametrize("tie_break", KEYS)
def test_the_merges_do_not_depend_on_threads(texts: list[str], tie_break: TieBreak) -> None:
    of_one = learned(texts, 2000, tie_break, num_threads=1)
    for threads in (2, 3):
        assert learned(texts, 2000, tie_break, num_threads=threads) == of_one
