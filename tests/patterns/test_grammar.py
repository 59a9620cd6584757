"""Random patterns that the compiler accepts match as in the engines."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, given, settings
from regex_oracle import Oniguruma, engine_matched, matches, spans_of, strings
from repository import SLOW

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split

EXAMPLES = 600 if SLOW else 100
PLAIN = "ab1 \nA'"
ESCAPES = r"\s \S \w \W \d \p{L} \p{Lu} \P{L} \h"
FOLDING = "sfiStkßﬁﬀʼnͅ"

one_of, sampled, tuples = st.one_of, st.sampled_from, st.tuples
joined = "".join


def bracket(characters: str) -> st.SearchStrategy[str]:
    item = one_of(
        sampled(characters.replace(" ", "").replace("'", "")),
        sampled(["a-z", "0-9", "A-b", r"\n-\r", "!-~", "-"]),
        sampled([*ESCAPES.split(), r"\p{^Ll}"]),
    )
    flat = tuples(sampled(["", "", "^"]), st.lists(item, min_size=1, max_size=3).map(joined)).map(
        joined
    )
    nested = st.recursive(
        flat,
        lambda inner: tuples(
            sampled(["", "^"]), item, sampled(["", "&&"]), inner.map("[{}]".format)
        ).map(joined),
        max_leaves=3,
    )
    return nested.map("[{}]".format)


def patterns(characters: str) -> st.SearchStrategy[str]:
    """Patterns that mostly consume at least one character."""
    character = sampled(characters)
    charset = one_of(sampled([".", r"\x{61}", *ESCAPES.split()]), bracket(characters))
    anchor = one_of(
        sampled(["^", "$", r"\b", r"\B", r"\A", r"\z"]),
        tuples(
            sampled(["(?=", "(?!", "(?<=", "(?<!"]),
            one_of(character, charset),
            sampled(["", "", "|$", "|\\n"]),
        ).map(lambda parts: joined(parts) + ")"),
    )
    quantifier = tuples(
        sampled(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{,2}", "{2,}", "{1}", "{0}"]),
        sampled(["", "", "", "?", "+"]),
    ).map(lambda parts: joined(parts) if parts[0] else "")

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        group = tuples(
            sampled(["(?:", "(", "(?:", "(?i:", "(?-i:", "(?i)(?:", "(?:(?i)"]), inner
        ).map(lambda parts: joined(parts) + ")")
        repeated = tuples(one_of(group, character, charset), quantifier).map(joined)
        look = tuples(sampled(["(?=", "(?!"]), inner).map(lambda parts: joined(parts) + ")")
        sequence = st.lists(one_of(repeated, repeated, anchor, look), min_size=1, max_size=3).map(
            joined
        )
        return st.lists(sequence, min_size=1, max_size=3).map("|".join)

    body = st.recursive(one_of(character, charset), larger, max_leaves=6)
    return tuples(body.map("(?:{})".format), one_of(character, st.just(""))).map(joined)


def texts(characters: str) -> st.SearchStrategy[list[str]]:
    runs = st.lists(sampled(characters), min_size=1, max_size=3).flatmap(
        lambda chosen: st.text(sampled(chosen), min_size=1, max_size=9)
    )
    return st.lists(
        one_of(runs, st.text(sampled(characters), min_size=1, max_size=9)), min_size=10, max_size=20
    )


def compared(pattern: str, dialect: Dialect, samples: list[str]) -> None:
    """Compares matches, and Oniguruma's cuts, if the compiler and the engine accept a pattern."""
    try:
        program = compile_split(Split(pattern, dialect=dialect))
    except UnsupportedError:
        assume(False)
    try:
        expected = engine_matched(pattern, dialect, samples)
        cuts = [*map(Oniguruma(pattern).parts, samples)] if dialect is Dialect.ONIGURUMA else None
    except BaseException as refusal:
        # Both libraries raise bare exceptions; Oniguruma panics if it gives up a search.
        if not re.search(
            r"Oniguruma error|[Ee]rror (at position|compiling)|retry-limit-in-match", str(refusal)
        ):
            raise
        assume(False)
    assert [strings(text, matches(program, text)) for text in samples] == expected
    assert cuts in (None, [spans_of(program, text) for text in samples])


quick = settings(
    max_examples=EXAMPLES, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


@pytest.mark.parametrize("dialect", Dialect)
@given(pattern=patterns(PLAIN), samples=texts(PLAIN + "\r_-\u0301é"))
@quick
def test_a_random_pattern_matches_like_its_engine(
    dialect: Dialect, pattern: str, samples: list[str]
) -> None:
    compared(pattern, dialect, samples)


@pytest.mark.parametrize("dialect", Dialect)
@given(pattern=patterns(FOLDING), samples=texts(FOLDING + "ﬆſ\u212aıİŉẞK"))
@quick
def test_a_random_case_insensitive_pattern_matches_like_its_engine(
    dialect: Dialect, pattern: str, samples: list[str]
) -> None:
    compared("(?i)" + pattern, dialect, samples)
