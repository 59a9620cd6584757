"""Boundaries that no merge crosses: BPE may cut a pre-token there into words merged separately.

Two characters are *crossed* where a rule that can fire joins a symbol that ends with the first and
a symbol that begins with the second. Everywhere else nothing can ever join. Pairs of ASCII
characters have a bitmap of their own, all other pairs are hashed into another: a false hit there
only loses a cut.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.hashing import K0, K1
from tokexport.compiler.merges.canonical import CanonicalMerges
from tokexport.compiler.merges.first_symbols import FirstSymbols
from tokexport.compiler.tables import Crossings
from tokexport.unicode.store import distinct

ASCII: Final = 128
# A bitmap has 8 bits for each pair, between 64 bytes and 128 KB: larger ones cost more in cache
# misses than false hits do.
ROOM: Final = 8
SMALLEST: Final = 9
LARGEST: Final = 20


def crossings(merges: CanonicalMerges) -> Crossings | None:
    """The crossed boundaries; None where first symbols are not just characters."""
    first, ways = merges.first, merges.ways
    if not first.of_characters or len(first.tables) > 1:
        return None
    # An unknown token that is itself a character also stands for all characters without a symbol.
    code_points = np.full(len(ways.firsts), -1, np.int64)
    known = first.tables[0].items()
    units = {symbol: ord(str(unit)) for unit, symbol in known if symbol != first.unk_id}
    code_points[[*units]] = [*units.values()]
    row, way = ways.of(merges.rules[:, 1])
    before = code_points[ways.symbols[ways.bounds[way + 1] - 1]]
    indices, way = ways.of(merges.rules[row, 2])
    crossed = np.stack([before[indices], code_points[ways.symbols[ways.bounds[way]]]])
    if (crossed < 0).any():
        return None  # bytes or the unknown token merge
    pairs = distinct(crossed[0] << 32 | crossed[1]).astype(np.uint64)
    pairs = np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], axis=1)
    in_ascii = (pairs < ASCII).all(axis=1)
    rule = _rule(first)
    ascii_map = ~_cut_allowed(rule, first)
    ascii_map[tuple(pairs[in_ascii].astype(np.int64).T)] = True
    return Crossings(rule, ascii_map, hashed_pairs(pairs[~in_ascii]))


def hashed_pairs(pairs: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """The bitmap of crossed pairs of code points, (n, 2)."""
    bits = min(max((ROOM * len(pairs)).bit_length(), SMALLEST), LARGEST)
    hashed = np.zeros(1 << bits, np.bool_)
    hashed[hash_characters(pairs[:, 0], pairs[:, 1], bits)] = True
    return hashed


def hash_characters(
    left: npt.NDArray[np.uint64], right: npt.NDArray[np.uint64], bits: int
) -> npt.NDArray[np.int64]:
    """The bit number of each pair of code points.

    >>> hash_characters(np.array([0x4E2D], np.uint64), np.array([0x6587], np.uint64), 16)
    array([62728])
    """
    mixed = (left * np.uint64(K0) ^ right) * np.uint64(K1)
    numbers: npt.NDArray[np.int64] = (mixed >> np.uint64(64 - bits)).astype(np.int64)
    return numbers


def _rule(first: FirstSymbols) -> str:
    if first.covers_all_text:
        return "NONE"
    if first.unk_id is None:
        return "BOTH_KNOWN"  # an unknown character is dropped, and its neighbours become adjacent
    apart = not first.fuse_unk and not any(number is not None for number in first.byte_ids)
    return "NONE" if apart else "ONE_KNOWN"


def _cut_allowed(rule: str, first: FirstSymbols) -> npt.NDArray[np.bool_]:
    known = np.array([chr(code_point) in first.tables[0] for code_point in range(ASCII)], np.bool_)
    if rule == "NONE":
        return np.ones((ASCII, ASCII), np.bool_)
    return known[:, None] & known if rule == "BOTH_KNOWN" else known[:, None] | known
