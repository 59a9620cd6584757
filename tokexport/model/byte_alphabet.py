"""GPT-2's byte alphabet: one printable character for each of the 256 bytes.

Byte-level BPE keeps its vocabulary as strings of these. A printable Latin-1 character stands for
itself; the other bytes are represented by U+0100 and up (``bytes_to_unicode`` of encoder.py).
"""

import codecs
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.model.byte_strings import ByteStrings

_ITSELF: Final = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS: Final = [byte for byte in range(256) if byte not in _ITSELF]
CHARACTERS: Final = tuple(
    chr(byte if byte in _ITSELF else 0x100 + _OTHERS.index(byte)) for byte in range(256)
)
_NO_BYTE: Final = 256
_BYTES: Final = {ord(character): byte for byte, character in enumerate(CHARACTERS)}

# The bytes of valid UTF-8; a reference that takes strings never sees the other thirteen.
BYTES_OF_TEXT: Final = frozenset((*range(0xC0), *range(0xC2, 0xF5)))


def to_characters(data: bytes) -> str:
    """The string of the alphabet that represents these bytes.

    >>> to_characters(b" hi")
    'Ġhi'
    """
    return "".join([CHARACTERS[byte] for byte in data])


def to_bytes(token: str) -> bytes | None:
    """The bytes that a string represents; None if a character is not in the alphabet.

    >>> to_bytes("Ġhi"), to_bytes("a b")
    (b' hi', None)
    """
    try:
        return codecs.charmap_encode(token, "strict", _BYTES)[0]
    except UnicodeEncodeError:
        return None


def all_to_bytes(tokens: ByteStrings) -> tuple[ByteStrings, npt.NDArray[np.bool_]]:
    """The bytes that many vocabulary strings represent, and which strings are in the alphabet; a
    string with any other character has no bytes.

    >>> strings, is_spelled = all_to_bytes(ByteStrings.of(["Ġhi".encode(), b"a b"]))
    >>> [*strings], is_spelled.tolist()
    ([b' hi', b''], [True, False])
    """
    byte_of = np.full(max(_BYTES) + 2, _NO_BYTE, np.uint16)  # the last entry is for all others
    byte_of[[*_BYTES]] = [*_BYTES.values()]
    parts, flags = [ByteStrings(b"", np.zeros(0, np.uint32))], [np.zeros(0, np.bool_)]
    for part in tokens.parts():
        counts = np.cumsum((part.units & 0xC0) != 0x80, dtype=np.uint32)
        ends = np.concatenate([np.zeros(1, np.uint32), counts])[part.ends]
        points = np.frombuffer(part.data.decode().encode("utf-32-le"), np.uint32)
        found = byte_of[np.minimum(points, len(byte_of) - 1)]
        is_spelled = np.ones(len(part), np.bool_)
        is_spelled[np.searchsorted(ends, np.flatnonzero(found == _NO_BYTE), "right")] = False
        sizes = np.diff(ends, prepend=np.uint32(0))
        data = found[np.repeat(is_spelled, sizes)].astype(np.uint8).tobytes()
        parts.append(ByteStrings(data, np.cumsum(sizes * is_spelled, dtype=np.uint32)))
        flags.append(is_spelled)
    return ByteStrings.joined(parts), np.concatenate(flags)
