r"""A match that is said to begin at \K keeps what the engines keep of it, and is lost to the next
match whole.
"""

from __future__ import annotations

import random

import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    find_pieces,
    matches,
    random_texts,
)
from repository import SLOW
from tokenizers import Regex, normalizers

from tokexport.errors import UnsupportedError
from tokexport.model import Behavior, Dialect, Split
from tokexport.patterns import compile_replace, compile_split

TEXTS = 2000 if SLOW else 24
ALPHABETS = ("abc", "ab c", "aab", "ab\nc1")

KEEPING = [
    *(
        r"a\Kb",
        r"(?:a|\Kb)c",
        r"a\Kb|ab*c",
        r"(?:a\Kb|a)c",
        r"a\Kb\Kc|b",
        r"(?:a\K|b)+c",
        r"a(?:\Kb|c)",
    ),
    *(
        r"\Ka+b?",
        r"a+?\Kb*c",
        r"(a\K)b",
        r"\s*\K\S+",
        r"\w+\K |\w",
        r"^\w\K\w+",
        r"(?:ab\Kc){1,2}",
        r"[ab]*\K[bc]+",
    ),
    *(
        r"a\Kb(?=a*c)",
        r"a(?!b+c)\Kb|b\Kc",
        r"(?>a+b|a)\Kc",
        r"(?:ab)++\Kc|a",
        r"(.)\K\1+",
        r"a\K(?:b|(?<=a)c)",
    ),
    *(
        r"(?<=ab)c\Kd|b",
        r"(?<=ab)c\Kb(?=ab)|a",
        r"a\Kb(?<!ca.)|c",
        r"(?:(?<!ab)c\K)?[abc]",
        r"(?=b(?<=ab)c)b\Kc",
    ),
]
IN_ATOMIC_GROUPS = [
    *(
        r"(?>a\K)b",
        r"(?>a\Kb|a)c",
        r"(?>ab*\K)[bc]",
        r"(?:a\K)++b",
        r"(?:a\Kb)*+c",
        r"(?:a\K)?+b",
        r"(?>(?:a\K)??)[ab]c",
    ),
    *(
        r"(?>ab|a\Kb*|c)c",
        r"(?>(?>a\K)b|a)[bc]",
        r"(?>(?:a\K|b)c?)b",
        r"(?>(?:ab|a\Kbc|b)+c?)[abc]",
        r"(?>\s+\K)\S+|\w",
    ),
    *(r"(?>a(?=bc)\Kb|a)b?c", r"(?>(?:a\Kb)?c|ab)c?", r"(?>[ab]*?c\K\w*+)\s"),
]
MAYBE_EMPTY = [
    r"a\K",
    r"\K",
    r"a\K|b",
    r"a\Kb*",
    r"(?:a\K)*",
    r"[ab]+\K(?=c)|c",
    r"a\K(?=b)b??",
    r"(?=a).\K|ab",
    r"b?\K(?!a)",
]


def random_body(r: random.Random, depth: int) -> str:
    kind = r.random()
    if not depth or kind < 0.3:
        simple = [
            "a",
            "b",
            "ab",
            "[ab]",
            "b*",
            "c??",
            r"\b",
            "(?=b)",
            "^",
            "(?<=a)",
            "(?!ab)",
            "(?<!ba)",
            ".",
            "(?>ab|a)",
            r"(?>a\K)",
            r"(?>b\Ka?|ab)",
        ]
        return r.choice([*simple, r"\K", r"\K"])
    if kind < 0.6:
        return random_body(r, depth - 1) + random_body(r, depth - 1)
    if kind < 0.8:
        return f"(?:{random_body(r, depth - 1)}|{random_body(r, depth - 1)})"
    return f"(?:{random_body(r, depth - 1)}b?)" + r.choice(
        ["?", "*", "+", "{2}", "{1,3}", "*?", "??"]
    )


def random_pattern(seed: int) -> str:
    r = random.Random(seed)
    return (
        random_body(r, 3)
        + r"\K"
        + random_body(r, 2)
        + r.choice(["", "a", "c", "|a", "|.", r"|a\Kb"])
    )


@pytest.mark.parametrize("pattern", [*KEEPING, *IN_ATOMIC_GROUPS, *MAYBE_EMPTY])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    for alphabet in ALPHABETS:
        for text in random_texts(alphabet, TEXTS * 4, longest=16):
            assert [(start, end) for start, end, _ in find_pieces(program, text)] == engine.pieces(
                text
            ), text
            assert matches(program, text) == engine.matches(text), text


@pytest.mark.parametrize("pattern", [*KEEPING, *IN_ATOMIC_GROUPS])
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    assert_matches_of_fancy_regex(pattern, ALPHABETS, TEXTS, longest=12)


def test_the_pieces_of_random_patterns_are_those_of_oniguruma() -> None:
    compared = 0
    for seed in range(1000 if SLOW else 24):
        pattern = random_pattern(seed)
        try:
            program = compile_split(Split(pattern))
        except UnsupportedError:
            continue
        engine = Oniguruma(pattern)
        compared += 1
        for text in random_texts("abc\n", TEXTS, longest=14, seed=seed):
            assert [(start, end) for start, end, _ in find_pieces(program, text)] == engine.pieces(
                text
            ), pattern
    assert compared > (500 if SLOW else 12)


@pytest.mark.parametrize("pattern", KEEPING)
def test_only_what_is_kept_is_replaced(pattern: str) -> None:
    program = compile_replace(Split(pattern), "-")
    replaced = normalizers.Replace(Regex(pattern), "-")
    for text in random_texts("abc ", TEXTS, longest=14):
        pieces = find_pieces(program, text)
        assert "".join(
            "-" if match else text[start:end] for start, end, match in pieces
        ) == replaced.normalize_str(text)


@pytest.mark.parametrize("pattern", MAYBE_EMPTY)
def test_nothing_is_put_where_a_match_keeps_nothing(pattern: str) -> None:
    assert compile_replace(Split(pattern), "").transitions.shape
    with pytest.raises(
        UnsupportedError, match=r"\\K and possibly no character after it at offset \d+ is not"
    ):
        compile_replace(Split(pattern), "-")


@pytest.mark.parametrize("behavior", [Behavior.MERGED_WITH_PREVIOUS, Behavior.MERGED_WITH_NEXT])
@pytest.mark.parametrize("pattern", MAYBE_EMPTY)
def test_nothing_is_merged_where_a_match_keeps_nothing(pattern: str, behavior: Behavior) -> None:
    with pytest.raises(
        UnsupportedError, match=r"\\K and possibly no character after it at offset \d+ is not"
    ):
        compile_split(Split(pattern, behavior))


@pytest.mark.parametrize("pattern", MAYBE_EMPTY)
def test_fancy_regex_must_keep_a_character(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="a possible match of the empty string"):
        compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
