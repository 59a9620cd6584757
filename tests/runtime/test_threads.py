"""Threads that share a text, a batch or a tokenizer, and other processes produce the same ids."""

import multiprocessing
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import random_tokenizers
from reader_samples import document, read_document
from references import random_tokenizer
from repository import SLOW, SMALL
from runtime_samples import NAMES, cases, encoding, tokenizer

from tokexport.conversion import file_bytes
from tokexport.runtime.tokenizer import Tokenizer, load

SEEDS = 600 if SLOW else 100
SEEDS_PER_TEST = 20
LONG = 70_000  # bytes, enough for two threads to divide


def long_text(r: random.Random, parts: list[str]) -> str:
    """Parts in random order, some repeated, so that all their characters are neighbours."""
    chosen: list[str] = []
    size = 0
    while size < LONG:
        part = r.choice(parts)
        part = part * r.choice((1, 1, 1, 1, 2, 50)) + r.choice(("", "", " ", "\n", "a", "\r\n\r\n"))
        chosen.append(part)
        size += len(part.encode(errors="replace"))
    return "".join(chosen)


def check(subject: Tokenizer, text: str) -> None:
    allowed: tuple[str, ...] = tuple(sorted(subject.special_tokens_set)[:1])
    for special in ((), "all", allowed):
        for template in (False, True):
            options: dict[str, Any] = {"allowed_special": special, "add_special_tokens": template}
            expected = subject.encode(text, **options)
            assert subject.encode(text, **options, num_threads=2) == expected
            assert subject.encode_to_numpy(text, **options, num_threads=3).tolist() == expected
            batch = subject.encode_batch(["a", text, "", "b c"], **options, num_threads=2)
            assert batch[1] == expected
            assert batch[3] == subject.encode("b c", **options)
    ids, offsets = subject.encode_batch_to_numpy(["a", text, "b c"], num_threads=2)
    assert ids[offsets[1] : offsets[2]].tolist() == subject.encode(text)
    assert subject.encode_bytes(text.encode(), num_threads=2) == subject.encode(text)


@pytest.mark.parametrize("name", [*NAMES, "ranks"])
def test_small_tokenizers_produce_the_same_ids_with_threads(name: str) -> None:
    r = random.Random(name)
    texts = [case["text"] for case in cases("gpt2")]
    check(tokenizer(name), long_text(r, [text for text in texts if len(text) < 5_000]))


@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS_PER_TEST))
def test_random_tokenizers_produce_the_same_ids_with_threads(first: int, tmp_path: Path) -> None:
    converted = 0
    for seed in range(first, first + SEEDS_PER_TEST):
        if (sample := random_tokenizer(seed, tmp_path)) is not None:
            r = random.Random(seed)
            check(sample[1], long_text(r, [random_tokenizers.text(r, 60) for _ in range(300)]))
            converted += 1
    assert converted > SEEDS_PER_TEST // 3


