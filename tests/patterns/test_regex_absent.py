"""An absent group goes as far as the engines let it, and gives back what they let it give back."""

from __future__ import annotations

import random

import pytest
from regex_oracle import assert_matches_of_fancy_regex, assert_pieces_of_oniguruma
from repository import SLOW

TEXTS = 2000 if SLOW else 40
ALPHABETS = ("abc", "ab c\n", "/*ab", "aAbß")

ABSENT = [
    *(
        r"/\*(?~\*/)\*/|.",
        "(?~ab)c",
        "a(?~bc)b",
        "(?~a|bc)b|c",
        "(?~a)+b",
        "a(?>(?~b))b|c",
        "(?~(?:ab)+c)ab?",
        "(?~b?)a",
    ),
    *(
        "a(?~$)|b",
        r"(?~\b)a",
        "(?=(?~c)b)a",
        "(?~(?=ab)|c$)b",
        "(?~(?<=a)b)[bc]",
        "(?i)(?~ab)c",
        "(a|b)(?~\\1)c",
        "(?~(a))b",
    ),
    *("(?:(?~ab){2}|a)c", "a(?~b)(?~c)a", "(?~(?>ab|a)c)a"),
]
MAYBE_EMPTY = ["(?~ab)", "(?~)", "a|(?~b)", "(?:(?~ab)b)*", "(?~b){2}"]
EXPRESSIONS = [
    *(
        r"(?~|ab|\w+)",
        r"a(?~|bc|\w*?)b|c",
        "(?~|ab|(?:a|bc)+)c?",
        "(?~|b|a++)|b",
        "(?~|ab|.{2,3})c",
        r"(?~|b|a|\O{2})",
        "(?~|a|)b",
    ),
    *("(?i)(?~|ss|[aß]+)a?", "(?~|c|(?>ab|a))b?", "(?~|(?:a|b)c|[ab]+|c)", "(?~||a*)b"),
]


def random_absent(seed: int) -> str:
    r = random.Random(seed)

    def body(depth: int) -> str:
        kind = r.random()
        if not depth or kind < 0.35:
            return r.choice(["a", "b", "ab", "[ab]", "bc", "aa", ".", "$", r"\b", "(?=c)"])
        if kind < 0.6:
            return body(depth - 1) + body(depth - 1)
        if kind < 0.8:
            return f"(?:{body(depth - 1)}|{body(depth - 1)})"
        return f"(?:a{body(0)})" + r.choice(["?", "*", "+", "{2}", "*?"])

    around = r.choice(["%s", "(?>%s)", "(?:%s|b)", "(?:%sb)+", "(?=%s)a", "(?:%s)?", "(?:%s){2}"])
    before, behind = (
        r.choice(["", "a", "[ab]*", "b+?"]),
        r.choice(["a", "b", "c", r"\w+", "(?!a).", "$"]),
    )
    return before + around % f"(?~{body(2)})" + behind + r.choice(["", "|a", "|."])


RANDOM = [random_absent(seed) for seed in range(1000 if SLOW else 24)]


@pytest.mark.parametrize("pattern", [*ABSENT, *MAYBE_EMPTY, *EXPRESSIONS, *RANDOM])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=12)


@pytest.mark.parametrize("pattern", ABSENT)
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS, longest=12)
