"""Random tokens with forms of every kind, and random rules of decoding, as strategies of
hypothesis.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tokexport.model import (
    Begun,
    Decoding,
    FirstIs,
    Matching,
    Prefixed,
    Replacing,
    RunEdits,
    Split,
    Token,
    Trimmed,
)

CHARACTERS = " ▁é🙂"
pieces = st.lists(
    st.sampled_from(
        [
            b" ",
            b"a",
            b"\xe2",
            b"\x96",
            b"\x81",
            "▁".encode(),
            b"\xc3",
            b"\xa9",
            b"\xf0\x9f",
            b"\x99\x82",
            b"##",
        ]
    ),
    max_size=4,
).map(b"".join)
fallbacks = st.builds(
    lambda byte, special: Token(bytes([byte]), fallback=True, special=special),
    st.sampled_from([0x41, 0x20, 0xE2, 0x96, 0x81, 0xC3, 0xA9, 0xF0, 0xFF]),
    st.booleans(),
)
plain = st.builds(Token, pieces, special=st.booleans())
cut = st.builds(lambda content, n: Token(content, first=content[n:]), pieces, st.integers(0, 4))
grown = st.builds(lambda content, more: Token(content, first=more + content), pieces, pieces)
shorter = st.builds(
    lambda content, n: Token(content, last=content[: len(content) - n]), pieces, st.integers(0, 3)
)
free = st.builds(
    lambda content, first, last, only: Token(content, first=first, last=last, only=only),
    pieces,
    pieces,
    pieces,
    pieces,
)
tokens = st.lists(
    st.one_of(plain, fallbacks, fallbacks, cut, grown, shorter, free), min_size=1, max_size=12
)
strips = st.just(("", 0)) | st.tuples(st.sampled_from(CHARACTERS), st.integers(1, 3))
fallback_rules = st.sampled_from([(False, False), (True, False), (True, True)])
patterns = st.sampled_from(["a", "aa", "a▁", "▁", "▁▁a", "é", "\ufffd", "##", "ab", "🙂▁"])
replacements = st.dictionaries(
    patterns, st.sampled_from(["", "a", "▁a", "é", "bb"]), min_size=1, max_size=3
)
# Patterns that are the same for Python.
matching = st.builds(
    lambda pattern, content: Matching(Split(pattern), content),
    st.sampled_from(
        ["[a▁]", " +", "aa?b", "a(?=▁)", "(?<=a)▁", r"\A[ a]", r"\Aa?▁", "é|🙂+", "(?:aa|▁)+"]
    ),
    st.sampled_from(["", "a", "bb"]),
)
edit = st.one_of(
    st.builds(lambda pairs: Replacing(tuple(pairs.items())), replacements),
    st.builds(Trimmed, st.sampled_from(CHARACTERS), st.integers(1, 3), st.booleans()),
    st.builds(Prefixed, st.sampled_from(CHARACTERS)),
    matching,
)
edits = st.lists(edit, min_size=1, max_size=2)
begun = st.builds(Begun, st.sampled_from(["", "##", "▁"]), st.sampled_from(["", " "]))
row_of_a_run = st.lists(edit | begun, max_size=2).map(tuple)
runs = st.builds(RunEdits, row_of_a_run, row_of_a_run)
stripping = st.builds(
    lambda fallback, left, right, repeats, first: Decoding(
        byte_fallback=fallback[0],
        fallback_by_character=fallback[1],
        strip_left=left,
        strip_right=right,
        repeats_once=repeats,
        first_is=first,
    ),
    fallback_rules,
    strips,
    strips,
    st.booleans(),
    st.sampled_from(FirstIs),
)
editing = st.builds(
    lambda decoding, steps: replace(
        decoding, strip_left=("", 0), strip_right=("", 0), edits=tuple(steps)
    ),
    stripping,
    edits,
)
editing_runs = st.builds(
    lambda runs, steps: Decoding(byte_fallback=True, runs=runs, edits=tuple(steps)),
    runs,
    st.just([]) | edits,
)
rules = stripping | editing | editing_runs
