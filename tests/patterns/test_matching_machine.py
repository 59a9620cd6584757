"""The machine that replaces matches byte by byte gives what the library gives for the whole text."""

from __future__ import annotations

import random

import pytest
import tokenizers

from tokexport.compiler.decoder.edits import compile_edits
from tokexport.compiler.decoder.matching_machine import MatchingMachine
from tokexport.errors import UnsupportedError
from tokexport.model import Matching, Split

PATTERNS = (
    *(r"\w", r"\w+", r"\W+", ".", ".+", ".*", "[^a]+", r"\s+|\d", "[^\u4e00-\u9fff]"),
    *(
        "",
        "a*",
        "a*?",
        "a??",
        r"\s*",
        "a*|(?=b)",
        "(?:ab)*",
        r"\b",
        r"\B",
        "^",
        "$",
        r"\A",
        r"\z",
        "(?<=a)",
        "(?!a)",
    ),
    *(
        r"(?<=\w)-",
        r"-(?=\w)",
        r"(?=\w)",
        r"(?<!\w)(?=\w)",
        r"(?<=\p{L})\d|(?<=\d)\p{L}",
        "(?!a).",
        r"(?<=..)a",
    ),
    *(
        "b(?=\u4e2d)",
        r"[^\x00-\x7f]",
        "[\U00010000-\U0010ffff]+",
        r"a|(?=\p{Han})",
        r"-?(?<=\s)",
        r"a{0,2}(?!\w)",
    ),
)
CHARACTERS = "ab- \n1٣éß\u0301α\u07ff\u0800中㐀\ud7ff\ue000\uffff\U00010000🙂\U0010ffff"


def read(machine: MatchingMachine, data: bytes) -> bytes:
    state, written = machine.start, bytearray()
    for byte in data:
        more, state = machine.read(state, byte)
        written += bytes(more)
    return bytes(written) + bytes(machine.end(state))


def texts(dice: random.Random) -> list[str]:
    some = ["".join(dice.choices(CHARACTERS, k=dice.randrange(2, 10))) for _ in range(60)]
    likely = ["".join(dice.choices("ab- 中", k=dice.randrange(2, 10))) for _ in range(60)]
    all_kinds = [
        chr(point)
        for point in range(dice.randrange(1999), 0x110000, 1999)
        if not 0xD800 <= point < 0xE000
    ]
    return ["", *CHARACTERS, *some, *likely, "".join(all_kinds)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_match_is_replaced_as_the_library_does(pattern: str) -> None:
    dice = random.Random(pattern)
    for content in ("", "é-"):
        machine = MatchingMachine(Split(pattern), content)
        decoder = tokenizers.decoders.Replace(tokenizers.Regex(pattern), content)
        for text in texts(dice):
            assert read(machine, text.encode()).decode() == decoder.decode([text]), text


@pytest.mark.parametrize("pattern", ["[^a]+", "a*", r"\s", r"\w", ".", "é"])
def test_what_is_no_character_is_written_as_it_is_and_what_stands_around_it_is_replaced(
    pattern: str,
) -> None:
    machine = MatchingMachine(Split(pattern), "-")
    decoder = tokenizers.decoders.Replace(tokenizers.Regex(pattern), "-")
    for bad in (b"\xff", b"\x80", b"\xc3", b"\xe1\x9a", b"\xf0\x9f"):
        for text in ("", "a", "é b", "中"):
            around = decoder.decode([text]).encode()
            found = read(machine, text.encode() + bad + b"\xff" + text.encode())
            assert found.startswith(around[:-1]), bad
            assert found.endswith(around), bad


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"\w(?!\S)", "hold back more than 4,096 texts"),
        (".b", "hold back more than 4,096 texts"),
        (" +$", "fail after more than 32 characters"),
        ("a(?=a*b)", "looks further than 32 characters"),
        (r"(.)\1", "asks whether a character is the one before it"),
    ],
)
def test_what_would_have_to_hold_back_too_much_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        compile_edits((Matching(Split(pattern), "x"),))
