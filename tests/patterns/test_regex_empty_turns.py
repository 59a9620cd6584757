"""A repeat of something that may be empty is what the engines make of it, or refused where their
rules about empty turns matter.
"""

from __future__ import annotations

import random

import pytest
from regex_oracle import Oniguruma, assert_matches_of_fancy_regex, find_pieces, random_texts
from repository import SLOW

from tokexport.errors import UnsupportedError
from tokexport.model import Split
from tokexport.patterns import SplitProgram, compile_split

ALPHABETS = ("abc", "ab c", "aab")
CERTAIN = [
    r"(?:\s?\w*)+",
    r"a(?:b?)*",
    "a(?:b*|c)+d",
    "(?:(?:a|b*)c?){2,}",
    "(?:a?b?){2,3}c",
    "(?>(?:a?b?)*)c|.",
    "(?=(?:a?b*)*c)[ab]|c",
    "(?<=c(?:a?b*)*)a",
]
# An empty turn makes a difference, and what the engine does is known all the same.
KNOWN = [
    *(
        "(?:|b|ab)*b",
        "(?:|a)+a",
        "[ab]*(?:c*|b?){0,7}c",
        "[ab]*(?:^c*){2,3}?",
        "(?:|c*){7,}|a",
        "a(?:b*?|c){2,}",
        "(?:c??|a)*a",
    ),
    *(
        "(?:(?:bb)*a??)+|a",
        "a(?:(?:b*?|c*cb?))*c",
        "(?:c??(?:|abb))+",
        "a(?:(?:(?:|b|ab))*+){2,}c",
        r"(?:|\s)*?(?:|b|c)*\n|.",
    ),
]


def random_pattern(r: random.Random) -> str:
    def body(depth: int) -> str:
        kind = r.random()
        if depth == 0 or kind < 0.3:
            return r.choice(
                [
                    "a",
                    "b",
                    "c",
                    "ab",
                    "[ab]",
                    "a?",
                    "b*",
                    "c??",
                    "a*?",
                    r"\b",
                    "(?=b)",
                    "^",
                    "$",
                    "(?<=a)",
                ]
            )
        if kind < 0.5:
            return body(depth - 1) + body(depth - 1)
        if kind < 0.7:
            return f"(?:{body(depth - 1)}|{r.choice(['', body(depth - 1)])})"
        return f"(?:{body(depth - 1)})" + r.choice(
            ["?", "*", "+", "{2}", "{2,}", "{1,3}", "{0,2}", "*?", "+?", "??"]
        )

    start, end = r.choice(["", "a", "[ab]*"]), r.choice(["", "a", "b", "c", "|a", "|."])
    return (
        f"{start}(?:{body(2)})" + r.choice(["*", "+", "{2}", "{2,}", "*?", "{2,3}", "{0,3}"]) + end
    )


def compiled(pattern: str) -> SplitProgram | None:
    try:
        return compile_split(Split(pattern))
    except UnsupportedError:
        return None


RANDOM = [random_pattern(random.Random(seed)) for seed in range(2000 if SLOW else 120)]


@pytest.mark.parametrize("pattern", [*CERTAIN, *KNOWN, *RANDOM])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    program = compiled(pattern)
    try:
        engine = Oniguruma(pattern)
    except Exception as error:
        # An anchor among alternatives.
        if pattern in (*CERTAIN, *KNOWN) or "target of repeat operator is invalid" not in str(
            error
        ):
            raise
        return
    if program is None:
        assert pattern not in (*CERTAIN, *KNOWN)
        return
    for alphabet in ALPHABETS:
        for text in random_texts(alphabet, 30, longest=12):
            try:
                expected = engine.pieces(text)
            except BaseException as error:
                if "retry-limit" not in str(error):
                    raise
                continue
            assert [(start, end) for start, end, _ in find_pieces(program, text)] == expected, text


@pytest.mark.parametrize(
    "pattern", ["a(?:b?)*", "a(?:b*|c)+d", "(?:a?b?){2,3}c", "(?:(?:a|b*)c?){2,}d", r"(?:\b|a)+b"]
)
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, 60, longest=12)


@pytest.mark.parametrize("pattern", ["a(?:b??)*", "(?:a??)+a", "(?:b*?)*|a"])
def test_what_the_engine_makes_of_repeats_of_repeats_is_not_known(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a repeat of something that may be empty"):
        compile_split(Split(pattern))


def test_most_patterns_are_certain() -> None:
    found = [compiled(pattern) for pattern in RANDOM if r"\b" not in pattern]
    assert sum(program is not None for program in found) > 0.6 * len(found)
