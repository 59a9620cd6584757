"""Random tokens with every kind of surface form, and random decoding rules, as strategies."""

from hypothesis import strategies as st

from tokexport.model import (
    Decoding,
    FirstIs,
    ParseByteToken,
    ReplaceLiteral,
    StripChars,
    StripWhiteSpace,
    Token,
)

PARTS = (b" ", b"a", b"\xe2", b"\x96", b"\x81", "▁".encode(), b"\xc3", b"\xa9", b"\xf0\x9f", b"##")
contents = st.lists(st.sampled_from(PARTS), max_size=4).map(b"".join)
fallbacks = st.builds(
    lambda byte, special: Token(bytes([byte]), fallback=True, special=special),
    st.sampled_from([0x41, 0x20, 0xE2, 0x96, 0x81, 0xC3, 0xA9, 0xF0, 0xFF]),
    st.booleans(),
)
plain = st.builds(Token, contents, special=st.booleans())
shorter_first = st.builds(
    lambda content, n: Token(content, first=content[n:]), contents, st.integers(0, 6)
)
longer_first = st.builds(
    lambda content, more: Token(content, first=more + content),
    contents,
    st.sampled_from([b"#", b"##", "▁".encode()]),
)
shorter_last = st.builds(
    lambda content, n: Token(content, last=content[: max(len(content) - n, 0)]),
    contents,
    st.integers(0, 3),
)
tokens = st.lists(
    st.one_of(plain, fallbacks, fallbacks, shorter_first, longer_first, shorter_last),
    min_size=1,
    max_size=12,
)
literals = st.builds(
    ReplaceLiteral,
    st.sampled_from(["a", "aa", "a▁", "▁", "▁▁a", "é", "\ufffd", "##", "ab", "🙂▁"]),
    st.sampled_from(["", "a", "▁a", "é", "bb"]),
)
strips = st.builds(StripChars, st.sampled_from(" ▁é🙂"), st.integers(1, 3))
edits = st.lists(literals | strips | st.just(StripWhiteSpace()), max_size=3)
first_literals = st.builds(
    ReplaceLiteral,
    st.sampled_from(["▁", "é", "aA"]),
    st.just(" "),
    st.sampled_from(["", "▁", " A"]),
    is_in_first_token=st.booleans(),
)


rules = st.builds(
    lambda runs, first_is, edits: Decoding(runs[0], runs[1], first_is, (*edits,)),
    st.sampled_from([(False, False), (True, False), (True, True)]),
    st.sampled_from(FirstIs),
    st.just([StripChars(" ", 1)]) | st.just([ParseByteToken()]) | edits,
) | st.builds(
    lambda first, others: Decoding(byte_fallback=True, edits=(first, *others)),
    first_literals,
    edits,
)
