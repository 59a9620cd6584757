"""Offsets equal those of the reference library, with added tokens, trimming and templates."""

import random
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from references import random_tokenizer, reference_for
from repository import SLOW, small_source
from runtime_samples import NAMES, tokenizer

from tokexport.errors import FormatError
from tokexport.runtime.offsets import Encoding
from tokexport.runtime.tokenizer import Tokenizer
from tokexport.sources.tokenizer_json.reference import TokenizersReference

NO_SPANS = -13


def reference(name: str) -> tokenizers.Tokenizer:
    loaded = reference_for(small_source(name))
    assert isinstance(loaded, TokenizersReference)
    return loaded._tokenizer


REFERENCES = {name: reference(name) for name in NAMES}
ADDED = {token.content for name in NAMES for token in tokenizer(name).added_tokens}
PARTS = st.one_of(
    st.sampled_from(
        [
            *sorted(ADDED),
            *("cat", "caté", "<|end", " the", "light", "'s", "'ſ", "123", "  ", "\n", "\r\n"),
            *("\t", "\u3000", "\u0301", "渡", "가", "🙂"),
        ]
    ),
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("aeinrst \n"),
)
TEXTS = st.lists(PARTS, max_size=30).map("".join)


def expected(
    library: tokenizers.Tokenizer, texts: tuple[str, ...], special: bool, template: bool
) -> Encoding | None:
    """The result of the library; None if it fails internally."""
    library.encode_special_tokens = not special
    try:
        pair = texts[1] if len(texts) == 2 else None
        encoding = library.encode(texts[0], pair, add_special_tokens=template)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None
    return Encoding(encoding.ids, encoding.offsets, encoding.type_ids, encoding.special_tokens_mask)


def encoded(
    subject: Tokenizer, texts: tuple[str, ...], special: bool, template: bool
) -> Encoding | None:
    """The result of the file; None if it has no offsets."""
    how: dict[str, Any] = {"allowed_special": "all" if special else ()}
    how["add_special_tokens"] = template
    try:
        if len(texts) == 1:
            return subject.encode_with_offsets(*texts, **how)
        return subject.encode_pair_with_offsets(*texts, **how)
    except FormatError as error:
        if error.code != NO_SPANS:
            raise
        return None


@pytest.mark.parametrize("name", NAMES)
@given(texts=st.tuples(TEXTS, TEXTS), special=st.booleans(), template=st.booleans())
def test_a_text_and_a_pair_have_the_offsets_of_the_library(
    name: str, texts: tuple[str, str], special: bool, template: bool
) -> None:
    for inputs in (texts[:1], texts):
        theirs = expected(REFERENCES[name], inputs, special, template)
        ours = encoded(tokenizer(name), inputs, special, template)
        assert ours is None or theirs is None or ours == theirs


def random_texts(source: dict[str, Any]) -> list[str]:
    """Texts of the added tokens, white space and letters of a tokenizer, always the same."""
    contents = [token["content"] for token in source["added_tokens"]]
    parts = [
        *contents,
        *(" ", "  ", "\n", "\u3000", "\u0120", "the", "ab", "tick", "é", "e\u0301", "中文", "😀"),
        *("12", "\x00", "'s", "-"),
    ]
    r = random.Random(1)
    return ["", *contents, *("".join(r.choices(parts, k=size % 9 + 1)) for size in range(1, 60))]


@pytest.mark.parametrize("first", range(0, 200 if SLOW else 80, 20))
def test_a_random_tokenizer_has_the_offsets_of_the_library(first: int, tmp_path: Any) -> None:
    compared = 0
    for seed in range(first, first + 20):
        if (sample := random_tokenizer(seed, tmp_path)) is None:
            continue
        source, subject, library = sample
        assert isinstance(library, TokenizersReference)
        texts = random_texts(source)
        for number, text in enumerate(texts):
            for inputs in ((text,), (text, texts[number - 1])):
                theirs = expected(library._tokenizer, inputs, number % 2 == 0, number % 3 == 0)
                ours = encoded(subject, inputs, number % 2 == 0, number % 3 == 0)
                if theirs is not None and ours is not None:
                    compared += 1
                    assert ours == theirs, (seed, inputs)
    assert compared > 500
