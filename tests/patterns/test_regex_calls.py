r"""A call of a group is its pattern once more: the pieces are those of the engines."""

from __future__ import annotations

import random

import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    assert_pieces_of_oniguruma,
    find_pieces,
    random_texts,
)
from repository import SLOW

from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import compile_split

TEXTS = 2000 if SLOW else 40
ALPHABETS = ("abc", "aab c", "aAbB", "sSßſx")

CALLING = [
    *(
        r"(?<n>a|b)\g<n>",
        r"(a|b)c\g<1>",
        r"\g<1>c|(a|b)",
        r"(a)(b)\g<-1>\g<-2>",
        r"\g<+1>(a)b?",
        r"\g'1'(a|ab)c?",
        r"(ab){0}\g<1>c",
    ),
    *(
        r"(a|ab)\g<1>?c",
        r"(a)\g<1>*b",
        r"(?>(a|ab))\g<1>c|b",
        r"(a(b|c))\g<1>\g<2>",
        r"(a\g<2>)(b\g<3>)(c|)",
        r"(a+?)b\g<1>++",
    ),
    *(
        r"(?i:(a))\g<1>",
        r"(a)(?i)\g<1>b",
        r"(?i)(s)\g<1>x|ß",
        r"(?i)(ss)x\g<1>",
        r"(?<n>a(?=b))b\g<n>|c",
        r"(a(?!bc)b)?\g<1>",
    ),
    *(
        r"(?:\g<1>|c)+(b)",
        r"(a\K)\g<1>b|c",
        r"(?=\g<1>)a(b|)",
        r"((a|b)c)(?!\g<1>)",
        r"(?<n>[ab])(?<m>c)\g<m>\g<n>",
    ),
]
# Refused: the pattern, and the place; None where it is one of very many calls.
REFUSED = [
    *(
        (r"(a|b\g<1>)", 4),
        (r"\g<0>a", 0),
        (r"(a\g<2>)(b\g<1>?)", 2),
        (r"a\g<1>", 1),
        (r"(?<n>a)(?<n>b)\g<n>", 14),
    ),
    *(
        (r"(?<n>a)\g<1>", 7),
        (r"(a|b)\g<1>\1", 5),
        (r"(?<n>a)\g<m>", 7),
        (r"a\g<-1>", 1),
        ("(" * 12 + "a" + r")\g<1>" * 12, None),
    ),
]


@pytest.mark.parametrize("pattern", CALLING)
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=14)


@pytest.mark.parametrize("pattern", [*CALLING, "(?P<n>a|b)c(?P>n)", "(?P>n)b(?<n>a|c)"])
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS, longest=12)


def random_pattern(seed: int) -> str:
    r = random.Random(seed)
    group = r.choice(["a|b", "ab?", "a*b", "[ab]+?", "a(?=b)", r"b|c\g<2>", "(?i)a", "a|ab"])
    last = r.choice(["c", "b?c", "c+|a", "a{2}"])
    call = r.choice(
        [r"\g<1>", r"\g<2>", r"(?:\g<1>|c)", r"\g<1>{0,2}", r"(?>\g<1>)", r"(?!\g<2>)."]
    )
    return (
        r.choice(["", "a", r"\g<2>?"])
        + f"({group})"
        + r.choice(["", "?", "{0}"])
        + f"({last}){call}"
    )


def test_the_pieces_of_random_patterns_are_those_of_oniguruma() -> None:
    for seed in range(1000 if SLOW else 50):
        pattern = random_pattern(seed)
        program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
        for text in random_texts("abcA", TEXTS, longest=14, seed=seed):
            assert [(start, end) for start, end, _ in find_pieces(program, text)] == engine.pieces(
                text
            ), pattern


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(("pattern", "offset"), REFUSED)
def test_another_call_is_refused_at_its_place(
    pattern: str, offset: int | None, dialect: Dialect
) -> None:
    place = r"\d+" if offset is None else str(offset)
    with pytest.raises(UnsupportedError, match=f"a call of a group at offset {place} is not"):
        compile_split(Split(pattern, dialect=dialect))


@pytest.mark.parametrize("pattern", [r"(a)(?<=\g<1>)b", r"(?<=(a))\g<1>"])
def test_calls_and_look_behinds_of_oniguruma_do_not_meet(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a call of a group"):
        compile_split(Split(pattern))
