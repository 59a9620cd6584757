"""The patterns of published tokenizers split every text like the engine they were written for."""

import random

import pytest
from regex_oracle import Oniguruma, alphabet_of, fancy_matched, matches, random_texts, spans_of
from regex_patterns import TIKTOKEN, TOKENIZER_JSON
from repository import SLOW
from tokenizers import pre_tokenizers

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Dialect, Split

TEXTS = 5000 if SLOW else 80
PATTERNS = {**TOKENIZER_JSON, **TIKTOKEN}
GPT2 = TIKTOKEN["whisper-tiktoken"]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_published_pattern_splits_random_texts_like_oniguruma(name: str) -> None:
    program = compile_split(Split(PATTERNS[name]))
    engine = Oniguruma(PATTERNS[name])
    for text in random_texts(alphabet_of(program), TEXTS, longest=30):
        assert matches(program, text) == engine.matches(text), text


@pytest.mark.parametrize("name", PATTERNS)
def test_a_published_pattern_splits_random_texts_like_fancy_regex(name: str) -> None:
    program = compile_split(Split(PATTERNS[name], dialect=Dialect.FANCY_REGEX))
    texts = list(random_texts(alphabet_of(program), TEXTS, longest=16))
    for text, matched in zip(texts, fancy_matched(PATTERNS[name], texts), strict=True):
        assert [text[start:end] for start, end in matches(program, text)] == matched, text


SLOW_PATTERNS = ["whisper-tiktoken", "qwen35-llamacpp-synthetic", "deepseek-v3 #4", "kimi-k2"]


@pytest.mark.parametrize("name", ["tiktoken 0.14.0 o200k_base", *(SLOW_PATTERNS if SLOW else ())])
def test_every_scalar_value_in_two_orders_is_split_like_the_engine(name: str) -> None:
    program = compile_split(Split(PATTERNS[name]))
    engine = Oniguruma(PATTERNS[name])
    scalars = [chr(value) for value in range(0x110000) if not 0xD800 <= value < 0xE000]
    shuffled = random.Random(0).sample(scalars, len(scalars))
    for order in (scalars, shuffled):
        for start in range(0, len(order), 1 << 16):
            text = "".join(order[start : start + (1 << 16)])
            assert matches(program, text) == engine.matches(text)


@pytest.mark.parametrize("name", [name for name in TOKENIZER_JSON if "jais2" in name])
def test_long_runs_of_spaces_are_cut_by_their_lengths(name: str) -> None:
    program = compile_split(Split(PATTERNS[name]))
    engine = Oniguruma(PATTERNS[name])
    generator = random.Random(0)
    for length in [*range(1, 20), *range(250, 260), *range(505, 520), 700, 1023, 1024, 1025, 2000]:
        for end in ("", "x", "\n", "\nx", " x"):
            text = generator.choice(["", "x", "\n"]) + " " * length + end
            assert matches(program, text) == engine.matches(text), text


@pytest.mark.parametrize(
    ("pattern", "dialect", "n_classes", "n_states"),
    [
        (GPT2, Dialect.ONIGURUMA, 12, 12),
        (TIKTOKEN["tiktoken 0.14.0 cl100k_base"], Dialect.FANCY_REGEX, 13, 19),
        (TOKENIZER_JSON["phi-4, llama3"], Dialect.ONIGURUMA, 16, 20),
        (TIKTOKEN["tiktoken 0.14.0 o200k_base"], Dialect.FANCY_REGEX, 28, 30),
    ],
)
def test_the_tables_of_well_known_patterns_are_small(
    pattern: str, dialect: Dialect, n_classes: int, n_states: int
) -> None:
    program = compile_split(Split(pattern, dialect=dialect))
    assert program.n_classes <= n_classes
    assert len(program.transitions) <= n_states


def test_the_whitespace_pre_tokenizer_is_a_pattern_of_the_rust_engine() -> None:
    program = compile_split(Split(r"\w+|[^\w\s]+", dialect=Dialect.FANCY_REGEX))
    whitespace = pre_tokenizers.Whitespace()
    for text in random_texts(alphabet_of(program), TEXTS, longest=30):
        assert matches(program, text) == [span for _, span in whitespace.pre_tokenize_str(text)], (
            text
        )


def test_byte_level_cuts_like_the_pattern_of_gpt2() -> None:
    program = compile_split(Split(GPT2))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for text in random_texts(alphabet_of(program), TEXTS, longest=30):
        assert spans_of(program, text) == [span for _, span in byte_level.pre_tokenize_str(text)], (
            text
        )
