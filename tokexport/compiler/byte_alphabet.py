"""GPT-2's byte alphabet: one printable character for each of the 256 bytes.

Byte-level BPE keeps its vocabulary as strings of these characters. A byte that is a printable
Latin-1 character stands for itself; the others take the code points from U+0100 on, in order
(``bytes_to_unicode`` of GPT-2's encoder.py).
"""

from __future__ import annotations

from typing import Final


def _alphabet() -> tuple[str, ...]:
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    characters = [""] * 256
    for byte in itself:
        characters[byte] = chr(byte)
    rest = [byte for byte in range(256) if not characters[byte]]
    for number, byte in enumerate(rest):
        characters[byte] = chr(0x100 + number)
    return tuple(characters)


CHARACTERS: Final = _alphabet()


def to_characters(data: bytes) -> str:
    """The string of the alphabet that stands for these bytes.

    >>> to_characters(b" hi")
    'Ġhi'
    """
    return "".join([CHARACTERS[byte] for byte in data])
