"""One tokenizer serves many threads and processes at once."""

import multiprocessing
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from repository import SMALL
from runtime_samples import encoding, tokenizer

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
