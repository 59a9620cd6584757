"""``inspect`` and ``diff`` show how tokens decode: surface forms, and the rules of the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from decoders import decode_only
from hypothesis import given
from hypothesis import strategies as st
from random_decoding import rules, tokens

from tokexport.cli.contents import Contents
from tokexport.file.layout import Tag
from tokexport.model import Decoding, FirstIs, StripChars, Token

LLAMA = Decoding(byte_fallback=True, edits=(StripChars(" ", 1),))
TOKENS = [Token(b"ing", first=b"##ing"), Token(b"a", fallback=True)]


@given(tokens, st.just(LLAMA) | rules)
def test_the_output_shows_the_written_rules(written: list[Token], decoding: Decoding) -> None:
    contents = Contents(decode_only(written, decoding))
    read = contents.tokens
    # Edits are a table in the file, which does not record the steps.
    is_table = contents.section(Tag.EDITS) is not None
    rules = contents.decoding
    assert (rules["edits"] is not None) == is_table
    assert rules["stripped"] == ([] if is_table or not decoding.edits else [" "])
    found = FirstIs(rules["first_is"])
    flags = rules["byte_fallback"], rules["fallback_by_character"]
    assert Decoding(*flags, found) == replace(decoding, edits=())
    assert [token.content for token in read if token] == [token.content for token in written]
    if contents.section(Tag.DECODER):
        assert [token.forms for token in read if token] == [token.forms for token in written]
        assert [token.fallback for token in read if token] == [token.fallback for token in written]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "one.bin"
    path.write_bytes(decode_only(TOKENS, LLAMA))
    return path


def test_the_rules_and_the_surface_forms_of_a_token_are_shown(path: Path, run: Any) -> None:
    assert 'byte fallback, stripped " "' in run("inspect", path).text
    shown = [line.split() for line in run("inspect", path, "--token", "0").text.splitlines()]
    assert ["first", '"##ing"'] in shown
    assert "fallback" in run("inspect", path, "--token", "1").text


def test_other_rules_and_surface_forms_differ(path: Path, tmp_path: Path, run: Any) -> None:
    other = tmp_path / "two.bin"
    other.write_bytes(decode_only([Token(b"ing"), Token(b"a")], Decoding(byte_fallback=True)))
    outcome = run("diff", path, other)
    assert outcome.code == 1
    shown = outcome.text
    assert 'id 0: "ing" (kind model, first "##ing") | "ing" (kind model)' in shown
    assert 'id 1: "a" (kind model, fallback) | "a" (kind model)' in shown
    rules = 'byte fallback, stripped " " | byte fallback'
    assert f"decoder: {rules}" in shown
