"""From a pre-token to ids: indexes, symbols and merges for BPE, a trie for other models."""

from typing import Final

import numpy as np
from construct import Struct

from tokexport.file.layout.declare import F64, U16, U32, Code, Flags, record, zeros
from tokexport.limits import MAX_IDS

ID_BITS: Final = MAX_IDS.bit_length()

# TIDX: this header, then the slots, then the displacements.
IndexHeader = Struct("slot_count" / U32, "bucket_count" / U32)
TOKEN_SLOT: Final = np.dtype("<u4")  # fingerprint << ID_BITS | id; all ones: empty
DISPLACEMENT: Final = np.dtype("<u2")

# KEYS: one per id.
KEY: Final = record(
    "offset" / U32 * "of the key in BYTS",
    "length" / U16 * "number of its bytes",
    "zero" / U16 * "zero",
)

# PIDX: this header, then the slots, then the starts of the rows and the end of the last row, then
# the displacements.
PairIndexHeader = Struct(
    "slot_count" / U32, "bucket_count" / U32, "row_shift" / U32, "reserved" / zeros(4)
)
PAIR_SLOT: Final = np.dtype("<u8")  # left << 42 | right << 21 | merged id; all ones: empty
ROW_START: Final = np.dtype("<u4")


class SymbolUnit(Code):
    """``characters.unit``: what a first symbol stands for."""

    CHARACTER = 0, "units are code points"
    BYTE = 1, "units are bytes"


# CHRS: this header, then for characters: top[272] u16 per place, middle[middle_count][64] u16,
# leaves[leaf_count][64] SYMBOL; for bytes: 256 SYMBOL per place.
CharactersHeader = Struct(
    "unit" / U32 * "a `SymbolUnit`",
    "place_count" / U32 * "1, or (rare) 4 if a symbol depends on the place of its unit",
    "middle_count" / U32 * "0 for bytes",
    "leaf_count" / U32 * "0 for bytes",
)
SYMBOL: Final = np.dtype("<u4")
PLACES: Final = 4  # first, inside, alone, last


class CrossingRule(Code):
    """``crossings.rule``: which of two characters must have a symbol for a cut between them."""

    NONE = 0, "the maps alone decide"
    ONE_KNOWN = 1, "and one of the two characters has a symbol"
    BOTH_KNOWN = 2, "and both characters have a symbol"
    BYTES = 3, "no CHRS: the first map has pairs of bytes"


# XPRS: this header, then 128 x 128 bits for ASCII, or 256 x 256 for bytes, then 1 << bits bits.
CrossingsHeader = Struct("rule" / U32, "bits" / U32)
CROSSINGS_ASCII: Final = 128 * 128 // 8
CROSSINGS_BYTES: Final = 256 * 256 // 8


class TrieFlag(Flags):
    """``trie.flags``."""

    SINGLE_PRECISION = 1 << 0, "UNIGRAM: sums are rounded to f32, unknown text is not looked up"


# TRIE: this header, then unit_count units. The child of a node with base b for byte c is unit b +
# c, if its label is c.
TrieHeader = Struct(
    "unit_count" / U32,
    "root" / U32 * "base of the root",
    "continuation" / U32 * "WORDPIECE: base of the node of the prefix; 0: nothing follows it",
    "max_characters" / U32 * "WORDPIECE: a longer pre-token is unknown",
    "unknown_score" / F64 * "UNIGRAM: score of a character that has no token",
    "flags" / U32 * "`TrieFlag`",
    "reserved" / zeros(4),
)
TRIE_UNIT: Final = np.dtype("<u8")  # base << 32 | id << LABEL_BITS | label
LABEL_BITS: Final = 9
NO_LABEL: Final = 256  # of a unit that is not a node
NO_TOKEN: Final = MAX_IDS  # instead of an id: no token ends here
