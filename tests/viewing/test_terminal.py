"""tokexport encode --show: tokens are separated by colours on a terminal, by bars elsewhere."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise

import pytest
from command_line import PathOf, Run

import tokexport
from tokexport.viewing.terminal import shown
from tokexport.viewing.token_text import parts

TEXT = "Hello, world!\n\tint x;\r\n中文 é naïve 👩\u200d👩 \u200f<|endoftext|> a\\nb \x1b[31m"
PAINT = re.compile(r"\x1b\[38;5;(\d+);48;5;(\d+)m(.*?)\x1b\[0m", re.DOTALL)


def on_terminal(*arguments: object, **environment: str) -> str:
    """The output of a command to a terminal."""
    reader, terminal = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    subprocess.run(
        [sys.executable, "-m", "tokexport", *map(str, arguments)],
        stdout=terminal,
        env={**base, "TERM": "xterm-256color", **environment},
        check=True,
        cwd=os.environ.get("PYTHONPATH"),
    )
    os.close(terminal)
    read = b""
    with suppress(OSError):  # the end of a terminal's output, on Linux
        while part := os.read(reader, 1 << 16):
            read += part
    os.close(reader)
    return read.decode()


@pytest.mark.parametrize("name", ["gpt2", "llama3", "falcon", "unknown"])
def test_each_token_is_painted_once_in_another_colour_than_the_previous_one(
    name: str, small_file: PathOf
) -> None:
    tokenizer = tokexport.load(small_file(name))
    ids = tokenizer.encode(TEXT, allowed_special="all")
    painted = list(shown(tokenizer, ids, colours=True))
    assert len(painted) == len(ids)
    backgrounds = []
    for id, text in zip(ids, painted, strict=True):
        matches = PAINT.findall(text)
        assert PAINT.sub("", text).strip("\n") == ""  # everything except line ends has a colour
        assert len({background for _, background, _ in matches}) == 1
        content = tokenizer.decode_single_token_bytes(id)
        assert "".join(part for _, _, part in matches) == "".join(p.text for p in parts(content))
        backgrounds.append((tokenizer.is_special_token(id), matches[0][1]))
    ordinary = [(left, right) for left, right in pairwise(backgrounds) if not left[0]]
    assert all(left != right for left, right in ordinary)


def test_no_byte_of_a_token_can_control_a_terminal() -> None:
    for byte in range(256):
        for content in (bytes([byte]), b"a" + bytes([byte]), bytes([0xC2, byte])):
            assert all(part.text.isprintable() for part in parts(content))


def test_half_characters_marks_and_line_ends_are_signs() -> None:
    assert [(part.text, part.is_sign, part.breaks) for part in parts("é\n\n中".encode()[:-1])] == [
        ("é", False, False),
        ("\\n", True, True),
        ("\\n", True, True),
        ("\\xe4\\xb8", True, False),
    ]
    assert [part.text for part in parts("\u0301a\u0301".encode())] == ["◌", "\u0301a\u0301"]
    assert list(parts(b"")) == []


def test_a_special_token_without_text_is_shown_by_its_name_or_id(small_file: PathOf) -> None:
    tokenizer = tokexport.load(small_file("llama3"))
    begin = tokenizer.encode_single_token("<|begin_of_text|>")
    (painted,) = shown(tokenizer, [begin], colours=True)
    assert "<|begin_of_text|>" in painted
    assert ";48;5;60m" in painted


def test_without_a_terminal_tokens_are_separated_by_bars(run: Run, small_file: PathOf) -> None:
    path = small_file("gpt2")
    tokenizer = tokexport.load(path)
    tokens = [tokenizer.decode_single_token_bytes(id) for id in tokenizer.encode("a the\nb")]
    outcome = run("encode", path, "--show", "a the\nb")
    drawn = "│".join(token.decode().replace("\n", "\\n\n") for token in tokens)
    assert outcome.text == drawn + "\n"


def test_colours_are_used_only_on_terminals_that_allow_them(small_file: PathOf) -> None:
    path = small_file("gpt2")
    assert "\x1b[38;5;" in on_terminal("encode", path, "--show", "a the b")
    assert "\x1b" not in on_terminal("encode", path, "--show", "a the b", NO_COLOR="1")
    assert "\x1b" not in on_terminal("encode", path, "--show", "a the b", TERM="dumb")
    assert "\x1b" in on_terminal("encode", path, "--show", "a the b", NO_COLOR="")


@pytest.mark.parametrize("option", ["--tokens", "--offsets", "--json"])
def test_show_works_alone(option: str, run: Run, small_file: PathOf) -> None:
    assert "--show excludes" in run("encode", small_file("gpt2"), "--show", option, "a").refusal
