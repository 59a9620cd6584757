"""A reference to a group of one character out of a few matches like in the engines."""

import random

import pytest
from regex_oracle import assert_matches_of_fancy_regex, assert_pieces_of_oniguruma
from regex_patterns import PUBLISHED
from repository import SLOW

TEXTS = 1000 if SLOW else 200
ALPHABETS = ("ab", "abc", "aabbc1", "!?!!.()x")

GALACTICA = PUBLISHED["Galactica, Nougat"]
PATTERNS = [
    *(r"([ab])\1", r"([ab])\1*", r"([ab])\1+|c", r"([ab])c\1", r"([ab])([bc])\2\1"),
    *(r"(?:([ab])\1)+", r"(?:([ab])\1|c)+x?", r"([ab])\1{2}", r"([ab])\1??b"),
    *(r"([ab])(?!\1)", r"([ab])(?=\1)c?", r"([ab])(?=.*\1)", r"c|(?:x([ab])\1|b)"),
    GALACTICA,
]


def random_pattern(r: random.Random) -> str:
    group = r.choice(["[ab]", "a", "[abc]", "[bc]"])
    middle = r.choice(["", "", "c", "c?", "[bc]*", "(?:a|c)", "(?=b)"])
    last = r.choice([r"\1", r"\1*", r"\1+?", r"\1?", r"(?!\1)", r"\1c|b", r"(?:\1|c)", r"(?:\1c)*"])
    body = f"({group}){middle}{last}"
    return (
        r.choice(["", "a", "x?", "(?:b|c)"])
        + r.choice([body, f"(?:{body})"])
        + r.choice(["", "c?", "|.", "|ab"])
    )


RANDOM = [random_pattern(random.Random(seed)) for seed in range(400 if SLOW else 80)]


@pytest.mark.parametrize("pattern", [*PATTERNS, *RANDOM])
def test_the_matches_and_gaps_equal_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=18)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_equal_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS // 3, longest=12)


def test_the_pre_tokenizer_of_galactica_splits_like_the_library() -> None:
    alphabet = "!\"#$%&'*+,-./:;<=>?\\^_`|~()[]{}ab 1é"
    assert_pieces_of_oniguruma(GALACTICA, [alphabet], 20_000 if SLOW else 2000, longest=25)
