"""SentencePiece's precompiled maps of character sequences, as files hold them and as the two
reference libraries use them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.compiler.normalizer.darts import Units, darts_units, keys, prefixes
from tokexport.errors import UnsupportedError
from tokexport.unicode.store import CODE_POINTS


@dataclass(frozen=True, slots=True, eq=False)
class CharacterSequences:
    """``units`` lead from a sequence to the place of its replacement in ``text``, which ends at the
    next NUL.
    """

    units: Units
    text: bytes

    def replacement(self, place: int) -> bytes:
        """The replacement that begins at a place."""
        end = self.text.find(b"\0", place)
        return self.text[place : end if end >= 0 else None]

    def shortest(self, text: bytes) -> bytes | None:
        """The replacement of the shortest sequence that the text begins with."""
        for _, place in prefixes(self.units, text):
            return self.replacement(place)
        return None

    def longest(self, text: bytes) -> tuple[int, bytes] | None:
        """The longest sequence that the text begins with: its size and its replacement."""
        found = None
        for size, place in prefixes(self.units, text):
            found = size, place
        return None if found is None else (found[0], self.replacement(found[1]))

    def characters(self) -> npt.NDArray[np.bool_]:
        """Which characters are sequences by themselves, shape (0x110000,)."""
        alone = np.zeros(CODE_POINTS, np.bool_)
        keys_of_one = [text for key, _ in keys(self.units) if len(text := key.decode()) == 1]
        alone[[ord(character) for character in keys_of_one]] = True
        return alone

    def growth(self) -> int:
        """How many bytes one byte becomes at most."""
        return max(
            [1, *(-(-len(self.replacement(place)) // len(key)) for key, place in keys(self.units))]
        )


def read_charsmap(data: bytes) -> CharacterSequences:
    """Take a charsmap apart: u32 size of the trie, its units, text.

    Raises UnsupportedError for one with which the reference would stop, or that is not made of
    characters.
    """
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or size > len(data) - 4 or size < 4:
        raise _refused(f"{len(data)} bytes, with a trie of {size}")
    charsmap = CharacterSequences(
        np.frombuffer(data, "<u4", size // 4, 4), data[4 + size // 4 * 4 :]
    )
    try:
        charsmap.text.decode()
        for key, place in keys(charsmap.units):
            key.decode()
            if place > len(charsmap.text):
                raise IndexError
            charsmap.replacement(place).decode()
    except (UnicodeDecodeError, IndexError, ValueError):
        raise _refused("a trie or text that is damaged") from None
    return charsmap


def charsmap_of(replacements: dict[str, str]) -> bytes:
    """The charsmap of some replacements.

    >>> read_charsmap(charsmap_of({"ﬁ": "fi"})).shortest("ﬁt".encode())
    b'fi'
    """
    text = bytearray()
    places = {}
    for key, value in replacements.items():
        places[key.encode()] = len(text)
        text += value.encode() + b"\0"
    units = darts_units(places).astype("<u4").tobytes()
    return len(units).to_bytes(4, "little") + units + bytes(text)


def _refused(found: str) -> UnsupportedError:
    return UnsupportedError(
        "normalizer", f"a precompiled charsmap of {found} is not supported", "a whole one is"
    )
