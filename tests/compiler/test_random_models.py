"""A random Unigram, WordPiece or WordLevel has the ids of the reference, or fails as it does."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from compared import Compared
from json_parts import FUSE
from parts.cases import document
from reader_samples import BYTE_LEVEL, spelled
from repository import SLOW

SEEDS_PER_TEST = 50
SEEDS = range(2_000 if SLOW else 200)
# Small alphabets, so that there are many ties, missing tokens, and unknown text everywhere.
LETTERS = "aab#"
CHARACTERS = "abc#\u00e9\u4e2d\U0001f600\u0301"
SCORES = (-1.0, -1.0, -2.0, -3.0, -0.5, 0.0, -0.1, -0.2, -0.3, -0.30000000000000004, -0.7, 1.5)
PREFIXES = ("##", "##", "", "#", "\u00e9", "abc")
PRE_TOKENIZERS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"type": "WhitespaceSplit"},
    BYTE_LEVEL | {"trim_offsets": False, "use_regex": False},
)


def text(r: random.Random, longest: int) -> str:
    """A few characters, mostly two of them."""
    letters = LETTERS if r.random() < 0.7 else CHARACTERS
    return "".join(r.choice(letters) for _ in range(r.randint(1, longest)))


def sentence(r: random.Random, tokens: list[str]) -> str:
    """Tokens, other text and spaces."""
    kinds = (
        lambda: r.choice(tokens),
        lambda: text(r, 6),
        lambda: " ",
        lambda: text(r, 2) * r.randint(1, 60),
    )
    return "".join(r.choice(kinds)() for _ in range(r.randint(1, 9)))


def _tokens(r: random.Random) -> list[str]:
    prefix = r.choice(PREFIXES)
    tokens = [r.choice(["<unk>", "a", "\u00e9"])]
    for _ in range(r.randint(1, 40)):
        token = text(r, r.choice([1, 2, 3, 6, 20]))
        tokens.append(prefix + token if r.random() < 0.5 else token)
    return tokens


def model(r: random.Random, *, byte_level: bool) -> tuple[dict[str, Any], list[str]]:
    """The ``model`` of a tokenizer.json, and its tokens as they occur in a text."""
    tokens = _tokens(r)
    names = [spelled(token) for token in tokens] if byte_level else tokens
    kind = r.choice(["Unigram", "Unigram", "WordPiece", "WordLevel"])
    if kind == "Unigram":
        if r.random() < 0.4:
            bytes_of = [f"<0x{byte:02X}>" for byte in range(256)]
            names = [*names, *(name for name in bytes_of if r.random() < r.choice([0.5, 1.0]))]
        scores = (r.choice(SCORES) if r.random() < 0.8 else r.uniform(-9, 0) for _ in names)
        vocab = list(map(list, zip(names, scores, strict=True)))
        unk_id = r.choice([0, 0, 1, None])
        fallback = r.random() < 0.5 and not byte_level
        unigram = {"type": kind, "unk_id": unk_id, "vocab": vocab, "byte_fallback": fallback}
        return unigram, tokens
    ids = list(range(len(set(names)) + r.choice([0, 3])))
    r.shuffle(ids)
    vocab_ids = dict(zip(dict.fromkeys(names), ids, strict=False))
    unknown = {"unk_token": r.choice([names[0], names[0], "[UNK]"])}
    if kind == "WordLevel":
        return {"type": kind, "vocab": vocab_ids, **unknown}, tokens
    longest = r.choice([0, 1, 3, 5, 100, 100, 10**19])
    prefix = r.choice(PREFIXES)
    prefix = spelled(prefix) if byte_level else prefix
    fields = {"continuing_subword_prefix": prefix, "max_input_chars_per_word": longest}
    return {"type": kind, "vocab": vocab_ids, **unknown, **fields}, tokens


def tokenizer_json(seed: int) -> tuple[dict[str, Any], list[str]]:
    """A tokenizer.json with such a model and only a pre-tokenizer; and texts for it."""
    r = random.Random(seed)
    pre_tokenizer = r.choice(PRE_TOKENIZERS)
    byte_level = pre_tokenizer is not None and pre_tokenizer["type"] == "ByteLevel"
    fields, tokens = model(r, byte_level=byte_level)
    if r.random() < 0.2:
        del fields["type"]
    source = document(fields, pre_tokenizer=pre_tokenizer, decoder=FUSE)
    return source, [sentence(r, tokens) for _ in range(200)]


@pytest.mark.parametrize("first", SEEDS[::SEEDS_PER_TEST])
def test_the_ids_equal_those_of_the_reference(first: int, tmp_path: Path) -> None:
    compared: Counter[bool] = Counter()
    for seed in range(first, first + SEEDS_PER_TEST):
        source, texts = tokenizer_json(seed)
        readers = Compared(source, tmp_path)
        compared.update(readers.check(text, slow=n < 5) for n, text in enumerate(texts))
    assert compared[True] > 100 * SEEDS_PER_TEST
    assert compared[False] > 0
