"""A lookbehind may ask about all that stands before: the pieces are those of the engines, in
linear time.
"""

from __future__ import annotations

import random

import pytest
from regex_oracle import (
    Oniguruma,
    alphabet_of,
    fancy_matched,
    find_pieces,
    matches,
    random_texts,
    steps_taken,
)
from repository import SLOW
from tokenizers import Regex, pre_tokenizers

from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import SplitProgram, compile_split

TEXTS = 5000 if SLOW else 150
RANDOM_PATTERNS = 2000 if SLOW else 60
ALPHABETS = ("abc", "ab c\n", "aabx1", "foobar ", "123 ", "\n a")

LOOKING_BEHIND = [
    *(
        "(?<=ab)t",
        "(?<!foo)bar",
        "(?<=a|bc)d",
        "(?<=a+b)c",
        "(?<!a+b)c",
        "(?<=a{2,3}b)c",
        "(?<=(?<=x)ab)c",
        "(?<=(a)b)c",
    ),
    *(
        r"(?<=ab$)\n",
        r"(?<=^ab)c",
        r"(?<=\bab)c",
        r"(?<=ab\b).",
        r"(?<=\Aab)c",
        r"(?<=\A|\n\n)a",
        r"(?<!a\n)\n",
        "(?<=a{3})b+(?<!b{3})|a",
    ),
    *(
        r"(?<=a(?:ba)*x)c",
        "(?<=a.*b)c",
        r"(?<!\n.*)a",
        "(?<=a??bb)c",
        r"\s+(?<=\n\s)\S",
        r"(?<=x.*)a(?<=(?:aa)+)",
    ),
    *(
        "(?<=(?>ab|cb|ba)c)b",
        "(?<!a(?>bc|.a))b",
        "(?<=(?>a|[ab])b(?>a(?>b|c)){2})a",
        r"a*(?<=\b(?>aa|a.))[ab]",
    ),
    *("[ab]+(?<!ab)", r"(?<=\d\d)\d(?=\d)", "(?:(?<=ab)c|a|b)+", r"(?i)(?<=ab)c"),
]
EMPTY = ["(?<=ab)", "(?<!ab)", "(?<=ab)|c", r"(?<=\A\d(?:\d{3})*)"]


def differing(pattern: str, program: SplitProgram, alphabet: str, seed: int) -> str | None:
    engine = Oniguruma(pattern)
    for text in random_texts(alphabet, TEXTS, longest=20, seed=seed):
        if [(start, end) for start, end, _ in find_pieces(program, text)] != engine.pieces(text):
            return text
    return None


@pytest.mark.parametrize("pattern", [*LOOKING_BEHIND, *EMPTY])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    program = compile_split(Split(pattern))
    assert [labelling.forward for labelling in program.labellings] == [True]
    for alphabet in (alphabet_of(program), *ALPHABETS):
        assert differing(pattern, program, alphabet, 0) is None


