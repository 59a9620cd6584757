"""Steps after ByteLevel that depend on GPT-2's alphabet read its letters, as in the reference."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from compared import compared_or_none
from hypothesis import given
from hypothesis import strategies as st
from json_parts import (
    STRIP,
    Json,
    bert,
    digits,
    metaspace,
    normalizers,
    pre_tokenizers,
    replace,
    split,
    word_piece,
)
from reader_samples import BYTE_LEVEL as WORDS
from reader_samples import CHARACTERS as ALPHABET
from reader_samples import FLAGS, added, document, read_document

from tokexport.compiler.passes.work_on_bytes import work_on_bytes
from tokexport.model import SpellBytes
from tokexport.model.normalization.normalize import normalize

LETTERS = WORDS | {"use_regex": False}
SPACED = LETTERS | {"add_prefix_space": True}
# Letters that merge: some, those of bytes of é, ▁ and 中, and of a second mapping of them.
POOL = [
    *"abAB1.\u2581 ",
    *(ALPHABET[byte] for byte in " \n\xc3\xa9\xe2\x96\x81\xe4\xb8\xad\xc4\xa0".encode("latin-1")),
]
PAIRS = [[left, right] for left, right in itertools.product(POOL, POOL)]
TOKENS = dict.fromkeys(["[UNK]", *POOL, *ALPHABET, *map("".join, PAIRS)])
VOCAB = {token: number for number, token in enumerate(TOKENS)}


NORMALIZERS: list[Json] = [
    *(
        {"type": name}
        for name in ("ByteLevel", "NFC", "NFD", "NFKD", "Lowercase", "StripAccents", "Nmt")
    ),
    {"type": "Prepend", "prepend": "\u2581"},
    STRIP,
    bert(),
    replace("\u0120", " "),
    replace("[\u0100-\u0143]+", "\u2581", "Regex"),
]
PRE_TOKENIZERS: list[Json] = [
    *({"type": name} for name in ("UnicodeScripts", "Whitespace", "BertPreTokenizer")),
    *(metaspace(scheme, split) for scheme in ("always", "never") for split in (True, False)),
    digits(),
    split("\u0120|[a-z]+", "MergedWithNext"),
    *(LETTERS, WORDS, SPACED),
]


def bpe(**options: Any) -> Any:
    return document(model={"vocab": VOCAB, "merges": PAIRS, **options})["model"]


def without(letters: str) -> dict[str, int]:
    return {token: number for token, number in VOCAB.items() if token not in letters}


FALLBACK = {f"<0x{byte:02X}>": 1000 + byte for byte in range(256)}
SUFFIXED = {token + "\u2581": 2000 + number for number, token in enumerate(VOCAB)}
PREFIXED = {"中" + token: 2000 + number for number, token in enumerate(VOCAB)}
MODELS: dict[str, Json] = {
    "plain": bpe(),
    "unknown": bpe(vocab=without("\u0120"), unk_token="[UNK]", merges=[]),
    "suffix": bpe(
        vocab=VOCAB | SUFFIXED, end_of_word_suffix="\u2581", merges=[["a", "b\u2581"], ["a", "b"]]
    ),
    "fallback": bpe(vocab=without("ab\u00c3") | FALLBACK, byte_fallback=True, merges=[]),
    "unigram": {
        "type": "Unigram",
        "unk_id": 0,
        "byte_fallback": True,
        "vocab": [[token, -float(number % 7)] for number, token in enumerate([*VOCAB, *FALLBACK])],
    },
    "wordpiece": word_piece(VOCAB | PREFIXED, "中"),
}
PARTS = st.sampled_from(
    [
        *"aabbAB1. \n\t\u2581éÉ中가",
        *("  ", "ab", "\u0120", "\u010a", "\u00a0", "\u0301", "ﬁ", "😀", "<T>", "\x7f\xad\xa1"),
    ]
)
TEXTS = st.lists(PARTS, max_size=14).map("".join)


def source(steps: Sequence[Json], words: Sequence[Json], model: Json, **parts: Any) -> Json:
    fields = document(normalizer=normalizers(*steps), pre_tokenizer=pre_tokenizers(*words), **parts)
    return fields | {"model": model}


def check(fields: Json, texts: Sequence[str], folder: Path) -> Counter[bool]:
    """Counts the texts compared with the reference, and those at which it panicked or whose added
    token is refused.
    """
    readers = compared_or_none(fields, folder, "added_tokens.*leaves nothing")
    return Counter(readers is not None and readers.check(text) for text in texts)


@pytest.fixture
def is_compared() -> Iterator[Counter[bool]]:
    """Whether a property test compared its texts, which has to be so for most of them."""
    counted: Counter[bool] = Counter()
    yield counted
    assert counted[True] > 4 * counted[False]


MODEL = st.sampled_from(sorted(MODELS)).map(MODELS.__getitem__)
SAMPLES = st.lists(TEXTS, min_size=8, max_size=8)


LEVEL = {"type": "ByteLevel"}
AS_NORMALIZER = st.builds(
    lambda before, after, words, model: source([*before, LEVEL, *after], words, model),
    st.lists(st.sampled_from(NORMALIZERS[1:]), max_size=1),
    st.lists(st.sampled_from(NORMALIZERS), min_size=1, max_size=3),
    st.lists(st.sampled_from(PRE_TOKENIZERS), max_size=3),
    MODEL,
)
AS_PRE_TOKENIZER = st.builds(
    lambda before, level, after, model: source([], [*before, level, *after], model),
    st.lists(st.sampled_from(PRE_TOKENIZERS), max_size=2),
    st.sampled_from([LETTERS, WORDS, SPACED]),
    st.lists(st.sampled_from(PRE_TOKENIZERS), max_size=3),
    MODEL,
)


@pytest.mark.parametrize("sources", [AS_NORMALIZER, AS_PRE_TOKENIZER], ids=["first", "later"])
@given(data=st.data(), texts=SAMPLES)
def test_steps_and_models_after_byte_level(
    sources: Any, data: st.DataObject, texts: list[str], tmp_path: Path, is_compared: Counter[bool]
) -> None:
    is_compared.update(check(data.draw(sources), texts, tmp_path))


CONTENTS = st.sampled_from(["<T>", "ab", " a", "é", "\u0120", ". ", "中"])
TOKEN = st.builds(added, CONTENTS, st.just(9999), **{flag: st.booleans() for flag in FLAGS})


@given(after=st.lists(st.sampled_from(NORMALIZERS), max_size=1), token=TOKEN, texts=SAMPLES)
def test_added_tokens_are_searched_in_the_alphabet(
    after: list[Json], token: Json, texts: list[str], tmp_path: Path, is_compared: Counter[bool]
) -> None:
    fields = source([LEVEL, *after], [], MODELS["plain"], added_tokens=[token])
    longer = [text[:3] + token["content"] + " " + text[3:] for text in texts]
    is_compared.update(check(fields, longer, tmp_path))


def test_trimmed_spans_of_the_whole_alphabet_equal_those_of_the_reference(tmp_path: Path) -> None:
    text = "".join(map(chr, (*range(0x180), 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF)))
    model = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": VOCAB}
    fields = source([LEVEL, {"type": "NFC"}], [split(".")], model, post_processor=SPACED)
    assert check(fields, [text], tmp_path)[True] == 1
    assert normalize(text, (SpellBytes(),)) == "".join(ALPHABET[byte] for byte in text.encode())


def test_the_alphabet_is_used_only_where_needed(tmp_path: Path) -> None:
    for parts, spelled in (([WORDS], False), ([WORDS, metaspace("never")], True)):
        model = read_document(source([], parts, MODELS["plain"]), tmp_path)
        assert any(isinstance(step, SpellBytes) for step in model.pre_tokenizer) == spelled


def test_a_model_without_the_step_is_unchanged(tmp_path: Path) -> None:
    model = read_document(source([{"type": "NFC"}], [], MODELS["plain"]), tmp_path)
    assert work_on_bytes(model) is model
