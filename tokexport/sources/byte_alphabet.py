"""Strings in GPT-2's byte alphabet (:mod:`tokexport.compiler.byte_alphabet`) and the bytes that
they stand for.
"""

from __future__ import annotations

from typing import Final

from tokexport.compiler.byte_alphabet import CHARACTERS, to_characters

__all__ = ["BYTES_OF_TEXT", "CHARACTERS", "decoded", "to_bytes", "to_characters"]


_BYTES: Final = {character: byte for byte, character in enumerate(CHARACTERS)}

# Bytes that can stand in valid UTF-8; a reference that takes only text never sees the other
# thirteen.
BYTES_OF_TEXT: Final = frozenset((*range(0xC0), *range(0xC2, 0xF5)))


def to_bytes(token: str) -> bytes | None:
    """The bytes that a vocabulary string stands for, or None where a character is not in the
    alphabet.

    >>> to_bytes("Ġhi"), to_bytes("a b")
    (b' hi', None)
    """
    try:
        return bytes([_BYTES[character] for character in token])
    except KeyError:
        return None


def decoded(token: str) -> bytes:
    """What the ByteLevel decoder makes of one token: its bytes, or its UTF-8 where a character is
    not in the alphabet.

    >>> decoded("Ġhi"), decoded("a b")
    (b' hi', b'a b')
    """
    data = to_bytes(token)
    return token.encode("utf-8") if data is None else data
