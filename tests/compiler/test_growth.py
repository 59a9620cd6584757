"""The declared growth of operations bounds every text, and is almost reached."""

import functools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_normalizer import normalize
from unicode_tables.charsmap import charsmap_of

from tokexport.compiler.normalizer.growth import growths
from tokexport.compiler.normalizer.rewriting import compile_steps
from tokexport.model import (
    Append,
    CharacterMap,
    Charsmap,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Strip,
)

CHARSMAP = {"a": "xyz", "e\u0301": "é", "ab": "ABCDEFG", "\ufdfa": "ab ab", "\u3000": "", "é": "e"}
STEPS: list[NormalizerStep] = [
    *NormalForm,
    *CharacterMap,
    Charsmap(charsmap_of(CHARSMAP), by_grapheme=False),
    Charsmap(charsmap_of(CHARSMAP), by_grapheme=True),
    Prepend("▁"),
    Append("é"),
    Replace(" ", "▁▁", literal=True),
    Replace("ab", "e\u0301ab", literal=True),
    Replace("a*", "é ", literal=False),
    SpellBytes(),
    Strip(left=True, right=True),
]
# The characters that grow, shrink or compose most, and some of all other kinds.
TEXTS = st.text(
    "ab eé\u0301\u0345\ufdfa\u0390\U0001d160\u0130가각\u1100\u1161\u11a8東\u00bc\u3000`",
    max_size=12,
)


@functools.cache
def bound(steps: tuple[NormalizerStep, ...]) -> tuple[int, int]:
    return [(1, 0), *growths(compile_steps(steps))][-1]


# A bound takes longer than a text: a few sequences of steps, each with many texts.
@pytest.mark.parametrize("seed", range(40))
@given(TEXTS | st.text(max_size=8))
def test_no_text_grows_beyond_the_bound(seed: int, text: str) -> None:
    steps = tuple(random.Random(seed).choices(STEPS, k=1 + seed % 4))
    grows, extra = bound(steps)
    for sample in [text, *text, *(50 * character for character in text[:2])]:
        assert len(normalize(sample, steps).encode()) <= grows * len(sample.encode()) + extra


@pytest.mark.parametrize(
    ("steps", "grows", "character"),
    [
        ([NormalForm.NFKD, NormalForm.NFKC, CharacterMap.LOWERCASE], 11, "\ufdfa"),
        ([CharacterMap.LOWERCASE, NormalForm.NFD, CharacterMap.LOWERCASE], 3, "\u0390"),
        ([NormalForm.NFD, SpellBytes()], 6, "\u0390"),
    ],
)
def test_consecutive_growths_are_not_multiplied(
    steps: list[NormalizerStep], grows: int, character: str
) -> None:
    assert growths(compile_steps(tuple(steps)))[-1] == (grows, 0)
    assert len(normalize(character, tuple(steps)).encode()) == grows * len(character.encode())
