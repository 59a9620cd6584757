r"""``\G`` matches where the search for a match began, as in both engines and in Trinity."""

import random

import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    assert_pieces_of_oniguruma,
    spans_of,
    steps_taken,
)
from regex_patterns import TRINITY
from repository import SLOW

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Split

TEXTS = 3_000 if SLOW else 300
CHUNKS, FIRST, GROUPS = list(TRINITY.values())[:3]
PATTERNS = [
    *(CHUNKS, FIRST, GROUPS),
    r"\p{Nd}{1,5}(?=(?>\p{Nd}{5})*(?:\P{Nd}|$))|\G\p{Nd}{5}",
    *(r"\G\d{3}|a", r"\Ga", r"(?:\Ga|b)c|\d", r"\G(?:a|1)|1b", r"b|\G\w|\s", r"a+|\G\b1"),
    *(r"(\Ga|b)1*", r"\G(?<!1)a|1", r"\G\p{Nd}{2}(?=\p{Nd}*a)|b", r"\G[ab]|1"),
]
ALPHABETS = ("0123456789", "12a", "1234567890 ", "ab1", "1a٣2½ ", "\n1a b", "11111a")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_and_gaps_equal_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=25)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_equal_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS // 3, longest=16)


@pytest.mark.parametrize("pattern", [CHUNKS, GROUPS])
def test_long_numbers_are_cut_as_by_oniguruma(pattern: str) -> None:
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    for length in (1, 2, 3, 4, 509, 510, 511, 512, 1019, 1020, 1021, 1532, 2041):
        number = "".join(random.Random(length).choices("0123456789", k=length))
        for text in (number, f"a{number}b", f" {number}\u00bd"):
            assert spans_of(program, text) == engine.parts(text), text


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_symbol_is_read_a_bounded_number_of_times(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for run in ("1", "a", "1a", "123 "):
        text = run * (1500 // len(run))
        assert steps_taken(program, text)[0] <= 4 * (program.n_memo + 512) * len(text)


def test_a_pattern_without_a_search_anchor_has_one_kind_of_start() -> None:
    assert compile_split(Split("a|b")).search_starts is None
    assert compile_split(Split(r"\Ga|b")).search_starts is not None
