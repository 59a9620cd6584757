"""Boundaries of characters that no merge of BPE over bytes crosses: a pre-token may be cut there.

A merge across a boundary makes a token with bytes from both sides, so nothing joins where no token
has these bytes side by side. Most such tokens contain both characters whole: that pair is crossed.
A few begin or end within a character, as ``b"a\\xe4"`` does: the two bytes at the boundary are
noted, and every boundary between such bytes is crossed in part. Elsewhere the bytes of a character
are merged before anything joins it, so it can be looked up instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.merges.crossings import ASCII, hashed_pairs
from tokexport.compiler.merges.first_symbols import FirstSymbols
from tokexport.compiler.tables import Crossings
from tokexport.model import ByteStrings, Vocabulary
from tokexport.model.byte_alphabet import BYTES_OF_TEXT
from tokexport.model.byte_strings import Numbers
from tokexport.unicode.store import CODE_POINTS, distinct

# By first byte: the size of the character (0: no character begins with it). By size: the bits of
# the first byte that belong to the code point, and the smallest code point of that size.
SIZES: Final = np.repeat(np.array([1, 2, 3, 4, 0], np.uint8), [0xC0, 0x20, 0x10, 0x08, 0x08])
PAYLOADS: Final = np.array([0, 0x7F, 0x1F, 0x0F, 0x07], np.uint32)
LEAST: Final = np.array([0, 0, 0x80, 0x800, 0x10000], np.uint32)
MOST_BYTES: Final = 4
FIRST_LEAD: Final = 0xC2


def byte_crossings(vocab: Vocabulary, rules: Numbers, first: FirstSymbols) -> Crossings | None:
    """The crossed boundaries. ``rules`` are those of ``CanonicalMerges``.

    None if no token has two characters that are not both ASCII, if some merge joins a character
    whose own bytes may be merged later, or if a byte of a text other than the first one of a
    character has no symbol. Between two characters of ASCII a boundary counts as crossed: words of
    ASCII are not worth cutting.
    """
    dropped = [byte for byte in BYTES_OF_TEXT if byte not in first.tables[0]]
    if dropped and (min(dropped) < FIRST_LEAD or first.unk_id is not None):
        return None
    has_others = np.concatenate([*map(_beyond_ascii, vocab.strings.parts())])
    vocab = vocab.at(np.flatnonzero(has_others))
    found = _Characters.of(vocab.strings)
    in_part = np.zeros((256, 256), np.bool_)
    in_part[:ASCII, :ASCII] = True
    pairs = found.add_boundaries(in_part)
    in_part[:, dropped] = True  # where such a character begins, the byte after it joins
    if not len(pairs) or not _characters_come_first(vocab, rules, found):
        return None
    return Crossings("BYTES", in_part, hashed_pairs(pairs))


def _beyond_ascii(strings: ByteStrings) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(strings), np.bool_)
    found[np.searchsorted(strings.ends, np.flatnonzero(strings.units >= ASCII), "right")] = True
    return found


@dataclass(frozen=True, slots=True)
class _Characters:
    """The bytes of strings that begin a character: arrays with an entry for each."""

    strings: Numbers  # the number of its string
    before: npt.NDArray[np.uint8]  # the byte before it, where it is not the first of its string
    first: npt.NDArray[np.uint8]
    is_inside: npt.NDArray[np.bool_]  # whether it is not the first
    is_whole: npt.NDArray[np.bool_]
    code_points: npt.NDArray[np.uint32]  # of the whole ones

    @classmethod
    def of(cls, strings: ByteStrings) -> _Characters:
        units = strings.units
        begins = np.flatnonzero(units & 0xC0 != 0x80).astype(np.int32)
        numbers = np.searchsorted(strings.ends, begins, "right").astype(np.int32)
        ends = np.minimum(np.append(begins, len(units))[1:], strings.ends[numbers])
        first = units[begins]
        is_whole = ends - begins == SIZES[first]
        code_points = first & PAYLOADS[SIZES[first]]
        for i in range(1, MOST_BYTES):
            longer = np.flatnonzero(is_whole & (SIZES[first] > i))
            code_points[longer] = code_points[longer] << 6 | units[begins[longer] + i] & 0x3F
        # Invalid sequences of the right size occur in no text, so their ranks do not count.
        is_whole &= (code_points >= LEAST[SIZES[first]]) & (code_points < CODE_POINTS)
        is_inside = begins > strings.begins[numbers]
        return cls(numbers, units[begins - 1], first, is_inside, is_whole, code_points)

    def add_boundaries(self, in_part: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
        """The adjacent pairs of whole characters that are not both ASCII, (n, 2); the bytes at
        other boundaries are marked in ``in_part``.
        """
        at = np.flatnonzero(self.is_inside & (self.before | self.first >= ASCII))
        # The first entry is inside if its string begins within a character: no entry precedes it.
        follows = (at > 0) & (self.strings[at - 1] == self.strings[at])
        is_pair = follows & self.is_whole[at - 1] & self.is_whole[at]
        in_part[self.before[at[~is_pair]], self.first[at[~is_pair]]] = True
        left, right = (self.code_points[at[is_pair] - more].astype(np.uint64) for more in (1, 0))
        both: npt.NDArray[np.uint64] = distinct(left << np.uint64(32) | right)
        return np.stack([both >> np.uint64(32), both & np.uint64(0xFFFFFFFF)], axis=1)


def _characters_come_first(vocab: Vocabulary, rules: Numbers, found: _Characters) -> bool:
    """Whether whole characters merge after their own bytes; not always in a list made of two."""
    id_count = 1 + int(max(rules[:, :3].max(initial=0), vocab.ids.max()))
    is_joined = np.bincount(found.strings[found.is_inside], minlength=len(vocab)) > 0
    sizes = np.zeros(id_count, np.int32)  # of the tokens within one character
    sizes[vocab.ids[~is_joined]] = vocab.strings.sizes[~is_joined]
    latest = np.full(id_count, -1, np.int32)  # rank of the last merge of such a token
    for size in range(2, MOST_BYTES + 1):
        merged, left, right, rank = rules[sizes[rules[:, 0]] == size].T
        latest[merged] = np.maximum(rank, np.maximum(latest[left], latest[right]))
    of_character = np.zeros(CODE_POINTS, np.int32)  # rank + 1; pages of zeros take no memory
    alone = found.is_whole & ~is_joined[found.strings]
    of_character[found.code_points[alone]] = 1 + latest[vocab.ids[found.strings[alone]]]
    of_whole = _are_of_whole_characters(vocab, rules, found, is_joined, id_count)
    ranks = np.full(id_count, np.iinfo(np.int32).max, np.int32)
    ranks[rules[of_whole, 0]] = rules[of_whole, 3]
    joined = found.is_whole & is_joined[found.strings]
    rank = ranks[vocab.ids[found.strings[joined]]]
    return bool((rank >= of_character[found.code_points[joined]]).all())


def _are_of_whole_characters(
    vocab: Vocabulary,
    rules: Numbers,
    found: _Characters,
    is_joined: npt.NDArray[np.bool_],
    id_count: int,
) -> npt.NDArray[np.bool_]:
    """Which rules join characters that were all whole before anything joined them."""
    units = np.bincount(found.strings, SIZES[found.first] * found.is_whole, minlength=len(vocab))
    is_made = np.ones(id_count, np.bool_)
    is_made[vocab.ids] = units == vocab.strings.sizes  # tokens of ASCII, not in `vocab`, are whole
    is_one = np.zeros(id_count, np.bool_)
    is_one[vocab.ids] = ~is_joined
    merged, left, right = rules[:, :3].T
    while True:
        is_of_whole: npt.NDArray[np.bool_] = is_made[left] & is_made[right]
        wrong = merged[is_made[merged] & ~is_of_whole & ~is_one[merged]]
        if not len(wrong):
            return is_of_whole
        is_made[wrong] = False
