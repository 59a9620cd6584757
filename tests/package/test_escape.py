"""Escaped token text is harmless on a terminal, and can be recovered."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tokexport.escape import escape, visible


def unescaped(text: str) -> bytes:
    """The slow, obvious inverse."""
    parts = []
    short = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
    for match in re.finditer(r"\\x(..)|\\u(.{4})|\\U(.{8})|\\(.)|([^\\])", text):
        byte, code, long_code, letter, character = match.groups()
        if byte:
            parts.append(bytes.fromhex(byte))
        elif letter:
            parts.append(short[letter])
        else:
            parts.append((character or chr(int(code or long_code, 16))).encode())
    return b"".join(parts)


@given(st.binary() | st.text().map(str.encode))
def test_escaped_bytes_can_be_restored(content: bytes) -> None:
    assert unescaped(escape(content)) == content


@given(
    st.binary()
    | st.text(st.characters(categories=["Cc", "Cf", "Zl", "Zp", "Co", "Cn"])).map(str.encode)
)
def test_nothing_that_could_control_a_terminal_is_left(content: bytes) -> None:
    shown = escape(content)
    assert shown.isprintable()
    assert all(unicodedata.category(each) not in ("Cc", "Cf", "Cs") for each in shown)


def test_text_stays_readable() -> None:
    assert escape("naïve 你好 🙂 \\".encode()) == "naïve 你好 🙂 \\\\"
    assert escape(b"\x1b[2J\n\xe4\xbd") == "\\x1b[2J\\n\\xe4\\xbd"
    assert escape("\u202e\U000e0001\x85".encode()) == "\\u202e\\U000e0001\\u0085"


def test_a_message_keeps_its_line_ends_but_no_control_characters() -> None:
    assert visible("one\n\ttwo \x1b]0;title\x07 \\d") == "one\n\ttwo \\x1b]0;title\\x07 \\d"
