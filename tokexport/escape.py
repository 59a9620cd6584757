"""Makes token text safe to show: anything that a terminal could act on becomes an escape.

A vocabulary is untrusted data. A token may contain an escape sequence that moves the cursor, a
character that reverses the direction of the line, or half a character.
"""

from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def escape(content: bytes) -> str:
    r"""Shows bytes as one line of printable text from which they can be recovered.

    Printable text is unchanged. A backslash is doubled; a byte that is not part of a UTF-8
    character, or a control character of one byte, becomes ``\xNN``; any other unprintable character
    becomes ``\uNNNN`` or ``\UNNNNNNNN``.

    >>> escape("naïve\n".encode() + b"\xf0\x9f")
    'naïve\\n\\xf0\\x9f'
    """
    # "surrogateescape" turns each bad byte into U+DC80 .. U+DCFF, which valid UTF-8 cannot contain.
    return "".join(map(_escape_character, content.decode("utf-8", "surrogateescape")))


def visible(text: str) -> str:
    r"""Escapes what a terminal could act on in a message, except line ends and tabs.

    >>> visible("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else _escape_character(c) for c in text)


def _escape_character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable():
        return character
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:  # a bad byte, also in a file name
        return f"\\x{number - 0xDC00:02x}"
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
