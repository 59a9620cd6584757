"""From a pre-token to ids: the sections of BPE, and the trie of other models."""

import numpy as np
import numpy.typing as npt

import tokexport.file.layout as layout
from tokexport.compiler.tables import ClassTable, Crossings, PairIndex, TokenIndex, TrieTables
from tokexport.file.layout import ID_BITS, NONE
from tokexport.file.pack import Part, bits, class_counts, levels, struct, view


def characters(symbols: ClassTable | npt.NDArray[np.int64] | None) -> bytes | None:
    """CHRS, or None if the first symbols are the symbols of single bytes at every place."""
    match symbols:
        case None:
            return None
        case ClassTable(top):
            unit, places = layout.SymbolUnit.CHARACTER, len(top) // layout.CLASS_TOP
            counts, table = class_counts(symbols), levels(symbols, layout.SYMBOL.str)
        case _:
            unit, places = layout.SymbolUnit.BYTE, len(symbols)
            counts, table = {}, symbols.astype(layout.SYMBOL).tobytes()
    return struct(layout.CharactersHeader, unit=unit, place_count=places, **counts) + table


def token_index(tokens: TokenIndex) -> list[Part]:
    """TIDX."""
    slots = np.full(tokens.index.slot_count, NONE, layout.TOKEN_SLOT)
    slots[tokens.index.slots] = tokens.fingerprints.astype(np.uint32) << ID_BITS | tokens.ids
    displacements = tokens.index.displacements.astype(layout.DISPLACEMENT)
    header = struct(layout.IndexHeader, slot_count=len(slots), bucket_count=len(displacements))
    return [header, view(slots), view(displacements)]


def pair_index(pairs: PairIndex) -> list[Part]:
    """PIDX."""
    # One slot more than the rows need: a lookup in the last row reads a slot even if the row is
    # empty.
    slots = np.full(pairs.index.slot_count + 1, 0xFFFFFFFFFFFFFFFF, layout.PAIR_SLOT)
    slots[pairs.index.slots] = pairs.rules
    displacements = pairs.index.displacements.astype(layout.DISPLACEMENT)
    header = struct(
        layout.PairIndexHeader,
        slot_count=len(slots),
        bucket_count=len(displacements),
        row_shift=pairs.row_shift,
    )
    starts = pairs.index.starts.astype(layout.ROW_START)
    return [header, view(slots), view(starts), view(displacements)]


def crossings(value: Crossings | None) -> bytes | None:
    """XPRS, or None if the crossed boundaries are not known by characters."""
    if value is None:
        return None
    rule = layout.CrossingRule[value.rule]
    header = struct(layout.CrossingsHeader, rule=rule, bits=len(value.hashed).bit_length() - 1)
    return header + bits(value.dense) + bits(value.hashed)


def trie(tables: TrieTables) -> list[Part]:
    """TRIE."""
    header = struct(
        layout.TrieHeader,
        unit_count=len(tables.units),
        root=tables.root,
        continuation=tables.continuation,
        max_characters=tables.max_characters,
        unknown_score=tables.unknown_score,
        flags=layout.TrieFlag.SINGLE_PRECISION * tables.single_precision,
    )
    return [header, view(tables.units.astype(layout.TRIE_UNIT, copy=False))]
