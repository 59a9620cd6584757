r"""A conditional, (?(1)yes|no), goes on as a group has matched or has not: the pieces are those of
the engines.
"""

from __future__ import annotations

import random

import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    assert_pieces_of_oniguruma,
    fancy_matched,
)
from repository import SLOW

from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import SplitProgram, compile_split

TEXTS = 2000 if SLOW else 40
ALPHABETS = ("abc", "aab cd", "ab(c)")

CONDITIONALS = [
    *(
        r"(a)?(?(1)b|c)",
        r"(a)?(?(<1>)b|c)",
        r"(a)?(?('1')b|c)",
        r"(a)?(?(-1)b|c)",
        r"(?<n>a)?(?(<n>)b|c)",
        r"(\()?\w+(?(1)\))",
    ),
    *(
        r"(a)??[ab](?(1)b|c)",
        r"(?:(a)|b)(?(1)b|c)",
        r"(?:(a)|b)*(?(1)c|d)",
        r"(?:(a)|b(?(1)c|d))+",
        r"(a)?(?(1)|c)",
        r"(a)|(?(1)b|c)",
    ),
    *(
        r"(a)?(?(1)b|c|d)",
        r"(a)?(?(1))b",
        r"(a)?(?(1)(b)|(c))(?(2)c|d)",
        r"((a)|b)(?(2)a|b)(?(1)c|d)",
        r"(a?)(?(1)b|c)",
    ),
    *(
        r"(?i)(a)?(?(1)B|C)",
        r"(?:(a)|(b)){2}(?(1)(?(2)c|a)|b)",
        r"(a)?b(?(1)c|d)?",
        r"(?:(a)?(?(1)b|c))+",
        r"(a)?\Kb(?(1)c|a)",
    ),
    *(
        r"(a)?(?=.(?(1)b|cc)).",
        r"(a)?(?!(?(1)b|a)).",
        r"(a)?.(?<=(?(1)b|c))b",
        r"(a)?.(?<!(?(1)b|c))b",
        r"(?!(a)b).(?(1)a|b)",
    ),
    *(
        r"(?>(a)|b)(?(1)c|d)",
        r"(a)?+(?(1)b|c)",
        r"(?>(a|ab))(?(1)c|b)",
        r"(?=(a)|b).(?(1)b|c)",
        r"(?>(?:(a)|b)[bc]*?c)(?(1)a|b)",
    ),
    *(
        r"(?(a)b|c)",
        r"(?(ab?)b|c)c?",
        r"(?(a|b)c|d)|b",
        r"(?((a)|b)(?(1)c|d)|d)",
        r"(?(a)(?(b)c|)|)d",
        r"(?(\b)a|b)",
    ),
]
IN_ATOMIC_GROUPS = [
    r"(a)?(?>b?(?(1)b|c))",
    r"(?>(a)?(?(1)b|c)|d)",
    r"(?:(?>(a)?(?(1)b|c))d?)+",
    r"(a)?(?:(?(1)b|c)d)++c?",
]
OF_ONIGURUMA = [r"(a)?(?(1)(?:b|c))", r"(a)?(?(1)b|)c", r"a|(b)?c(?(1)a)|c", "(?(a)b|)"]
# The engine takes alternatives in a group for those of the conditional, and a condition that
# nothing follows for a plain group.
OF_FANCY_REGEX = [
    r"(a)?(?(1)(?:b|c))",
    r"(a)?(?(1)(?i)(?:b|c))d",
    r"(?(ab?)|)b",
    r"(a)?(?(1)b)c",
    r"(?:(?(a)b)c)+",
    r"(a)?c(?(1)|)",
]


@pytest.mark.parametrize("pattern", [*CONDITIONALS, *IN_ATOMIC_GROUPS, *OF_ONIGURUMA])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=14)


@pytest.mark.parametrize("pattern", [*CONDITIONALS, *OF_FANCY_REGEX])
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS, longest=12)