@pytest.mark.parametrize(
    "pattern", [*LOOKING_BEHIND, "(?<=a(?=b)b)c", "(?<=a(?!c).)c", "(?m)(?<=^ab)c"]
)
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
    for alphabet in (alphabet_of(program), *ALPHABETS):
        texts = list(random_texts(alphabet, TEXTS // 3, longest=14))
        for text, matched in zip(texts, fancy_matched(pattern, texts), strict=True):
            assert [text[start:end] for start, end in matches(program, text)] == matched, text


@pytest.mark.parametrize(
    "pattern", ["ss", "ß", "[ß]", "[a-zß]", "[^a]s", "x|ss", "(?:s)(?:s)", "ﬆ", "s", "st"]
)
@pytest.mark.parametrize("sign", "=!")
def test_inside_a_look_behind_characters_fold_one_by_one(pattern: str, sign: str) -> None:
    for whole in (
        f"(?i)(?<{sign}{pattern})c",
        f"(?<{sign}(?i:{pattern}))c|s",
        f"(?i)ss(?<{sign}{pattern}.)",
    ):
        program = compile_split(Split(whole))
        assert differing(whole, program, "ßẞsSſcCtTﬆﬅ x", 0) is None


@pytest.mark.parametrize(
    "pattern", ["(?<=a*+a)b", "(?<!(?>a?)a)b", "(?<=(?>ab|a)b)c", "(?<=(?>ab?))b", "(?<=a++)b"]
)
def test_an_atomic_group_whose_matches_are_of_many_lengths_is_refused_in_a_look_behind(
    pattern: str,
) -> None:
    with pytest.raises(UnsupportedError, match=r"that holds an atomic group .* at offset 0 is not"):
        compile_split(Split(pattern))


def body(r: random.Random, depth: int) -> str:
    """A random body of a lookbehind."""
    kind = r.random()
    if depth == 0 or kind < 0.3:
        return r.choice(["a", "b", "c", "ab", "[ab]", "[^a]", ".", r"\w", r"\s", r"\d", "ba"])
    if kind < 0.5:
        return "".join(body(r, depth - 1) for _ in range(r.randint(2, 3)))
    if kind < 0.65:
        return f"(?:{body(r, depth - 1)}|{body(r, depth - 1)})"
    if kind < 0.8:
        return f"(?:{body(r, 0)})" + r.choice(["?", "*", "+", "{2}", "{1,2}", "??", "+?"])
    if kind < 0.83:
        return r.choice(["(?>ab|ba)", "(?>a|[ab])", "(?>(?:a|b).)"])
    if kind < 0.87:
        return r.choice([r"\b", "^", "$", r"\B", r"\A"])
    return f"(?<={body(r, depth - 1)})" if kind < 0.93 else f"(?i:{body(r, depth - 1)})"


@pytest.mark.parametrize("seed", range(RANDOM_PATTERNS))
def test_random_look_behinds_are_those_of_oniguruma(seed: int) -> None:
    r = random.Random(seed)
    pattern = (
        r.choice(["", "[ab]+", "a*", "."])
        + f"(?<{r.choice('=!')}{body(r, 2)}|{body(r, 1)}{body(r, 1)})"
    )
    pattern += r.choice(["b", "[abc]+", ".", "", "(?!c).", r"|c|\s+(?!\S)"])
    program = compile_split(Split(pattern))
    for alphabet in ("abc", "ab c\n", "aabc1 B"):
        assert differing(pattern, program, alphabet, seed) is None, pattern


@pytest.mark.parametrize("pattern", [*LOOKING_BEHIND, *EMPTY])
def test_every_symbol_is_read_a_bounded_number_of_times(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for run in ("a", "ab", "x", "\n", "a\n", "12", "foo"):
        for end in ("", "b", "c", "bar"):
            text = run * (1500 // len(run)) + end
            steps, _ = steps_taken(program, text)
            assert steps <= 4 * (program.n_memo + 4) * len(text)


def test_a_look_behind_that_one_character_decides_after_all_costs_no_pass_over_the_text() -> None:
    assert not compile_split(Split("(?<=b*a)c")).labellings
    assert not compile_split(Split("(?<=ba|a)c")).labellings
    assert not compile_split(Split("(?<=(?:^|b|[^b])a)c")).labellings
    assert len(compile_split(Split("(?<=ba)c")).labellings) == 1


@pytest.mark.parametrize("pattern", [r"a\Z", r"\n\Z", r"\s+\Z|\s", r"\Z|b", r"(?!\Z)\n"])
def test_the_anchor_before_a_last_line_feed_looks_ahead(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for alphabet in ("a\n", "ab\r\n", "\n"):
        assert differing(pattern, program, alphabet, 0) is None
    if not program.may_be_empty:
        program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
        texts = list(random_texts("a\nb\r", TEXTS, longest=7))
        for text, matched in zip(texts, fancy_matched(pattern, texts), strict=True):
            assert [text[start:end] for start, end in matches(program, text)] == matched, text


def test_the_engine_refuses_the_last_anchor_in_a_look_behind_and_so_does_the_compiler() -> None:
    with pytest.raises(Exception, match="invalid pattern in lookbehind"):
        Oniguruma(r"(?<=a\Z)")
    with pytest.raises(UnsupportedError, match="that holds a lookahead"):
        compile_split(Split(r"(?<=a\Z)"))


@pytest.mark.parametrize("pattern", ["(?<=ab)1", "(?<=\u0120a)b", "(?<!Ã.*)a", "(?<=Ã.)."])
def test_behind_byte_level_a_labelling_reads_bytes(pattern: str) -> None:
    program = compile_split(Split(pattern, on_bytes=True))
    assert len(program.labellings) == 1
    chain = pre_tokenizers.Sequence(
        [
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            pre_tokenizers.Split(Regex(pattern), "isolated"),
        ]
    )
    for text in random_texts("a b1é中", 300, longest=15):
        lengths = [len(piece) for piece, _ in chain.pre_tokenize_str(text)]
        assert [end - start for start, end, _ in find_pieces(program, text)] == lengths, text
