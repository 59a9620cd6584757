"""A split is omitted exactly if no text can match it after the earlier steps."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, normalizers, pre_tokenizers

from tokexport.compiler.passes.dead_splits import without_dead_splits
from tokexport.model import (
    Append,
    Behavior,
    CharacterMap,
    CharacterTest,
    NormalForm,
    NormalizerStep,
    Prepend,
    PreTokenizerStep,
    Replace,
    Split,
)

SPACES = Replace(" ", "_")
BEHAVIORS = ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous")
LETTERS = st.sampled_from(["a", "b", "_", " ", "aa", "ab", " a", "a_", "b a"])


OMITTED: list[tuple[list[NormalizerStep], Split]] = [
    ([SPACES], Split(" ")),
    ([Replace(".", "_")], Split(r"\.")),
    ([SPACES], Split("a b", Behavior.MERGED_WITH_PREVIOUS)),
    ([SPACES, Prepend("_"), Append("."), Replace("a", "b")], Split(" ")),
    ([NormalForm.NFKC, SPACES], Split(" ")),
]
KEPT: list[tuple[list[NormalizerStep], Split]] = [
    ([], Split(" ")),
    ([SPACES], Split("_")),
    ([SPACES], Split(" ", invert=True)),
    ([SPACES], Split(" |a")),
    ([SPACES], Split("[ a]")),
    ([SPACES], Split(r"\s")),
    ([SPACES], Split(CharacterTest.WHITESPACE)),
    ([Replace(" ", "  ")], Split(" ")),
    ([Replace("  ", "_")], Split(" ")),
    ([Replace(" +", "_", literal=False)], Split(" ")),
    ([SPACES, Replace("_", " ")], Split(" ")),
    ([SPACES, Prepend(" ")], Split(" ")),
    ([SPACES, Append(" ")], Split(" ")),
    ([SPACES, NormalForm.NFKC], Split(" ")),  # U+00A0 becomes a space
    ([Replace("a", "b"), CharacterMap.LOWERCASE], Split("a")),
]


@pytest.mark.parametrize(
    ("normalizer", "split", "is_kept"),
    [*((*case, False) for case in OMITTED), *((*case, True) for case in KEPT)],
)
def test_a_split_is_omitted_only_where_nothing_can_match_it(
    normalizer: Sequence[NormalizerStep], split: Split, is_kept: bool
) -> None:
    left = without_dead_splits(normalizer, [Split("b"), split, Split("c")])
    assert left == (Split("b"), *([split] if is_kept else []), Split("c"))


def test_a_replacement_in_the_pre_tokenizer_affects_only_later_splits() -> None:
    steps: list[PreTokenizerStep] = [Split(" "), SPACES, Split(" ")]
    assert without_dead_splits([], steps) == (Split(" "), SPACES)


def test_an_omitted_split_matches_nothing_in_the_library() -> None:
    left_out = 0

    @settings(max_examples=300)
    @given(
        st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=4),
        LETTERS,
        st.lists(st.text(" ab_", max_size=12), min_size=20),
    )
    def check(replacements: list[tuple[str, str]], pattern: str, texts: list[str]) -> None:
        nonlocal left_out
        steps = [Replace(before, after) for before, after in replacements]
        if without_dead_splits(steps, [Split(pattern)]):
            return
        left_out += 1
        normalizer = normalizers.Sequence([normalizers.Replace(*both) for both in replacements])
        for behavior in BEHAVIORS:
            split = pre_tokenizers.Split(Regex(pattern), behavior)
            for text in texts:
                normalized = normalizer.normalize_str(text)
                pre_tokens = split.pre_tokenize_str(normalized)
                assert [part for part, _ in pre_tokens] == ([normalized] if normalized else [])

    check()
    assert left_out >= 10
