"""The bulk engine produces the ids of the C core and of tiktoken."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from bulk_cores import NEVER, compare, ids, pair, tokens_of
from repository import SLOW
from shared_collection import beginnings, corpora

from tokexport._core import Core
from tokexport.conversion import file_bytes
from tokexport.sources import read
from tokexport.verification.generators import Vocabulary, make, plan

TEXTS = 10_000 if SLOW else 3_000
MODELS = 600 if SLOW else 100
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

RANGES = ((0x20, 0x7F), (0x80, 0x800), (0x3040, 0x3100), (0x4E00, 0xA000), (0x1F300, 0x1F700))

# A source and the name of its pattern. Together they are with and without WHOLE_FIRST,
# normalizers and added tokens, with merged ids below those of their parts, and patterns of every
# family.
SHARED = (
    *("cl100k_base/cl100k_base.tiktoken:cl100k_base", "o200k_base/o200k_base.tiktoken:o200k_base"),
    *("llama3/tokenizer.json", "qwen3/tokenizer.json", "deepseek-v3/tokenizer.json"),
    *("gpt2/tokenizer.json", "kimi-k2/tiktoken.model:kimi_k2", "mistral-nemo/tokenizer.json"),
    *("olmo-dolma2/tokenizer.json", "nanochat-rustbpe-8k/tokenizer.tiktoken:nanochat"),
    "whisper-tiktoken/multilingual.tiktoken:whisper_large_v3",
    # Bytes without a token, in StarCoder 2 of valid UTF-8, and ranks that are not the order of ids.
    *("starcoder2/tokenizer.json", "gpt-neox-20b/tokenizer.json", "roberta-base/tokenizer.json"),
    # BPE over characters: with and without tokens for bytes, ties, a normalizer or a pre-tokenizer.
    *("llama2/tokenizer.json", "llama2/tokenizer.model", "mistral-7b-v0.1/tokenizer.json"),
    *("gemma3/tokenizer.json", "spm-bpe-4000/spm.model"),
)


def edges(r: random.Random, tokens: tuple[bytes, ...]) -> Iterator[str]:
    """Pre-tokens of lengths near those at which the algorithm changes, also at the text's end."""
    letters = ("a", "e", "x", "\u00e9", "\u4e2d", "\u3042", "\U0001f600")
    for size in (*range(1, 36), 63, 64, 65, 127, 128, 255, 256, 257, 1022, 1023, 1024, 1025, 5000):
        for letter in letters:
            run = (letter * size).encode()[:size].decode(errors="ignore")
            letters_only = "".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(size))
            cjk = "".join(chr(r.randrange(0x4E00, 0x9FA5)) for _ in range(size // 3 + 1))
            yield f"{run} {letters_only} {run} {cjk} {letters_only}{cjk}"
            yield run
    for fill in (" ", "\n", "\t", "-", "=", "ab", "\u3000", "\u4e2d\u6587"):
        for size in (15, 16, 17, 31, 32, 33, 200, 4000):
            yield fill * size
            yield f"x{fill * size}y{fill * size}"
    for _ in range(TEXTS // 20):
        # Repeated characters outside the BMP that merge with themselves.
        parts = (r.choice(tokens) * r.choice((1, 1, 1, 2, 5)) for _ in range(r.randint(1, 60)))
        yield b"".join(parts).decode(errors="ignore")
    for _ in range(TEXTS // 20):
        low, high = r.choice(RANGES)
        yield "".join(chr(r.randrange(low, high)) for _ in range(r.randint(1, 200)))


def sample_texts(core: Core, seed: int) -> Iterator[str]:
    words = Vocabulary(tuple(filter(None, tokens_of(core))))
    for name, count in plan(TEXTS, words).items():
        yield from (make(name, words, seed, index) for index in range(count))
    yield from edges(random.Random(seed), words.tokens)


@pytest.mark.parametrize("name", SHARED)
def test_real_tokenizers_produce_the_ids_of_the_core(
    shared: Path, shared_content: Callable[[str], bytes], name: str
) -> None:
    data = shared_content(name)
    short = list(sample_texts(Core(data, "core", NEVER), seed=len(name)))
    # Long ones: the words of one text are in the cache when the next one comes.
    assert compare(data, chain(short, ["".join(short)], beginnings(shared)))


@pytest.mark.parametrize("name", SHARED[:2])
def test_long_words_that_recur_or_were_evicted_by_newer_ones_get_the_same_ids(
    shared_content: Callable[[str], bytes], name: str
) -> None:
    engine, core = pair(shared_content(name))
    r = random.Random(5)
    for first, last in ((0x4E00, 0x9FA5), (0x430, 0x44F)):
        letters = [chr(code) for code in range(first, last)]
        # Twice the capacity of the engine's cache for such words, which keeps Chinese ones when
        # they recur. In another order, or passages would be found whole.
        words = ["".join(r.choices(letters, k=r.randint(8, 50))) for _ in range(60_000)]
        for _ in range(3):
            text = "\u3002".join(words)
            assert np.array_equal(
                engine.encode_numpy(text, (), False), core.encode_numpy(text, (), False)
            )
            r.shuffle(words)


@pytest.mark.parametrize("name", [*SHARED[:5:2], "llama2/tokenizer.json"])
def test_new_words_repeated_immediately_get_the_same_ids(
    shared_content: Callable[[str], bytes], name: str
) -> None:
    texts = []
    r = random.Random(11)
    for _ in range(200):
        words = []
        for size in r.choices((2, 5, 9, 14, 15, 16, 17, 30, 31, 32, 33, 70, 255, 256, 257), k=40):
            letters = r.choice(
                ("etaoin", "\u00e9\u0436a", "\u4e2d\u6587\u5b57\u3042", "a\U0001f600")
            )
            word = "".join(r.choices(letters, k=size)).encode()[:size].decode(errors="ignore")
            words += [" " + word] * r.randint(1, 4)
        r.shuffle(words)
        texts.append("".join(words))
    assert compare(shared_content(name), texts)


def random_encoding(r: random.Random) -> tiktoken.Encoding:
    """A few letters, and tokens of two to twelve bytes of them, in any order of ranks."""
    letters = r.choice(("ab", "abc ", "a\u00e9", "\u4e2d\u4e2e\u3042", "ab\u4e2d\u00e9 "))
    tokens = {bytes((byte,)): None for byte in r.sample(range(256), 256)}
    known = [letter.encode() for letter in letters] + [bytes((b,)) for b in letters.encode()]
    for _ in range(r.randint(1, 60)):
        token = r.choice(known) + r.choice(known)
        if len(token) <= 24:
            known.append(token)
    merged = list(dict.fromkeys(token for token in known if len(token) > 1))
    r.shuffle(merged)
    ranks = {token: rank for rank, token in enumerate({**tokens, **dict.fromkeys(merged)})}
    return tiktoken.Encoding(
        f"random-{r.random()}", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={}
    )


def words(r: random.Random) -> Iterator[str]:
    letters = "ab \u00e9\u4e2d\u4e2e\u3042c"
    for _ in range(20):
        size = r.choice((3, 15, 16, 17, 31, 33, 70, 200))
        word = "".join(r.choice(letters) for _ in range(r.randint(1, size)))
        yield r.choice((word, word * r.randint(1, 40), r.choice(letters) * size))


@pytest.mark.parametrize("seed", range(8))
def test_random_vocabularies_produce_the_ids_of_tiktoken(seed: int) -> None:
    r = random.Random(seed)
    for _ in range(MODELS // 8):
        encoding = random_encoding(r)
        assert compare(file_bytes(read(encoding)), words(r), encoding.encode_ordinary)


def test_only_much_text_starts_an_engine(shared_content: Callable[[str], bytes]) -> None:
    data = shared_content(SHARED[0])
    short, long, sum_of_short = (Core(data, "words") for _ in range(3))
    text = "These are some words, and these are more. " * 2_000
    ids(short, text)
    assert not short.uses_bulk
    ids(long, text * 10)
    assert long.uses_bulk
    for _ in range(10):
        ids(sum_of_short, text)
    assert sum_of_short.uses_bulk


def test_threads_share_an_engine(shared_content: Callable[[str], bytes], shared: Path) -> None:
    engine, core = pair(shared_content(SHARED[0]))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in corpora(shared)]
    expected = [ids(core, text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: ids(engine, text), texts)) == expected
    assert engine.encode_batch(texts * 3, (), False, 4) == expected * 3