class Generator:
    """Random patterns whose conditionals ask for groups before them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.groups = 0
        self.closed: list[int] = []

    def pattern(self) -> str:
        r = self.random
        around = r.choice(
            ["%s", "%s", "%s", "(?:%s)+", "(?>%s)", "(?:x|%s)", "(?=%s).", "(?:%s){2}"]
        )
        inside = r.choice(["", ".", "a"]) + self.group(2) + self.body(2) + self.conditional(2)
        return around % (inside + r.choice(["", "a", "c", "|.", "|ab"]))

    def body(self, depth: int) -> str:
        r = self.random
        kind = r.random()
        if depth <= 0 or kind < 0.25:
            simple = [
                "a",
                "b",
                "c",
                "ab",
                "[ab]",
                ".",
                "a?",
                "b*",
                "c+?",
                "[^a]",
                r"\b",
                "$",
                "^",
                "(?=b)",
            ]
            return r.choice([*simple, "(?!a)", "(?<=a)", "(?<!ab)", "(?=ab)"])
        if kind < 0.45:
            return self.body(depth - 1) + self.body(depth - 1)
        if kind < 0.55:
            return f"(?:{self.body(depth - 1)}|{self.body(depth - 1)})"
        if kind < 0.72:
            return self.group(depth)
        if kind < 0.88:
            return self.conditional(depth)
        if kind < 0.94:
            return r.choice(["(?>%s)", "(?=%s)", "(?!%s)"]) % (
                self.body(depth - 1) + r.choice("abc")
            )
        return f"(?:{self.body(depth - 1)}{r.choice('abc')})" + r.choice(
            ["?", "*", "+", "{2}", "*?", "?+", "*+"]
        )

    def group(self, depth: int) -> str:
        self.groups += 1
        number = self.groups
        body = self.body(depth - 1)
        self.closed.append(number)
        return f"({body})" + self.random.choice(["", "", "?", "?", "??", "?+", "{0,2}", "*", "+"])

    def conditional(self, depth: int) -> str:
        condition = str(self.random.choice(self.closed)) if self.closed else "a"
        no = self.random.choice(
            ["", "|" + self.body(depth - 1), "|" + self.body(depth - 1), "|", f"|{self.body(0)}|b"]
        )
        return f"(?({condition}){self.body(depth - 1)}{no})"


PATTERNS = [Generator(seed).pattern() for seed in range(3000 if SLOW else 70)]


def compiled(pattern: str, dialect: Dialect) -> SplitProgram | None:
    try:
        return compile_split(Split(pattern, dialect=dialect))
    except UnsupportedError:
        return None


def refused_by_oniguruma(pattern: str) -> bool:
    try:
        Oniguruma(pattern)
    except Exception:  # an anchor is repeated
        return True
    return False


def test_the_pieces_of_random_patterns_are_those_of_oniguruma() -> None:
    found = [
        each
        for each in PATTERNS
        if compiled(each, Dialect.ONIGURUMA) and not refused_by_oniguruma(each)
    ]
    assert len(found) > len(PATTERNS) / 3
    for pattern in found:
        assert_pieces_of_oniguruma(pattern, ("abc", "ab c\n"), TEXTS // 2, longest=12)


def test_the_matches_of_random_patterns_are_those_of_fancy_regex() -> None:
    found = [each for each in PATTERNS if compiled(each, Dialect.FANCY_REGEX)]
    assert len(found) > len(PATTERNS) / 4
    compared = 0
    for pattern in found:
        try:
            fancy_matched(pattern, ["a"])
        except ValueError:
            continue
        compared += 1
        assert_matches_of_fancy_regex(pattern, ("abc", "ab c\n"), TEXTS // 4, longest=11)
    assert compared > len(found) / 2


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    ("pattern", "offset"),
    [
        *(
            (r"(a(?(1)b|c))", 2),
            (r"(?(1)b|c)(a)", 0),
            (r"(a)?(?(+1)b|c)", 4),
            (r"(a)?(?(2)b|c)(b)", 4),
            (r"(a)?(?(1+0)b|c)", 4),
        ),
        *(
            (r"(?<n>a)?(?(1)b|c)", 8),
            (r"(?<n>a)?(?(<m>)b|c)", 8),
            (r"(?:(?<n>a)|(?<n>b)|c)(?(<n>)b|c)", 21),
            (r"(a)?(?(1)\1|b)", 4),
        ),
        *(
            (r"(?:(a)?b?)*(?(1)b|c)", 10),
            (r"(?<=(a))(?(1)b|c)", 0),
            (r"(?>b*(?:(a)|c))(?(1)b|c)", 0),
            (r"(?>(?:(a)|c)+)(?(1)b|c)", 0),
        ),
        (
            r"(a)?(b)?(c)?(d)?(e)?(f)?(g)?" + "".join(f"(?({group})a|b)" for group in range(1, 8)),
            28,
        ),
    ],
)
def test_another_condition_is_refused_at_its_place(
    pattern: str, offset: int, dialect: Dialect
) -> None:
    with pytest.raises(UnsupportedError, match=f"a condition on a group at offset {offset} is not"):
        compile_split(Split(pattern, dialect=dialect))


@pytest.mark.parametrize(
    ("pattern", "offset"),
    [(r"(a)?(?(1)b)c", 4), (r"(?(a)b)c", 0), (r"(?:(a)?(?(1)b))+", 7), (r"(?:c|(a)?(?(1)b))\z", 9)],
)
def test_what_oniguruma_takes_for_nothing_is_refused(pattern: str, offset: int) -> None:
    with pytest.raises(UnsupportedError, match=f"a condition on a group at offset {offset} is not"):
        compile_split(Split(pattern))


@pytest.mark.parametrize("pattern", IN_ATOMIC_GROUPS)
def test_a_conditional_of_fancy_regex_in_an_atomic_group_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a condition on a group"):
        compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))


@pytest.mark.parametrize(
    "pattern", [r"(a+)?b(?(1)b|c)", r"((?:a){2})?+b(?(1)b|c)", r"(?:(?i)(a*?))*b(?(1)b|c)"]
)
def test_a_repeat_in_a_repeated_group_of_fancy_regex_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a condition on a group at"):
        compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