@pytest.mark.parametrize("name", ["llama3", "ranks"])
@pytest.mark.parametrize("character", ["e", "\xe9", "\u4e2d", "\U0001f600"])
@pytest.mark.parametrize("distance", [1, 60, 2_500, 9_000, 200_000])
def test_cuts_may_be_near_or_far(name: str, character: str, distance: int) -> None:
    # A str of one, two and four bytes per character, with cuts between "," and " ".
    subject = tokenizer(name)
    text = ((character * distance + ", ") * (200_000 // distance + 1))[:200_000]
    encode = partial(subject.encode, add_special_tokens=True)  # of llama3: an id before each text
    assert encode(text, num_threads=2) == encode(text.encode().decode())
    texts = [text, "a", text[1:], ""]
    batch = subject.encode_batch(texts, add_special_tokens=True, num_threads=3)
    assert batch == [*map(encode, texts)]


@pytest.mark.parametrize("count", [0, 2])
def test_a_text_that_a_template_repeats_or_omits_is_whole(count: int, tmp_path: Path) -> None:
    template = [{"Sequence": {"id": "A", "type_id": 0}}] * count
    processor = {"type": "TemplateProcessing", "single": template, "pair": template}
    fields = document(post_processor=processor | {"special_tokens": {}})
    subject = load(file_bytes(read_document(fields, tmp_path)))
    text = "word, " * 20_000
    assert len(subject.encode("ab", add_special_tokens=True)) == 2 * count
    check(subject, text)


@pytest.mark.parametrize("offset", [0, 100_000, 199_999])
@pytest.mark.parametrize("character", ["e", "\xe9", "\u4e2d", "\U0001f600"])
def test_lone_surrogates_are_replaced_like_with_one_thread(character: str, offset: int) -> None:
    subject = tokenizer("ranks")
    text = ((character * 20 + ", ") * 10_000)[:200_000]
    text = f"{text[:offset]}\ud83d{text[offset:]}"
    texts = [character * 50, text, "a", "\udc4d", text + character]
    expected = [subject.encode(text) for text in texts]
    assert "\ufffd" in subject.decode(expected[1])
    assert subject.encode(text, num_threads=2) == expected[1]
    assert subject.encode_batch(texts, num_threads=2) == expected
    assert subject.encode_batch(texts, num_threads=1) == expected
    with pytest.raises(UnicodeEncodeError, match=f"position {offset}: surrogates not allowed"):
        tokenizer("gpt2").encode(text, num_threads=2)


def test_invalid_utf8_is_reported_by_its_offset_in_the_whole_text() -> None:
    data = b"hello world\n" * 20_000
    damaged = data[:150_001] + b"\xff" + data[150_001:]
    with pytest.raises(UnicodeDecodeError) as caught:
        tokenizer("ranks").encode_bytes(damaged, num_threads=3)
    assert caught.value.start == 150_001


@pytest.mark.parametrize("text", ["", "a", "hello world"])
def test_a_short_text_can_be_encoded_with_threads(text: str) -> None:
    subject = tokenizer("ranks")
    assert subject.encode(text, num_threads=4) == subject.encode(text)
    assert subject.encode_to_numpy(text, num_threads=None).tolist() == subject.encode(text)
    assert subject.encode(text, num_threads=2**70) == subject.encode(text)


@pytest.mark.parametrize("wrong", [0, -1])
@pytest.mark.parametrize("name", ["encode", "encode_to_numpy", "encode_bytes", "encode_batch"])
def test_a_call_needs_at_least_one_thread(name: str, wrong: int) -> None:
    text = {"encode_bytes": b"a", "encode_batch": ["a"]}.get(name, "a")
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        getattr(tokenizer("ranks"), name)(text, num_threads=wrong)


WORDS = (SMALL / "text.txt").read_text(encoding="utf-8").split()


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    lengths = [rng.choice([0, 1, 5, 40, 300]) for _ in range(count - 2)] + [6_000, 20_000]
    return [" ".join(rng.choices(WORDS, k=length)) for length in lengths]


@pytest.mark.parametrize("threads", [1, 2, 3, 8, None])
def test_a_batch_produces_the_ids_of_its_texts(threads: int | None) -> None:
    batch = texts(700, seed=1)
    expected = [tokenizer("ranks").encode(text) for text in batch]
    assert expected == [encoding().encode_ordinary(text) for text in batch]
    assert tokenizer("ranks").encode_batch(batch, num_threads=threads) == expected
    assert tokenizer("ranks").encode_ordinary_batch(iter(batch), num_threads=threads) == expected


def test_a_batch_can_be_empty() -> None:
    assert tokenizer("ranks").encode_batch([]) == []
    assert tokenizer("ranks").encode_batch(["", ""], num_threads=4) == [[], []]


def test_a_batch_with_a_text_that_cannot_be_encoded_is_an_error() -> None:
    with pytest.raises(UnicodeEncodeError):
        tokenizer("gpt2").encode_batch(["a"] * 1000 + ["\ud800"], num_threads=4)


def test_concurrent_threads_produce_the_ids_of_one() -> None:
    batch = texts(60, seed=2)
    expected = [encoding().encode_ordinary(text) for text in batch]
    ready = threading.Barrier(6)

    def work(_: int) -> bool:
        ready.wait()
        subject = tokenizer("ranks")
        return all(
            [subject.encode(text) for text in batch] == expected
            and [subject.decode(ids) for ids in expected] == batch
            and subject.encode_batch(batch, num_threads=2) == expected
            for _ in range(3)
        )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(work, range(6)))
    finally:
        sys.setswitchinterval(interval)


METHODS = {"fork", "spawn"} & {*multiprocessing.get_all_start_methods()}


@pytest.mark.parametrize("method", sorted(METHODS))
def test_another_process_produces_the_same_ids(method: str) -> None:
    subject = tokenizer("ranks")
    subject.encode("the lighthouse")  # so that a fork copies a used workspace
    expected = [subject.encode(text) for text in ("the lighthouse", "渡船")]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(subject.encode, ["the lighthouse", "渡船"]) == expected
