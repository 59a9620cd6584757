"""The table of edits has the same effect on a text as its steps one after the other."""

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_decoding import edits, first_literals
from repository import SLOW

from tokexport.compiler.decoder.edits import MAX_STATES, compile_edits
from tokexport.compiler.tables import EditTable
from tokexport.errors import UnsupportedError
from tokexport.model import ParseByteToken, ReplaceLiteral, StripChars, StripWhiteSpace, TextEdit

BYTE_TOKEN = re.compile(r"<0x(\+[0-9a-fA-F]|[0-9a-fA-F]{2})>")
PRODUCES_NAMES: list[TextEdit] = [ReplaceLiteral("a", ""), ParseByteToken()]
NAMES = compile_edits(PRODUCES_NAMES)


def edited(text: str, steps: Sequence[TextEdit]) -> str:
    for step in steps:
        if isinstance(step, StripChars):
            for _ in range(step.count):
                text = text.removeprefix(step.character)
        elif isinstance(step, StripWhiteSpace):
            text = text.lstrip().removesuffix(" ")
        elif isinstance(step, ReplaceLiteral):
            text = text.replace(step.pattern, step.content)
        elif BYTE_TOKEN.fullmatch(text):
            value = int(text[3:5], 16)
            text = chr(value) if value < 0x80 else "\ufffd"
    return text


def run(table: EditTable, *parts: bytes) -> str:
    """The edited text of tokens; the class of tokens, if any, precedes each but the first."""
    state, written = 0, b""
    for number, part in enumerate(parts):
        symbols = [(int(table.classes[byte]), bytes([byte])) for byte in part]
        if number and table.reads_tokens:
            symbols.insert(0, (len(table.steps[0]) - 1, b""))
        for symbol, byte in symbols:
            text, state, keeps = table.steps[state][symbol]
            written += text + byte * keeps
    return (written + table.ends[state]).decode()


texts = st.lists(
    st.sampled_from(["a", "aa", "▁", "b", "é", " ", "🙂", "\ufffd", "#", "x", "中", "¹", "\u2580"])
    | st.sampled_from(["<0x41>", "<0x+F>", "<0xé", "<0xE9>", "A"]),
    max_size=16,
).map("".join)


@settings(max_examples=3000 if SLOW else 150)
@given(edits, st.lists(texts, min_size=1, max_size=10))
def test_the_table_edits_like_its_steps(steps: list[TextEdit], samples: list[str]) -> None:
    table = compile_edits(steps)
    for text in samples:
        assert run(table, text.encode()) == edited(text, steps)


@settings(max_examples=1000 if SLOW else 150)
@given(first_literals, edits, st.lists(texts, min_size=1, max_size=4))
def test_an_edit_of_the_first_run_knows_where_it_ends(
    first: ReplaceLiteral, steps: list[TextEdit], parts: list[str]
) -> None:
    assert first.in_first_run is not None
    in_first = 1 + first.is_in_first_token
    joined = "".join(part.replace(first.pattern, first.in_first_run) for part in parts[:in_first])
    joined += "".join(part.replace(first.pattern, first.content) for part in parts[in_first:])
    table = compile_edits([first, *steps])
    assert run(table, *(part.encode() for part in parts)) == edited(joined, steps)


def test_one_pattern_is_replaced_as_in_python() -> None:
    table = compile_edits([ReplaceLiteral("abab", "x")])
    for letters in itertools.product("abc", repeat=9):
        text = "".join(letters)
        assert run(table, text.encode()) == text.replace("abab", "x")


@given(st.lists(texts, min_size=1, max_size=10))
def test_another_step_may_produce_the_name_of_a_byte(samples: list[str]) -> None:
    for text in samples:
        assert run(NAMES, text.encode()) == edited(text, PRODUCES_NAMES)


def test_every_name_of_a_byte_is_parsed() -> None:
    table = compile_edits([ParseByteToken()])
    for value in range(256):
        name = f"<0x{value:02X}>"
        assert run(table, name.encode()) == (chr(value) if value < 0x80 else "\ufffd")
        assert run(table, name.encode() + b"a") == name + "a"


def test_all_white_space_of_python_is_dropped_at_the_start_and_one_space_at_the_end() -> None:
    table = compile_edits([ReplaceLiteral("</w>", " "), StripWhiteSpace()])
    for code in (*range(0x3100), 0xFEFF, 0x1F642):
        text = chr(code)
        assert run(table, (text * 2).encode()) == (text * 2).strip()
        for around in (f" {text}a", f"a {text}b", f"a{text}b  ", f"{text}</w>", f"{text}a</w>"):
            wanted = around.replace("</w>", " ").lstrip().removesuffix(" ")
            assert run(table, around.encode()) == wanted


def test_a_row_with_too_many_states_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"more than 4,096 states") as caught:
        compile_edits([StripChars("a", MAX_STATES, "here")])
    assert caught.value.path == "here"
