"""The patterns of published tokenizers split every text like the engine they were written for."""

import random

import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    assert_parts_of_oniguruma,
    matches,
)
from regex_patterns import TIKTOKEN, TOKENIZER_JSON
from repository import SLOW

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Dialect, Split

TEXTS = 5000 if SLOW else 80
PATTERNS = {**TOKENIZER_JSON, **TIKTOKEN}
GPT2 = TIKTOKEN["whisper-tiktoken"]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_published_pattern_splits_random_texts_like_both_engines(name: str) -> None:
    assert_parts_of_oniguruma(PATTERNS[name], [], TEXTS, longest=30)
    assert_matches_of_fancy_regex(PATTERNS[name], [], TEXTS, longest=16)


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
