"""What two neighbouring ASCII characters merge to, and from which rank on anything can join across
their boundary.

Most text begins as such pairs: a table in place of an index gives their products at once. The
bounds say which of the first merges need not wait for their turn. A merge of two first symbols has
its rank; whatever may join one of the two with what stands beside it has at least the bound of that
boundary; if the rank is below the bounds of both sides, the merge comes before anything that could
prevent it, and it may be made at once, wherever else in the piece lower ranks wait.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from tokexport.compiler.merges.canonical import CanonicalMerges
from tokexport.compiler.merges.first_symbols import FirstSymbols
from tokexport.compiler.tables import PairGrid
from tokexport.limits import MAX_BOUND, MAX_IDS

PRINTABLE: Final = range(0x20, 0x7F)  # of ASCII; the others are rare inside of pieces

# Pairs of letters that are tokens have low ranks; where nearly all of them lie, 5 bits of a rank
# may be lost.
PRECISION: Final = 5


def pair_grid(
    merges: CanonicalMerges, first: FirstSymbols, characters: range = PRINTABLE
) -> PairGrid | None:
    """The grid of a model whose unknown characters do not merge; None where the symbol of a
    character depends on its place in the piece.
    """
    if len(first.tables) > 1:
        return None
    table = first.tables[0]
    symbols = (table.get(chr(code) if first.of_characters else code) for code in characters)
    codes = {symbol: place for place, symbol in enumerate(symbols) if symbol is not None}
    lasts = {token: codes.keys() & {way[-1] for way in ways} for token, ways in merges.ways.items()}
    firsts = {token: codes.keys() & {way[0] for way in ways} for token, ways in merges.ways.items()}
    ranks = merges.stored_ranks()
    least: dict[
        tuple[int, int], list[int]
    ] = {}  # the products that have the smallest rank across a boundary
    for product in sorted(merges.rules, key=ranks.__getitem__):
        left, right = merges.rules[product]
        for last, following in itertools.product(lasts[left], firsts[right]):
            found = least.setdefault((codes[last], codes[following]), [])
            if not found or ranks[found[0]] == ranks[product]:
                found.append(product)
    pairs = {rule: product for product, rule in merges.rules.items() if codes.keys() >= {*rule}}
    size = len(characters), len(characters)
    grid = PairGrid(
        first=characters.start,
        products=np.full(size, MAX_IDS, np.uint32),
        bounds=np.full(size, MAX_BOUND + 1, np.uint32),
        own=np.zeros(size, np.bool_),
        shift=PRECISION,
    )
    for (left, right), product in pairs.items():
        grid.products[codes[left], codes[right]] = product
    for cell, found in least.items():
        grid.bounds[cell] = min(ranks[found[0]] >> PRECISION, MAX_BOUND)
        grid.own[cell] = found == [grid.products[cell]]
    return grid
