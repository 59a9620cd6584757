"""The table of edits does to a text what its steps do to it one after the other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_decoding import edits, runs
from repository import SLOW

from tokexport.compiler.decoder.edits import EditTable, compile_edits
from tokexport.errors import UnsupportedError
from tokexport.model import (
    Begun,
    Matching,
    Prefixed,
    Replacing,
    RunEdit,
    RunEdits,
    Split,
    TextEdit,
    Trimmed,
)


def edited(text: str, steps: Sequence[RunEdit]) -> str:
    for step in steps:
        if isinstance(step, Trimmed):
            text = trimmed(text, step)
        elif isinstance(step, Prefixed):
            text = text and step.prefix + text
        elif isinstance(step, Begun):
            text = (
                text[len(step.prefix) :] if text.startswith(step.prefix) else step.otherwise + text
            )
        elif isinstance(step, Matching):
            assert isinstance(step.split.pattern, str)
            text = re.sub(step.split.pattern, step.content, text)
        else:
            text = replaced(text, dict(step.rules))
    return text


def trimmed(text: str, step: Trimmed) -> str:
    for _ in range(step.count):
        text = (
            text.removesuffix(step.character) if step.at_end else text.removeprefix(step.character)
        )
    return text


def replaced(text: str, rules: dict[str, str]) -> str:
    at, written = 0, ""
    while at < len(text):
        found = max(
            (pattern for pattern in rules if text.startswith(pattern, at)), key=len, default=None
        )
        written += text[at] if found is None else rules[found]
        at += 1 if found is None else len(found)
    return written


def run(table: EditTable, text: bytes) -> bytes:
    return run_parts(table, [(None, text)])


def run_parts(table: EditTable, parts: Sequence[tuple[bool | None, bytes]]) -> bytes:
    """Texts, and whether they are those of runs; None: there is no edge."""
    state, written = 0, b""
    for is_run, text in parts:
        edges = [] if is_run is None else [(len(table.next[0]) - 1 - is_run, b"")]
        for symbol, byte in [*edges, *((int(table.classes[byte]), bytes([byte])) for byte in text)]:
            written += table.written[state][symbol] + byte * table.keeps[state][symbol]
            state = table.next[state][symbol]
    return written + table.ends[state]


texts = st.lists(
    st.sampled_from(["a", "aa", "▁", "b", "é", " ", "🙂", "\ufffd", "#", "x", "中", "¹", "\u2580"]),
    max_size=24,
)


@settings(max_examples=3000 if SLOW else 80, deadline=None)
@given(edits, st.lists(texts.map("".join), min_size=1, max_size=10))
def test_the_table_does_what_its_steps_do(steps: list[TextEdit], some: list[str]) -> None:
    table = compile_edits(tuple(steps))
    for text in some:
        assert run(table, text.encode()).decode() == edited(text, steps)


@settings(max_examples=150 if SLOW else 60, deadline=None)
@given(
    runs, st.just([]) | edits, st.lists(st.tuples(st.booleans(), texts.map("".join)), max_size=5)
)
def test_the_edits_of_runs_are_done_to_each_run_by_itself(
    runs: RunEdits, steps: list[TextEdit], parts: list[tuple[bool, str]]
) -> None:
    try:
        table = compile_edits(tuple(steps), runs)
    except UnsupportedError as error:
        if "so many states" not in error.problem:
            raise
        return
    assert table.edges
    joined = "".join(
        edited(text, runs.others if number else runs.first) if is_run else text
        for number, (is_run, text) in enumerate(parts)
    )
    given = [(is_run, text.encode()) for is_run, text in parts]
    assert run_parts(table, given).decode() == edited(joined, steps)


# Lookaround over several characters.
FAR = (
    "a(?=bc)",
    "(?<=ab)c+",
    "(?<!ab)c(?=ab)",
    "a(?=bc|cb)|c(?!aab)",
    "(?<=ba)b?(?=ca)c",
    "b(?=ca$)",
    "(?<!ca)a(?!ab)",
)


@pytest.mark.parametrize(
    "pattern",
    ["ab", "a+", "(?:ab)+", "ab|abca|c", "aa?b", "(?<=b)a", "b(?=c)", r"\Aa|ca", "[ab]{2}", *FAR],
)
def test_matches_are_replaced_as_python_replaces_them(pattern: str) -> None:
    table = compile_edits((Matching(Split(pattern), "x"),))
    for number in range(3**8):
        text = "".join("abc"[number // 3**place % 3] for place in range(8))
        assert run(table, text.encode()).decode() == re.sub(pattern, "x", text)


@pytest.mark.parametrize(
    "pattern",
    ["(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "[\U00010900-\U00010fff\u0660-\u0669]x?"],
)
def test_thousands_of_characters_may_be_told_apart(pattern: str) -> None:
    table = compile_edits((Matching(Split(pattern), "-"),))
    some = [chr(point) for point in range(0x7FF, 0x11100, 31) if not 0xD800 <= point < 0xE000]
    edges = [
        chr(ord(edge) + step)
        for edge in "\u0660\u0669\u4e00\u9fff\U00010900\U00010fff"
        for step in (-1, 0, 1)
    ]
    for text in ("".join(some), " ".join(some), "x ".join(reversed(edges)), " ".join(edges)):
        assert run(table, text.encode()).decode() == re.sub(pattern, "-", text)


@pytest.mark.parametrize("pattern", [r"\w(?!\S)", ".b", r"\w-", r"(?<!a)\w\S(?=é)", "[^-]{2}中|a"])
def test_characters_of_few_may_be_held_back(pattern: str) -> None:
    among = "ab- é中"
    table = compile_edits((Matching(Split(pattern), "x", frozenset(among)),))
    for length in range(6):
        for letters in itertools.product(among, repeat=length):
            text = "".join(letters)
            assert run(table, text.encode()).decode() == re.sub(pattern, "x", text)


def test_what_is_read_of_any_characters_is_the_same_for_few() -> None:
    edits = (Matching(Split("[a-c]+"), "x"),)
    few = (replace(edits[0], among=frozenset("ab")),)
    assert compile_edits(few).next == compile_edits(edits).next


def test_one_pattern_is_replaced_as_python_replaces_it() -> None:
    table = compile_edits((Replacing((("abab", "x"),)),))
    for number in range(3**9):
        text = "".join("abc"[number // 3**place % 3] for place in range(9))
        assert run(table, text.encode()).decode() == text.replace("abab", "x")


def test_the_longest_pattern_is_taken_and_what_follows_is_read_again() -> None:
    rules = (("a", "1"), ("abcd", "2"), ("bc", "3"), ("cd", "4"))
    assert run(compile_edits((Replacing(rules),)), b"abcabcdcdabc") == b"13241" + b"3"


def test_a_row_with_too_many_states_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="so many states"):
        compile_edits(tuple(Trimmed(character, 64, at_end=True) for character in "abc"))
