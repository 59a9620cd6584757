"""Lookaround, atomic groups, empty matches, references to a group of one character out of a few and
search anchors: matches and gaps equal those of the engines, in linear time.
"""

import random

import numpy as np
import pytest
from regex_oracle import (
    Oniguruma,
    assert_matches_of_fancy_regex,
    assert_parts_after_byte_level,
    assert_parts_of_oniguruma,
    find_parts,
    spans_of,
    steps_taken,
)
from regex_patterns import PUBLISHED, TRINITY, UNBOUNDED_LOOK_AHEAD
from repository import SLOW

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Split

DIGITS = UNBOUNDED_LOOK_AHEAD["llama.cpp tiny-aya"]
CUTS_BETWEEN_DIGITS = UNBOUNDED_LOOK_AHEAD["llama.cpp superbpe"]
UNBOUNDED = [
    *(DIGITS, r"\d{1,3}(?=(\d{3})*$)", r"[a-z]+|\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))|."),
    (
        r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|"
        r" ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ),
    *("a(?=bc)|b(?=c)|[cx]", "a(?!b*c)|b", "a(?!b*c|..)|.(?=a*b)", "a{2,3}?(?=(aa)*b)|b"),
    *(r"(?!aa)(?=a*\b)a|\d(?<=1)(?!\d*a)", r"\s+(?!\S)|\s+(?=\s*x)|\S+", "a(?=b(?<!c)c)|b"),
    *("[ab]*a[ab]{3}c|[ab](?=[ab]*c)", r"x(?=.*\bb)|a(?=.{5})|b", r"\d(?=(?>\d{3})*(?:\D|$))"),
    *("a+(?=a{3}b)|a(?=(?:a{5})+c)|[bc]", "a(?=b++c)|[ab](?=(?>[ab]{1,2})1)|b"),
]
BOUNDED = [
    *("(?<=a)b|(?<!b)a", r"(?<=^|1)[ab]|(?<![a1]|\b)x", "a(?=b|$)|(?!a)[ab]", r"(?<=\A)a|b(?=\z)"),
    *("a++b|b", "a?+ab|b", "x*+|a", "(?>a+?)b|a", "a{2}+a|b", "(?:a{1,3})+b|a", "(?>a{2,3})a|b"),
    *("(?>a+)(?=b)|a", "(?=a++b)a|b", "[ab]++1|[ab]", r"\s++$|\s+(?!\S)|\s", "(?>a)b|a"),
]
EMPTY = [
    *("a*", r"\b", "$", "^", "a|", r"\s*$", "(?=a)", "a??b?", "(?<=a)|b", r"x*\b!|x*"),
    *("(?:ab)?(?!a)", "(?=ab)|b", r"^|x(?=.*\bb)", "x?(?!.*x)y*", "(?=a|.{5})", "(?!.*1)"),
    *(CUTS_BETWEEN_DIGITS, "(?=1)1*2|(?=1)"),
]
GALACTICA = PUBLISHED["Galactica, Nougat"]
REFERENCES = [
    *(r"([ab])\1", r"([ab])\1*", r"([ab])\1+|c", r"([ab])c\1", r"([ab])([bc])\2\1"),
    *(r"(?:([ab])\1)+", r"(?:([ab])\1|c)+x?", r"([ab])\1{2}", r"([ab])\1??b"),
    *(r"([ab])(?!\1)", r"([ab])(?=\1)c?", r"([ab])(?=.*\1)", r"c|(?:x([ab])\1|b)"),
    GALACTICA,
]
CHUNKS, FIRST, GROUPS = list(TRINITY.values())[:3]
SEARCHES = [
    *(CHUNKS, FIRST, GROUPS),
    r"\p{Nd}{1,5}(?=(?>\p{Nd}{5})*(?:\P{Nd}|$))|\G\p{Nd}{5}",
    *(r"\G\d{3}|a", r"\Ga", r"(?:\Ga|b)c|\d", r"\G(?:a|1)|1b", r"b|\G\w|\s", r"a+|\G\b1"),
    *(r"(\Ga|b)1*", r"\G(?<!1)a|1", r"\G\p{Nd}{2}(?=\p{Nd}*a)|b", r"\G[ab]|1"),
]


def random_reference(r: random.Random) -> str:
    group = r.choice(["[ab]", "a", "[abc]", "[bc]"])
    middle = r.choice(["", "", "c", "c?", "[bc]*", "(?:a|c)", "(?=b)"])
    last = r.choice([r"\1", r"\1*", r"\1+?", r"\1?", r"(?!\1)", r"\1c|b", r"(?:\1|c)", r"(?:\1c)*"])
    body = f"({group}){middle}{last}"
    return (
        r.choice(["", "a", "x?", "(?:b|c)"])
        + r.choice([body, f"(?:{body})"])
        + r.choice(["", "c?", "|.", "|ab"])
    )


RANDOM = [random_reference(random.Random(seed)) for seed in range(400 if SLOW else 80)]
NOT_FANCY = [*EMPTY, "x*+|a"]  # fancy-regex refuses an empty match
# Patterns, alphabets of texts, how many of each, and the length of the longest.
KINDS: tuple[tuple[list[str], tuple[str, ...], int, int], ...] = (
    (
        [*UNBOUNDED, *BOUNDED, *EMPTY],
        ("ab1", "0123456789 ", "xab c1", "1a٣२½", "ac \n", "xy!"),
        100,
        30,
    ),
    ([*REFERENCES, *RANDOM], ("ab", "abc", "aabbc1", "!?!!.()x"), 200, 18),
    ([GALACTICA], ("!\"#$%&'*+,-./:;<=>?\\^_`|~()[]{}ab 1é",), 2000, 25),
    (SEARCHES, ("0123456789", "12a", "1234567890 ", "ab1", "1a٣2½ ", "\n1a b", "11111a"), 300, 25),
)
CASES = [(pattern, *how) for patterns, *how in KINDS for pattern in patterns]


@pytest.mark.parametrize(("pattern", "alphabets", "count", "longest"), CASES)
def test_the_matches_and_gaps_equal_those_of_oniguruma(
    pattern: str, alphabets: tuple[str, ...], count: int, longest: int
) -> None:
    assert compile_split(Split(pattern)).may_be_empty == (pattern in NOT_FANCY)
    assert_parts_of_oniguruma(pattern, alphabets, count * 20 if SLOW else count, longest)


@pytest.mark.parametrize(
    ("pattern", "alphabets", "count", "longest"),
    [case for case in CASES if case[0] not in (*NOT_FANCY, *RANDOM)],
)
def test_the_matches_equal_those_of_fancy_regex(
    pattern: str, alphabets: tuple[str, ...], count: int, longest: int
) -> None:
    how = (count * 20 if SLOW else count) // 3, min(longest, 16)
    assert_matches_of_fancy_regex(pattern, alphabets, *how)


@pytest.mark.parametrize("pattern", [DIGITS, CUTS_BETWEEN_DIGITS, CHUNKS, GROUPS])
def test_long_numbers_are_cut_as_by_oniguruma(pattern: str) -> None:
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    for length in (*range(1, 40), 300, *range(509, 513), 1001, 1019, 1020, 1021, 1532, 2041, 2999):
        number = "".join(random.Random(length).choices("0123456789", k=length))
        for around in ("|", "a|b", "a| ", " |b", "-|_", "|\u0661", "\u00bd|\u00bd", " |\u00bd"):
            text = around.replace("|", number)
            assert spans_of(program, text) == engine.parts(text), text
    if pattern in (DIGITS, CUTS_BETWEEN_DIGITS):
        digits = [end - start for start, end, _ in find_parts(program, "1" * 3001)]
        assert digits == [1, *[3] * 1000]


@pytest.mark.parametrize("pattern", [*UNBOUNDED, *EMPTY, *SEARCHES])
def test_every_symbol_is_read_a_bounded_number_of_times(pattern: str) -> None:
    program, engine = compile_split(Split(pattern)), Oniguruma(pattern)
    each = 4 * (program.n_memo + (512 if pattern == CHUNKS else 4))
    for run in ("1", "a", "ab", "x", " ", "  a", "12a", "c", "1a", "123 "):
        for end in ("", "b", "c", "!", " x"):
            for length in (150, 1500):
                text = run * (length // len(run)) + end
                steps, spans = steps_taken(program, text)
                assert steps <= each * len(text)
                if length == 150:
                    assert spans == engine.matches(text)


def test_only_a_pattern_with_a_search_anchor_has_start_states_for_it() -> None:
    assert compile_split(Split("a|b")).search_starts is None
    assert compile_split(Split(r"\Ga|b")).search_starts is not None


def test_a_pattern_that_reads_on_after_an_empty_match_has_a_memo() -> None:
    assert compile_split(Split("(?:a+!)?")).n_memo > 0
    assert compile_split(Split("(?:a+!)?|a+")).n_memo > 0
    assert compile_split(Split("a*")).n_memo == 0


@pytest.mark.parametrize("pattern", UNBOUNDED)
def test_all_states_and_all_classes_of_a_label_table_differ(pattern: str) -> None:
    program = compile_split(Split(pattern))
    table = program.labels
    if table is None:
        assert pattern == r"\s+(?!\S)|\s+(?=\s*x)|\S+"
        return
    n_states, n_classes = table.next.shape
    assert n_states > 1
    assert table.labels.shape == (n_states, n_classes)
    assert set(np.unique(program.classes.array())) == set(range(n_classes))
    assert set(np.unique(table.labels)) == set(range(program.n_classes))
    columns = np.concatenate([table.next, table.labels])
    assert len({column.tobytes() for column in columns.T}) == n_classes
    # States that behave alike to any depth are equal: refine a partition by their output.
    block = np.zeros(n_states, np.int64)
    for _ in range(n_states):
        rows = np.concatenate([block[:, None], table.labels, block[table.next]], axis=1)
        block = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    assert len(set(block.tolist())) == n_states


@pytest.mark.parametrize("pattern", ["a(?=b*)", "a(?=bc|b)", "a(?=b(?:c|[^c]|$))", *BOUNDED[:4]])
def test_lookaround_over_one_character_needs_no_additional_pass(pattern: str) -> None:
    assert compile_split(Split(pattern)).labels is None


@pytest.mark.parametrize(
    "pattern", [r"[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9]))", "\u0120+(?=\u0120[^\u0120]*1)", ".(?=Ã.+)"]
)
def test_after_byte_level_a_label_table_reads_bytes(pattern: str) -> None:
    assert compile_split(Split(pattern, on_bytes=True)).labels is not None
    assert_parts_after_byte_level(pattern, "a 0123456789é中", longest=15)
