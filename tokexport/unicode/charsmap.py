"""SentencePiece's precompiled maps of character sequences, as stored in files."""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.errors import UnsupportedError
from tokexport.unicode.darts import BLOCK, Units, keys
from tokexport.unicode.store import CODE_POINTS


@dataclass(frozen=True, slots=True, eq=False)
class CharacterSequences:
    """``units`` map a sequence to its replacement in ``text``, which ends at a NUL."""

    units: Units
    text: bytes

    def replacement(self, place: int) -> bytes:
        end = self.text.find(b"\0", place)
        return self.text[place : end if end >= 0 else None]

    def characters(self) -> npt.NDArray[np.bool_]:
        """Which characters are sequences by themselves, shape (0x110000,)."""
        alone = np.zeros(CODE_POINTS, np.bool_)
        for texts, _ in keys(self.units):
            is_one = (texts & 0xC0 != 0x80).sum(axis=1) == 1
            alone[[*map(ord, texts[is_one].tobytes().decode())]] = True
        return alone


@functools.cache
def rules_of(charsmap: CharacterSequences) -> dict[bytes, bytes]:
    """Every sequence with its replacement, shorter ones first."""
    return {
        texts[i].tobytes(): charsmap.replacement(place)
        for texts, places in keys(charsmap.units)
        for i, place in enumerate(places.tolist())
    }


@functools.cache
def read_charsmap(data: bytes, path: str = "normalizer") -> CharacterSequences:
    """Parses a charsmap: u32 size of the trie, its units, text. An empty charsmap has no rules.

    UnsupportedError where the reference would fail, or if keys or texts are not whole characters.
    """
    if not data:
        return CharacterSequences(np.zeros(BLOCK, np.uint32), b"")
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or size > len(data) - 4 or size < 4:
        raise _refused(path, f"{len(data)} bytes, with a trie of {size}")
    charsmap = CharacterSequences(
        np.frombuffer(data, "<u4", size // 4, 4), data[4 + size // 4 * 4 :]
    )
    # Whether each byte of the text, and its end, continues a character.
    continues = np.frombuffer(charsmap.text + b"\0", np.uint8) & 0xC0 == 0x80
    try:
        charsmap.text.decode()
        for texts, places in keys(charsmap.units):
            # A space after each key, so that no two keys together make a character.
            np.pad(texts, ((0, 0), (0, 1)), constant_values=ord(" ")).tobytes().decode()
            if continues[places].any():
                raise IndexError
    except (UnicodeDecodeError, IndexError, ValueError):
        raise _refused(path, "a trie or text that is damaged") from None
    return charsmap


def _refused(path: str, found: str) -> UnsupportedError:
    return UnsupportedError(
        path, f"a precompiled charsmap of {found} is not supported", "a whole one is"
    )
