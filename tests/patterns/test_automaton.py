"""The tables themselves: deterministic, minimal, and read in linear time."""

import hashlib
import time
from collections.abc import Callable

import numpy as np
import pytest
from regex_oracle import Oniguruma, assert_parts_after_byte_level, random_texts, steps_taken
from regex_patterns import TIKTOKEN, TOKENIZER_JSON
from repository import called

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.model import Dialect, Split
from tokexport.patterns import MATCH_ENDS, SplitProgram, fancy, oniguruma
from tokexport.patterns.tree import Characters, Node, nodes_of

PATTERNS = {**TOKENIZER_JSON, **TIKTOKEN}
# White space before a letter is scanned without a match from each character, or each 512th.
WITH_MEMO = {"deepseek-llm #2", "llama.cpp jais2 #1", "llama.cpp jais2 #2"}


def compiled(name: str) -> SplitProgram:
    dialect = Dialect.FANCY_REGEX if name in TIKTOKEN else Dialect.ONIGURUMA
    return compile_split(Split(PATTERNS[name], dialect=dialect))


@pytest.fixture(scope="module", params=PATTERNS)
def named(request: pytest.FixtureRequest) -> tuple[str, SplitProgram]:
    return request.param, compiled(request.param)


def digest() -> str:
    sha256 = hashlib.sha256()
    names = ("phi-4, llama3", "llama.cpp minimax-m2", "deepseek-v3 #4", "kimi-k2")
    for name in (*names, "tiktoken 0.14.0 cl100k_base"):
        program = compiled(name)
        for table in (program.classes.array(), program.transitions, program.starts):
            sha256.update(table.tobytes())
    return sha256.hexdigest()


def test_the_tables_do_not_depend_on_the_hash_seed() -> None:
    expected = digest()
    for seed in ("0", "1", "4242"):
        assert called(__file__, "digest()", PYTHONHASHSEED=seed) == expected


def test_only_patterns_that_reread_in_vain_have_a_memo(named: tuple[str, SplitProgram]) -> None:
    name, program = named
    assert (program.n_memo > 0) == (name in WITH_MEMO)


def test_no_published_pattern_reads_a_character_many_times(named: tuple[str, SplitProgram]) -> None:
    name, program = named
    limit, length = (520, 3000) if "jais2" in name else (6, 500)
    for run in (
        *("a", "A", " ", "1", "中", "\n", "'", "!", "a ", "\n ", " \n", "Aa", "é\u0301", "'s"),
        *("a1", "\t\r\n"),
    ):
        for start, end in (("", ""), ("", "x"), ("\n", "x"), ("", "\n"), ("", "'x"), (" ", "!")):
            text = start + run * (length // len(run)) + end
            assert steps_taken(program, text)[0] <= limit * len(text)


@pytest.mark.parametrize(
    "pattern",
    ["[a-z]+!|[a-z]", r"\s+$", r"a+b|a+c|a", "(?:ab)+c|ab|.", r"[ab]*a[ab]{3}c|[ab]", r"x*\b!|x"],
)
def test_a_quadratic_pattern_is_linear_with_a_memo(pattern: str) -> None:
    program = compile_split(Split(pattern))
    assert program.n_memo > 0
    engine = Oniguruma(pattern)
    for run in ("a", "ab", " ", "x", "az", "  a"):
        text = run * (2000 // len(run)) + "-"
        steps, spans = steps_taken(program, text)
        assert steps <= 4 * (program.n_memo + 4) * len(text)
        assert spans == engine.matches(text)
    for text in random_texts("ab cxz!-", 300, longest=12):
        assert steps_taken(program, text)[1] == engine.matches(text)


@pytest.mark.parametrize(
    ("pattern", "n_memo"), [("[a-z]{4000}!|[a-z]", 0), ("(?:[a-z]{2000})+!|[a-z]", 2000)]
)
def test_thousands_of_states_are_compiled_in_seconds(pattern: str, n_memo: int) -> None:
    begin = time.process_time()
    assert compile_split(Split(pattern)).n_memo == n_memo
    assert time.process_time() - begin < 60  # 5 s and 2 s when this was written; before, 10 min


@pytest.mark.parametrize("parse", [oniguruma.parse, fancy.parse])
def test_the_set_of_a_character_is_made_once(parse: Callable[[str], Node]) -> None:
    nodes = [node for node in nodes_of(parse(r"abab|\x61b")) if isinstance(node, Characters)]
    assert (len(nodes), len({*map(id, nodes)})) == (6, 2)  # a set takes a megabyte


@pytest.mark.parametrize("named", [*TOKENIZER_JSON][:20], indirect=True)
def test_all_states_and_all_classes_differ(named: tuple[str, SplitProgram]) -> None:
    _, program = named
    rows = {tuple(row) for row in program.transitions.tolist()}
    columns = {
        tuple(column)
        for column in np.vstack([program.transitions, program.starts[None]])[:, :-1].T.tolist()
    }
    assert len(rows) == len(program.transitions)
    assert len(columns) == program.n_classes
    assert set(np.unique(program.classes.array())) == set(range(program.n_classes))
    assert not program.transitions[0].any()
    assert not (program.transitions[:, -1] & ~np.uint16(MATCH_ENDS)).any()


def test_without_lookbehind_there_is_one_start_state() -> None:
    assert len(set(compile_split(Split(TIKTOKEN["whisper-tiktoken"])).starts.tolist())) == 1
    assert len(set(compile_split(Split(r"(?<!a)b|c\B")).starts.tolist())) == 2


def test_surrogates_need_no_class() -> None:
    program = compile_split(Split(r"[^\p{L}]+"))
    assert program.n_classes == 2
    assert len(set(program.classes.array()[0xD7FF:0xE000].tolist())) == 1


@pytest.mark.parametrize(
    "pattern",
    [r"[0-9][0-9][0-9]", r"\p{N}+|\p{L}", "[^\x00-\x7f]+", r"\u0120?[A-Za-z]+(?!\S)", "."],
)
def test_after_byte_level_a_program_reads_bytes(pattern: str) -> None:
    assert compile_split(Split(pattern, on_bytes=True)).classes.size == 256
    assert_parts_after_byte_level(pattern, "aZ 019\n\x7f\xa0\xadéß中४\U0001f600", longest=12)
