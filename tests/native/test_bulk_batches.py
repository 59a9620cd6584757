"""Short texts of a batch, which the bulk engine encodes together, have the ids of each alone."""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bulk_cores import NEVER
from golden_files import NAMES, content
from json_parts import digits, pre_tokenizers, split
from random_added_tokens import WORDS, of_bytes, of_characters, with_tokens
from reader_samples import BYTE_LEVEL, BYTES, added, document, reference, spelled
from repository import SLOW
from shared_collection import corpora

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.errors import TokexportError
from tokexport.sources import read
from tokexport.sources.tokenizer_json import document as parts

MODELS = 300 if SLOW else 20
SHARED = (
    *("llama3/tokenizer.json", "qwen3/tokenizer.json", "mpt/tokenizer.json"),
    *("llama2/tokenizer.json", "gemma3/tokenizer.json", "mistral-7b-v0.1/tokenizer.json"),
    *("falcon/tokenizer.json", "bert-base-uncased/tokenizer.json", "t5-small/tokenizer.json"),
    "spm-unigram-4000/spm.model",
)


def documents(r: random.Random, words: list[str]) -> list[str]:
    """Texts of any length and width of characters, some of them again."""
    sizes = (0, 1, 5, 30, 30, 100, 100, 500)
    made = ["".join(r.choices(words, k=r.choice(sizes)))[:3_000] for _ in range(120)]
    return made + r.choices(made, k=60)


def beginning(path: Path) -> list[str]:
    with path.open(encoding="utf-8", errors="ignore") as file:
        return file.read(60_000).splitlines(keepends=True)


def has_ids(core: Core, text: str) -> bool:
    try:
        core.encode(text, (), False)
    except TokexportError:  # an unknown character, or a file that only decodes
        return False
    return True


def check(data: bytes, texts: list[str], allowed: Any, template: bool = False) -> bool:
    """Compares batches with each text alone in the core; whether the engine was used."""
    core = Core(data, "core", NEVER)
    expected = [core.encode(text, allowed, template) for text in texts]
    for width in split_widths():
        for threads in (1, 2):
            engine = Core(data, "engine", 0, width)
            for _ in range(2):  # also texts that are known
                ids, ends = engine.encode_flat(texts, allowed, template, threads)
                found = [ids[start:end].tolist() for start, end in pairwise(ends)]
                assert found == expected, (width, threads, allowed)
    return engine.uses_bulk


@pytest.mark.parametrize("make", [of_bytes, of_characters])
def test_random_added_tokens(make: Callable[[random.Random], dict[str, Any]]) -> None:
    r = random.Random(make.__name__)
    for _ in range(MODELS):
        fields = with_tokens(r, make(r))
        contents = [token["content"] for token in fields["added_tokens"]]
        texts = documents(r, [*r.sample(WORDS, 20), *contents * r.randint(0, 1)])
        for allowed in ((), "all"):
            assert check(file_bytes(read(reference(fields))), texts, allowed)


def test_words_that_go_through_stages() -> None:
    # As Falcon's: what the first stages leave is split again, and its words are cut into parts.
    letter = spelled("\u00e9")
    rules = [list(letter), [letter, letter], ["a", "b"]]
    vocab = {**BYTES, **{"".join(rule): 256 + rank for rank, rule in enumerate(rules)}}
    punctuation = {"type": "Punctuation", "behavior": "Contiguous"}
    fields = document(
        model={"vocab": vocab, "merges": rules},
        pre_tokenizer=pre_tokenizers(
            punctuation, BYTE_LEVEL, digits(False), split("[0-9][0-9][0-9]")
        ),
    )
    data = file_bytes(read(reference(fields)))
    r = random.Random(5)
    parts = ("\u00e9ab", "\u00e9", "\u4e2d\u6587", "12345", "ab", ",", " ")
    texts = ["".join(r.choices(parts, k=40)) for _ in range(100)]
    assert check(data, texts, ())


@pytest.mark.parametrize("name", SHARED)
def test_lines_of_real_text(
    shared: Path, shared_content: Callable[[str], bytes], name: str
) -> None:
    r = random.Random(name)
    data = shared_content(name)
    lines = [line for path in corpora(shared) for line in beginning(path)]
    texts = [*r.sample(lines, 400), *documents(r, lines[:50]), "<|endoftext|>", "</s> <s>"]
    check(data, texts, "all")
    check(data, texts, (), template=True)


@pytest.mark.parametrize("name", NAMES)
def test_small_vocabularies_of_every_kind(name: str) -> None:
    data = content(name)
    core, r = Core(data, "core", NEVER), random.Random(name)
    # Also parts that are repeated within a pre-token.
    letters = ("a", "b", "the", " ", "\u00e9", "\u4e2d\u6587", "\u00e9a", "\u4e2d", "\n", "1")
    texts = ["".join(r.choices(letters, k=r.choice((1, 5, 30, 300)))) for _ in range(150)]
    texts = [text for text in texts if has_ids(core, text)]
    if texts:
        check(data, texts, ())


def test_a_template_is_put_around_each_text() -> None:
    names = ("<s>", "</s>", "<e>")
    tokens = [added(name, 256 + number, special=True) for number, name in enumerate(names)]
    first, second, third = map(parts.special, names)
    around = [first, parts.text("A"), second, third]
    processor = parts.template(around, around, {name: 256 + n for n, name in enumerate(names)})
    fields = document(added_tokens=tokens, post_processor=processor)
    data = file_bytes(read(reference(fields)))
    check(data, ["a b", "", "c" * 300, "d e f"], (), template=True)
    # Two threads cut the first one into parts of 2,048 bytes and take them by twos.
    check(data, [("word " * 14_000)[:64_940], *["a b c"] * 120], (), template=True)


def test_a_text_with_a_surrogate_is_named() -> None:
    fields = of_bytes(random.Random(1))
    engine = Core(file_bytes(read(reference(fields))), "engine", 0)
    texts = ["a" * 100, "\u4e2d" * 100, "b\ud800" * 50, "c" * 100]
    with pytest.raises(UnicodeEncodeError, match="position 1: surrogates not allowed"):
        engine.encode_flat(texts, (), False, 1)
