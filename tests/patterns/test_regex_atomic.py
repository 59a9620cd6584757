"""An atomic group keeps what it finds first, however far ahead that is decided: the pieces are
those of the engines, in linear time.
"""

from __future__ import annotations

import random

import pytest
from regex_oracle import assert_matches_of_fancy_regex, assert_pieces_of_oniguruma, steps_taken
from repository import SLOW

from tokexport.model import Split
from tokexport.patterns import compile_split

TEXTS = 3000 if SLOW else 100

GROUPS = [
    *(
        "a|(?:bc)++d",
        "a|b(?>cd*e|c)",
        "(?:ab)++",
        "(?:ab)++a",
        "(?>ab|a)b",
        "(?>a|ab)b|b",
        "(?>a+b|a)a*",
        "(?>(?:ab)+c|a)b",
    ),
    *(
        "(?:ab|ba)*+a|b",
        r"(?>\d{3})++|\d",
        r"(?>a.*b|a)c",
        "(?>abc|ab|a)+",
        "(?:(?>ab+c|a)|b)+",
        "(?=(?:ab)++c)a",
    ),
    *(
        "(?!(?>ab+c|a)b)[abc]",
        "(?>ab?c?)+",
        "(?>a*?b|a)",
        r"\b(?>ab c|a)\b",
        r"(?>\s+a|\s)",
        "(?>(?i:ss)x|s)",
        "(?>ab|)a|b",
    ),
]
LOOKING_FAR = [
    *(
        "(?>a(?!bc))",
        "a(?>b(?=cd)|e)|b",
        "(?:a(?!b*c))++",
        "(?>a(?<!ba))b",
        "(?>a(?>bc*d|b)e|a)",
        "(?>a(?<!ba)b*c|a)",
    ),
    *(
        "(?<!ba)(?>a(?<!ba|ca)b*c|a)",
        "(?>(?:a(?=ab)|b(?!ba)){2}|a)",
        "(?:(?!bc)[abc]){1,3}+a",
        "(?>a+(?=ab|c$)|b)c?|a",
    ),
    *("(?>(?=ab)a|(?<=ab)[bc])+", r"(?>\d{1,3}(?=(?:\d{3})*(?!\d)))", "(?=(?>a(?=bc)|ab)b)a"),
    *(
        "(?>a(?=bc)(?>b(?!cc)|bc)|ab)c",
        "(?>|a(?=b+c))b",
        "(?:a(?=b(?:ab)++c)|b)++",
        r"(?>a\b(?! b)|a )+",
    ),
]
ALPHABETS = ("abc", "ab c\n", "aab", "abcde", "ab123 ", "sSßx")


def random_group(r: random.Random) -> str:
    def body(depth: int) -> str:
        kind = r.random()
        if depth == 0 or kind < 0.3:
            return r.choice(["a", "b", "c", "ab", "[ab]", ".", "abc", "ba"])
        if kind < 0.5:
            return body(depth - 1) + body(depth - 1)
        if kind < 0.7:
            return f"(?:{body(depth - 1)}|{body(depth - 1)})"
        if kind < 0.85:
            return f"(?:{body(0)})" + r.choice(["?", "*", "+", "{2}", "??", "+?"])
        return r.choice(
            [r"\b", "$", "^", "(?=b)", "(?!a)", "(?=bc)", "(?!a+b)", "(?<=ab)", "(?<!b.)"]
        )

    group = (
        f"(?>{body(2)}|{body(1)})"
        if r.random() < 0.7
        else f"(?:{r.choice(['a', ''])}b|{body(0)})++"
    )
    return (
        r.choice(["", "a", "[ab]*"])
        + group
        + r.choice(["", "a", "b", ".", "[bc]+"])
        + r.choice(["", "|a", "|.", "|ab"])
    )


RANDOM = [random_group(random.Random(seed)) for seed in range(1000 if SLOW else 50)]


@pytest.mark.parametrize("pattern", [*GROUPS, *LOOKING_FAR, *RANDOM])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=18)


@pytest.mark.parametrize("pattern", [*GROUPS, *LOOKING_FAR])
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS // 3, longest=12)


@pytest.mark.parametrize("pattern", [*GROUPS, *LOOKING_FAR])
def test_every_symbol_is_read_a_bounded_number_of_times(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for run in ("a", "ab", "abc", "bc", "1", " ", "s"):
        for end in ("", "a", "c", "d"):
            text = run * (1500 // len(run)) + end
            steps, _ = steps_taken(program, text)
            assert steps <= 4 * (program.n_memo + 4) * len(text)


def test_where_one_character_decides_no_pass_over_the_text_is_needed() -> None:
    for pattern in ("a++b", "(?>ab|ac)", r"(?>\r\n|\r)x", "(?>a|ab)b"):
        assert not compile_split(Split(pattern)).labellings
    assert len(compile_split(Split("(?:ab)++a")).labellings) == 1
