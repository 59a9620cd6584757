"""Several threads, and streams, produce the ids of the whole for a long text, also for models that
insert a space before each text, so that only the bulk engine can cut it.
"""

import random
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from repository import SLOW

from tokexport import load
from tokexport._core import Core
from tokexport.errors import TextError

TEXTS = 100 if SLOW else 30
MARK = "\u2581"

# A space before each text, before the first segment, or none; a charsmap, whose text is never cut.
SHARED = (
    *("llama2/tokenizer.json", "llama2/tokenizer.model", "mistral-7b-v0.1/tokenizer.json"),
    *("mistral-7b-v0.3/tokenizer.json", "phi-3/tokenizer.json", "gemma3/tokenizer.json"),
    "spm-bpe-4000/spm.model",
)
PARTS = (
    *("hello", " the quick", " ", "  ", "\n", "\n\n", ".", " brown fox.", "\t", "=", "0", "12"),
    *("\u4e2d\u6587", "\u3002", "\u304b\u306a", "\u00e9", "\U0001f600", "\U0001f9ff", "\u0e4f"),
)
SPECIAL = ("<s>", "</s>", "<", "</", "s>", "<|end|>", " <|user|> ", "[INST]", "[/INST", "<mask>")
RARE = (" " * 4_000, "a" * 9_000, "\u4e2d" * 3_000, "\U0001f9ff" * 2_000, "<s>", "</s>")


def long_text(r: random.Random, choices: list[str]) -> str:
    parts = r.choices(choices, k=r.choice((30_000, 60_000)))
    for _ in range(r.choice((0, 1, 10))):
        parts[r.randrange(len(parts))] = r.choice(RARE)
    return "".join(parts)


@pytest.mark.parametrize("name", SHARED)
def test_threads_produce_the_ids_of_one(shared_content: Callable[[str], bytes], name: str) -> None:
    core = Core(shared_content(name), name, 0)
    some = [content.decode() for _, content, _ in core.added_tokens()][:2]
    r = random.Random(7)
    for number in range(TEXTS):
        choices = [*PARTS, MARK] if number % 4 == 3 else [*PARTS]
        allowed = r.choice(((), (), "all", some))
        choices += SPECIAL if allowed else ()
        text = long_text(r, r.sample(choices, r.randint(2, len(choices))))
        text = text[: len(text) if r.random() < 0.8 else 70_000] or "x"
        expected = core.encode_numpy(text, allowed, True)
        for threads in (2, 5):
            actual = core.encode_parallel_numpy(text, allowed, True, threads)
            assert np.array_equal(actual, expected), (number, threads)
        flat, ends = core.encode_flat([text, "a", text], allowed, True, 2)
        assert np.array_equal(flat[: len(expected)], expected)
        assert np.array_equal(flat[ends[2] :], expected)


@pytest.mark.parametrize(
    "text", ["some words " * 30_000 + MARK, MARK + "b" * 300_000, f"x {MARK}" + "b" * 300_000]
)
def test_a_mark_is_a_space_in_every_part(shared_content: Callable[[str], bytes], text: str) -> None:
    core = Core(shared_content(SHARED[0]), SHARED[0], 0)
    expected = core.encode_numpy(text, (), False)
    assert np.array_equal(core.encode_parallel_numpy(text, (), False, 4), expected)


def in_parts(r: random.Random, text: bytes) -> list[bytes]:
    """The text in parts of any size, which may end within a character."""
    parts = []
    while text:
        size = r.choice((1, 1_000, 65_536, 300_000))
        parts.append(text[:size])
        text = text[size:]
    return parts


@pytest.mark.parametrize("name", SHARED)
def test_a_stream_produces_the_ids_of_the_whole(
    shared_content: Callable[[str], bytes], name: str
) -> None:
    tokenizer = load(shared_content(name))
    r = random.Random(8)
    for number in range(TEXTS // 3):
        choices = [*PARTS, MARK, MARK] if number % 2 else [*PARTS]
        allowed = r.choice(((), "all"))
        choices += SPECIAL if allowed else ()
        text = long_text(r, r.sample(choices, r.randint(2, len(choices))))
        for parts in (in_parts(r, text.encode()), [text[:400_000], "", text[400_000:]]):
            how: dict[str, Any] = {"allowed_special": allowed, "add_special_tokens": True}
            actual = [*tokenizer.encode_stream(parts, **how)]
            expected = tokenizer.encode_to_numpy(text, **how)
            assert np.array_equal(np.concatenate(actual), expected), number


@pytest.mark.parametrize("allowed", [(), "all"])
def test_a_stream_that_begins_with_a_space_returns_ids_early_and_says_where_it_is_not_utf8(
    shared_content: Callable[[str], bytes], allowed: tuple[()] | Literal["all"]
) -> None:
    tokenizer = load(shared_content(SHARED[0]))
    parts = [b"the lighthouse " * 20_000] * 4
    sizes = [len(ids) for ids in tokenizer.encode_stream(parts, allowed_special=allowed)]
    assert len(sizes) == 5
    assert max(sizes) < 0.3 * sum(sizes)
    with pytest.raises(TextError) as failed:
        [*tokenizer.encode_stream([*parts, b"caf\xc3", b"(" * 300_000], allowed_special=allowed)]
    assert failed.value.byte_offset == 1_200_003
