"""Escaped token text is harmless on a terminal, and can be recovered."""

import ast
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tokexport.escape import escape, visible


def unescaped(text: str) -> bytes:
    """The slow, obvious inverse, by Python's own decoding of such escapes."""
    parts = []
    literal = ast.literal_eval('"' + text.replace('"', '\\"') + '"')
    # \xNN from 0x80 on is a byte; a character of that number is written \u00NN, or unchanged if it
    # is printable.
    raw = text.replace("\\\\", "\0\0")
    place = 0
    for character in literal:
        if raw.startswith("\\x", place):
            parts.append(bytes([ord(character)]))
            place += 4
        elif raw.startswith("\\u", place):
            parts.append(character.encode())
            place += 6
        elif raw.startswith("\\U", place):
            parts.append(character.encode())
            place += 10
        else:
            parts.append(character.encode())
            place += 2 if raw.startswith(("\0\0", "\\"), place) else 1
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
