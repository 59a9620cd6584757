"""SentencePiece's precompiled maps of character sequences, as stored in files.

The sequences are in a double-array trie (Darts-clone, https://github.com/s-yata/darts-clone). A
node is a number; the child of node ``n`` for a byte ``b`` is unit ``n ^ b``, if that unit has the
label ``b``, and its node number is then its index ``^`` the unit's offset. A unit says whether a
key ends at its node: the key's value is in unit ``n``, which is the child for byte 0. Keys contain
no NUL.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.errors import UnsupportedError
from tokexport.model.byte_strings import ranges
from tokexport.unicode.store import CODE_POINTS

Units = npt.NDArray[np.uint32]

HAS_LEAF = 1 << 8
VALUE = (1 << 31) - 1
LABEL = 1 << 31 | 0xFF
BLOCK = 256
LONGEST_KEY = 256  # bytes; NFKC's have 12
MOST_NODES = 1 << 20
PART = 1 << 10  # nodes whose children are found at once


def keys(units: Units) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
    """Keys (n, length) with their values (n,), in batches of one length, the shorter ones first.

    Nodes may be shared. IndexError for a unit that points outside the array, ValueError for a loop.

    >>> import numpy as np
    >>> [len(values) for _, values in keys(np.zeros(BLOCK, np.uint32))]
    []
    """
    labels = units & np.uint32(LABEL)
    indices = np.flatnonzero((labels > 0) & (labels < BLOCK)).astype(np.int32)
    labels = labels[indices].astype(np.uint8)
    parents = indices ^ labels
    order = np.argsort(parents, kind="stable")
    parents, indices, labels = parents[order], indices[order], labels[order]
    offsets = (units >> 10).astype(np.int32) << ((units & (1 << 9)) >> 6).astype(np.int32)
    # The nodes of one length and their texts, in parts: there may be a quarter of a million.
    level = [(offsets[:1], np.zeros((1, 0), np.uint8))]
    visited = 0
    while level:
        above, level = level, []
        for nodes, texts in above:
            first = np.searchsorted(parents, nodes, "left")
            counts = np.searchsorted(parents, nodes, "right") - first
            visited += int(counts.sum())
            if visited > MOST_NODES or texts.shape[1] == LONGEST_KEY:
                raise ValueError("a loop")
            children = ranges(first, counts)
            longer = np.column_stack([np.repeat(texts, counts, axis=0), labels[children]])
            found = indices[children] ^ offsets[indices[children]]
            is_key = np.flatnonzero(units[indices[children]] & HAS_LEAF)
            if len(is_key):
                yield longer[is_key], (units[found[is_key]] & np.uint32(VALUE)).astype(np.int64)
            starts = range(0, len(found), PART)
            level += ((found[at : at + PART], longer[at : at + PART]) for at in starts)


@dataclass(frozen=True, slots=True, eq=False)
class CharacterSequences:
    """``units`` map a sequence to its replacement in ``text``, which ends at a NUL."""

    units: Units
    text: bytes

    def replacement(self, offset: int) -> bytes:
        end = self.text.find(b"\0", offset)
        return self.text[offset : end if end >= 0 else None]

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
        texts[i].tobytes(): charsmap.replacement(offset)
        for texts, indices in keys(charsmap.units)
        for i, offset in enumerate(indices.tolist())
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
        raise _refused(path, f"has {len(data)} bytes, and a trie of {size}")
    count = size // 4
    charsmap = CharacterSequences(np.frombuffer(data, "<u4", count, 4), data[4 + 4 * count :])
    # Whether each byte of the text, and its end, continues a character.
    continues = np.frombuffer(charsmap.text + b"\0", np.uint8) & 0xC0 == 0x80
    try:
        charsmap.text.decode()
        for texts, indices in keys(charsmap.units):
            # A space after each key, so that no two keys together make a character.
            np.pad(texts, ((0, 0), (0, 1)), constant_values=ord(" ")).tobytes().decode()
            if continues[indices].any():
                raise IndexError
    except (UnicodeDecodeError, IndexError, ValueError):
        raise _refused(path, "has a broken trie or text") from None
    return charsmap


def _refused(path: str, found: str) -> UnsupportedError:
    problem = f"the precompiled charsmap is damaged: it {found}"
    return UnsupportedError(path, problem, "get the whole file again")
