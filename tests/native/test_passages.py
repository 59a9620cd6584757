"""Repeated passages, unchanged or with one changed byte, have the ids of the C core."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from bulk_cores import pair
from repository import SLOW

from tokexport._core import Core

TEXTS = 1_000 if SLOW else 120
CHANGES = 2_000 if SLOW else 300

# Patterns of several families, a normalizer, BPE over characters with a space before each text,
# before the first segment only, or none.
SHARED = (
    *("cl100k_base/cl100k_base.tiktoken:cl100k_base", "gpt2/tokenizer.json"),
    *("qwen3/tokenizer.json", "deepseek-v3/tokenizer.json", "llama2/tokenizer.json"),
    *("llama2/tokenizer.model", "mistral-7b-v0.1/tokenizer.json", "gemma3/tokenizer.json"),
    *("mpt/tokenizer.json", "phi-2/tokenizer.json"),
)
WORDS = (
    *(" the", " quick", "Brown", " fox's", "jumps ", "over", ".", ", ", "\n", "\n\n", " \n", "  "),
    *("\t", "\r\n", "    ", "12", " 345", "6", "==", "!?", "don't", "\u2019ll", "\u00e9t\u00e9"),
    *("\u4e2d\u6587", "\u3002", "\u304b\u306a", "e\u0301", "\u2581", "\U0001f600", "\u0e01\u0e33"),
    *("_", "/", "a" * 70, " " * 90, "\u4e2d" * 30),
)
SPECIAL = ("<s>", "</s>", "<|endoftext|>", "<|im_start|>", "<bos>")


@pytest.fixture(scope="module", params=SHARED)
def content(request: pytest.FixtureRequest, shared_content: Callable[[str], bytes]) -> bytes:
    return shared_content(request.param)


def assert_same(engine: Core, core: Core, text: str, allowed: object = ()) -> None:
    expected = core.encode_numpy(text, allowed, False)
    assert np.array_equal(engine.encode_numpy(text, allowed, False), expected), text[:2_000]


def prose(r: random.Random, size: int) -> str:
    """About ``size`` characters of some of the words."""
    words = r.sample(WORDS, r.randint(2, len(WORDS)))
    return "".join(r.choices(words, k=size // 3 + 1))[:size] or "x"


def changes(r: random.Random, text: str) -> Iterator[str]:
    """The text with one character changed, removed or inserted: the first, the last, one near the
    ends of passages, or any; and parts and extensions of the text.
    """
    ends = [64, 2_048, 12_288, *(8_192 * k for k in range(1, 4))]
    offsets = (0, len(text) - 1, r.choice(ends) + r.randint(-520, 8), r.randrange(len(text)))
    at = min(max(r.choice(offsets), 0), len(text) - 1)
    letter = r.choice((text[r.randrange(len(text))], "x", " ", "\n", "\u4e2d"))
    yield text[:at] + letter + text[at + 1 :]
    yield text[:at] + text[at + 1 :]
    yield text[:at] + letter + text[at:]
    yield text[:at]
    yield text[at:]
    yield text + prose(r, r.choice((1, 50, 5_000)))


def test_repeated_and_changed_passages_have_the_ids_of_the_core(content: bytes) -> None:
    engine, core = pair(content)
    r = random.Random(1)
    texts = [prose(r, r.choice((63, 64, 65, 300, 2_050, 8_200, 20_000, 40_000))) for _ in range(20)]
    for _ in range(CHANGES):
        text = r.choice(texts)
        for changed in changes(r, text):
            assert_same(engine, core, changed)
        assert_same(engine, core, text)
        if r.random() < 0.3:
            texts[r.randrange(len(texts))] = r.choice([*changes(r, text)]) or "x"
    assert engine.uses_bulk


def test_passages_are_found_between_others_and_special_tokens(content: bytes) -> None:
    engine, core = pair(content)
    r = random.Random(2)
    passages = [prose(r, r.choice((10, 100, 1_000, 9_000, 20_000))) for _ in range(12)]
    for _ in range(TEXTS):
        parts = r.choices([*passages, *SPECIAL, *WORDS], k=r.randint(1, 12))
        assert_same(engine, core, "".join(parts), r.choice(((), "all")))


def lane(before: int, word: bytes) -> int:
    """A step of the hash of a passage (passage_cache.cpp)."""
    mixed = (before ^ int.from_bytes(word, "little")) * 0x9E3779B97F4A7C15 % 2**64
    return (mixed << 31 | mixed >> 33) % 2**64


def with_the_same_hash(r: random.Random, text: bytes) -> bytes:
    """Another ASCII text of 128 bytes with the same hash, whose first and ninth word differ."""
    while True:
        first = bytes(r.choices(b"abcdefghijklmnopqrstuvwxyz ", k=8))
        difference = lane(1, text[:8]) ^ lane(1, first)
        ninth = (int.from_bytes(text[64:72], "little") ^ difference).to_bytes(8, "little")
        if ninth.isascii():
            return first + text[8:64] + ninth + text[72:]


@pytest.mark.parametrize("content", [SHARED[0], SHARED[4]], indirect=True)
def test_passages_with_the_same_hash_have_their_own_ids(content: bytes) -> None:
    engine, core = pair(content)
    r = random.Random(6)
    for _ in range(TEXTS):
        text = bytes(r.choices(b"abcdefghijklmnopqrstuvwxyz ,.\n", k=128))
        collision = with_the_same_hash(r, text)
        assert collision != text
        for passage in (text, collision, text):
            assert_same(engine, core, passage.decode())


@pytest.mark.parametrize("content", [SHARED[0], SHARED[4]], indirect=True)
def test_passages_evicted_by_newer_ones_are_encoded_again(content: bytes) -> None:
    engine, core = pair(content)
    r = random.Random(3)
    words = [*WORDS[:20], *("".join(r.choices("etaoinshrdlu ", k=9)) for _ in range(300))]
    # More long and short ones than there is room for, and the first ones again. Each twice, because
    # a hit adds budget for others.
    long = ["".join(r.choices(words, k=200_000)) for _ in range(11)]
    short = ["".join(r.choices(words, k=60)) for _ in range(12_000)]
    for text in (*long, *long[:2], long[-1]):
        assert_same(engine, core, text)
        assert_same(engine, core, text)
    for first in (*range(0, len(short), 500), 0, len(short) - 500):
        texts = short[first : first + 500]
        expected = core.encode_batch(texts, (), False, 1)
        assert engine.encode_batch(texts, (), False, 1) == expected
        assert engine.encode_batch(texts, (), False, 1) == expected


def test_threads_find_passages_in_their_own_caches(content: bytes) -> None:
    engine, core = pair(content)
    r = random.Random(4)
    passages = [prose(r, r.choice((300, 5_000, 20_000))) for _ in range(30)]
    texts = ["".join(r.choices(passages, k=r.randint(1, 5))) for _ in range(50)]
    expected = core.encode_batch(texts, (), False, 1)
    for _ in range(2):
        assert engine.encode_batch(texts, (), False, 4) == expected
    with ThreadPoolExecutor(4) as pool:
        actual = list(pool.map(lambda text: engine.encode(text, (), False), texts * 2))
    assert actual == expected * 2
    text = "".join(passages)
    for threads in (2, 3, 2):
        parallel = engine.encode_parallel_numpy(text, (), False, threads)
        assert np.array_equal(parallel, core.encode_numpy(text, (), False))
