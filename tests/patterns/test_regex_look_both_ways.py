"""A pattern may ask about all that follows and all that stands before, one inside the other too:
the pieces are those of the engines.
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

TEXTS = 3000 if SLOW else 150
RANDOM_PATTERNS = 1500 if SLOW else 30
ALPHABETS = ("abc", "the ab", "fobarz", "abcde", "12ab \n", "xyab")

BOTH_WAYS = [
    *(
        "(?<=ab)t(?=he)",
        "(?<!foo)bar(?!baz)",
        "(?<=ab)c(?=de)",
        r"(?<!\d\d)\d{1,3}(?=(?:\d{3})*\b)",
        "(?<!ab).(?!ab)",
    ),
    *(
        r"(?<=\A\d*)a|b(?=\d*$)",
        r"\s+(?!\s*x)|(?<=\n\s)\S+|\w",
        "(?<=a.*)b+(?=.*c)",
        "(?<!b+a)[ab](?!a+b)",
        "a(?=bc)b(?<=xab)",
    ),
    *(
        "(?:bc)++(?<!abc)",
        "(?:ab)++a(?<=xaba)",
        "a(?:ba)*+(?<!bba)|b",
        "(?<=ba)(?:ab)*+[^c]",
        "(?:(?<=ab)c|a(?=bc)|b)+",
    ),
    *(r"(?i)(?<=ab)C(?=DE)|(?<!xy)\p{L}+(?!\w*1)| ?\d{1,3}(?=(?:\d{3})*\b)|\s+(?!\S)|\s+",),
]
BEHIND_INSIDE_AHEAD = [
    *(
        "(?=a(?<!bc|d)a)a",
        "(?=a(?<!bca)a)a",
        "[ab](?=b*c(?<=abbc))",
        "a(?!.*(?<=ab)c)|b",
        "(?=(?<=a.*)b.*c).",
        "x?(?=(?<!x.)a+b)a",
    ),
    *(
        "(?=a*(?<!ba)b)a|(?<=ab)b",
        "(?=b(?!a*(?<=ba)c)).(?<=bb)",
        r"a(?=(?:b(?<!bbb))+c)",
        r"(?=.*(?<=^ab|bc)\n)b",
    ),
]
AHEAD_INSIDE_BEHIND = [
    *(
        "(?<!a(?=bc)b)d",
        "(?<=a(?=bc)b)c",
        "(?<=a(?!b.*c)b)[abc]",
        "(?<=(?=ab.*c)ab)b?c|a",
        "(?<!(?!ab|cd).b)c|b+",
    ),
    *(
        "(?<=b(?<=ab)(?=ab)a)b",
        "c(?<=a(?=bc|d)[bd]c)(?=ab)",
        r"(?<=a(?=b+$)b)b",
        "(?<=(?=ba)(?<!cb)b)a|c",
    ),
]
TO_AND_FRO = [
    *(
        "(?=a(?<=b(?=ac)a)c).",
        "(?<!a(?!b(?<!aab)c)).b|c",
        "c(?<=a(?=bc)bc)(?=a(?<=ca)b)|a",
        "(?=.(?<=a(?=bc).)b.*c).",
    ),
    *(
        "(?<=b(?=.(?<=a(?=bc+a).)).)b|c",
        "(?!a(?<!b(?!.*cc)a))[ab]|c+",
        "(?=a(?>b(?<=ab(?=ac))a*c|b))a|b",
    ),
]
EMPTY = ["(?<=ab)(?=ab)", "(?<!ab)(?!ab)", r"(?<=\d\d)(?=(?:\d{3})+\b)", "(?=ab(?<=cab))|b"]


def differing(pattern: str, program: SplitProgram, alphabet: str, seed: int) -> str | None:
    engine = Oniguruma(pattern)
    for text in random_texts(alphabet, TEXTS, longest=20, seed=seed):
        if [(start, end) for start, end, _ in find_pieces(program, text)] != engine.pieces(text):
            return text
    return None


def differing_from_fancy(
    pattern: str, program: SplitProgram, alphabet: str, seed: int
) -> str | None:
    texts = list(random_texts(alphabet, TEXTS // 3, longest=14, seed=seed))
    for text, matched in zip(texts, fancy_matched(pattern, texts), strict=True):
        if [text[start:end] for start, end in matches(program, text)] != matched:
            return text
    return None


@pytest.mark.parametrize("pattern", [*BOTH_WAYS, *BEHIND_INSIDE_AHEAD, *EMPTY])
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for alphabet in (alphabet_of(program), *ALPHABETS):
        assert differing(pattern, program, alphabet, 0) is None


@pytest.mark.parametrize(
    "pattern", [*BOTH_WAYS, *BEHIND_INSIDE_AHEAD, *AHEAD_INSIDE_BEHIND, *TO_AND_FRO]
)
def test_the_matches_are_those_of_fancy_regex(pattern: str) -> None:
    program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
    for alphabet in (alphabet_of(program), *ALPHABETS):
        assert differing_from_fancy(pattern, program, alphabet, 0) is None


def test_the_pass_whose_answers_the_other_asks_for_is_the_first() -> None:
    def directions(pattern: str) -> list[str]:
        program = compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
        return ["forward" if labelling.forward else "backward" for labelling in program.labellings]

    assert directions("(?=a(?<!bca)a)a") == ["forward", "backward"]
    assert directions("(?<!a(?=bc)b)d") == ["backward", "forward"]
    assert sorted(directions("(?<=ab)c(?=de)")) == ["backward", "forward"]


def test_a_pass_that_one_character_decides_after_all_is_left_out() -> None:
    def passes(pattern: str) -> list[bool]:
        return [labelling.forward for labelling in compile_split(Split(pattern)).labellings]

    assert passes("(?<=ba|a)c(?=bc|b)") == []
    assert passes("(?<=ba)c(?=bc|b)") == [True]
    assert passes("(?<=ba|a)c(?=bc)") == [False]
    assert passes("(?=a(?<!bc|d)a)a") == [False]
    assert len(passes("(?<=ba)c(?=bc)")) == 2


@pytest.mark.parametrize("pattern", TO_AND_FRO)
def test_what_asks_to_and_fro_takes_two_passes(pattern: str) -> None:
    assert len(compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX)).labellings) <= 2


@pytest.mark.parametrize("pattern", [*BOTH_WAYS, *BEHIND_INSIDE_AHEAD, *EMPTY])
def test_no_two_states_and_no_two_symbols_of_a_labelling_are_the_same(pattern: str) -> None:
    program = compile_split(Split(pattern))
    read = set(program.classes.tolist())
    for labelling in program.labellings:
        n_states, n_symbols = labelling.next.shape
        assert read == set(range(n_symbols))
        columns = [*zip(*labelling.next.tolist(), *labelling.labels.tolist(), strict=True)]
        assert len(set(columns)) == n_symbols
        block = [0] * n_states
        for _ in range(n_states):  # two states that write alike to any depth are the same
            rows = [
                (block[state], *labels, *(block[target] for target in targets))
                for state, (labels, targets) in enumerate(
                    zip(labelling.labels.tolist(), labelling.next.tolist(), strict=True)
                )
            ]
            numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
            block = [numbers[row] for row in rows]
        assert len(set(block)) == n_states > 1
        read = set(labelling.labels.flatten().tolist())
    assert read == set(range(program.n_classes))


@pytest.mark.parametrize("pattern", [*BOTH_WAYS, *BEHIND_INSIDE_AHEAD, *EMPTY])
def test_every_symbol_is_read_a_bounded_number_of_times(pattern: str) -> None:
    program = compile_split(Split(pattern))
    for run in ("a", "ab", "x", "\n", "12", "foo", "bc"):
        for end in ("", "b", "c", "bar"):
            text = run * (1500 // len(run)) + end
            steps, _ = steps_taken(program, text)
            assert steps <= 4 * (program.n_memo + 4) * len(text)


def body(r: random.Random, depth: int, inside: str) -> str:
    """A random body of a lookaround, with others inside: ``inside`` has the signs that may stand
    there.
    """
    kind = r.random()
    if depth == 0 or kind < 0.25:
        return r.choice(["a", "b", "c", "ab", "[ab]", "[^a]", ".", r"\w", r"\s", "ba"])
    if kind < 0.5:
        return "".join(body(r, depth - 1, inside) for _ in range(r.randint(2, 3)))
    if kind < 0.62:
        return f"(?:{body(r, depth - 1, inside)}|{body(r, depth - 1, inside)})"
    if kind < 0.72:
        return f"(?:{body(r, 0, inside)})" + r.choice(["?", "*", "+", "{2}", "??", "+?"])
    if kind < 0.76:
        return r.choice([r"\b", "^", "$", r"\B"])
    return look(r, r.choice(inside), depth - 1, inside)


def look(r: random.Random, way: str, depth: int, inside: str) -> str:
    """A random lookaround: '>' ahead, '<' after."""
    sign = ("?<" if way == "<" else "?") + r.choice("=!")
    return f"({sign}{body(r, depth, inside)}{body(r, 0, inside)})"


def random_pattern(r: random.Random, inside_ahead: str, inside_behind: str) -> str:
    looks = [
        look(r, ">", r.randint(0, 2), inside_ahead),
        look(r, "<", r.randint(0, 2), inside_behind),
    ]
    if r.random() < 0.3:
        del looks[r.randrange(2)]
    r.shuffle(looks)
    parts = [
        r.choice(["a", "[ab]", ".", "b+", "[abc]*?", "(?:ab)++"]),
        *looks,
        r.choice(["a", "b", "[^c]", "c*"]),
    ]
    r.shuffle(parts)
    return "".join(parts) + r.choice(
        ["", "|c", r"|\s+(?!\S)", "|[ab]+", "|" + look(r, "<", 1, "<") + "."]
    )


@pytest.mark.parametrize("seed", range(RANDOM_PATTERNS))
def test_random_patterns_are_those_of_oniguruma(seed: int) -> None:
    pattern = random_pattern(random.Random(seed), "<>", "<")
    try:
        Oniguruma(pattern)
    except Exception:  # it refuses a negative lookbehind in a positive one
        return
    program = compile_split(Split(pattern))
    for alphabet in ("abc", "ab c\n", "aabc B"):
        assert differing(pattern, program, alphabet, seed) is None, pattern


def refused_by_fancy(pattern: str) -> bool:
    """It knows no lookbehind over texts of different lengths where there is another lookaround in
    it.
    """
    try:
        fancy_matched(pattern, ["a"])
    except ValueError:
        return True
    return False


def compiled_or_refused(pattern: str) -> SplitProgram | None:
    """None where a match may hold nothing."""
    try:
        return compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
    except UnsupportedError as refused:
        if "a possible match of the empty string" in str(refused):
            return None
        raise


@pytest.mark.parametrize("seed", range(RANDOM_PATTERNS))
def test_random_patterns_are_those_of_fancy_regex(seed: int) -> None:
    r = random.Random(seed)
    pattern = random_pattern(r, *r.choice([("<>", "<"), (">", "<>"), ("<>", "<>")]))
    program = compiled_or_refused(pattern)
    if program is None or refused_by_fancy(pattern):
        return
    for alphabet in ("abc", "ab c\n", "aabc B"):
        assert differing_from_fancy(pattern, program, alphabet, seed) is None, pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "(?<=ab)1(?=ab)",
        "(?<=\u0120a)b(?!\u0120)",
        "(?<!Ã.*)a(?=.*Ã)",
        "(?=.(?<=Ã.).).",
        "(?<=Ã.).(?=Ã)",
    ],
)
def test_behind_byte_level_labellings_read_bytes(pattern: str) -> None:
    program = compile_split(Split(pattern, on_bytes=True))
    chain = pre_tokenizers.Sequence(
        [
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            pre_tokenizers.Split(Regex(pattern), "isolated"),
        ]
    )
    for text in random_texts("a b1é中", 300, longest=15):
        lengths = [len(piece) for piece, _ in chain.pre_tokenize_str(text)]
        assert [end - start for start, end, _ in find_pieces(program, text)] == lengths, text
