"""BPE as tables: tokens by their bytes, merges by their pair."""

from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport._core import give_back_memory
from tokexport.compiler.hashing import build_index, hash_contents, hash_pairs
from tokexport.compiler.merges.byte_crossings import byte_crossings
from tokexport.compiler.merges.canonical import CanonicalMerges, canonical_merges
from tokexport.compiler.merges.crossings import crossings
from tokexport.compiler.merges.first_symbols import FirstSymbols
from tokexport.compiler.splits.class_table import class_table
from tokexport.compiler.tables import BytePairTables, ClassTable, PairIndex, TokenIndex, numbers_of
from tokexport.limits import MAX_IDS
from tokexport.model import BytePairModel, Tokens, Vocabulary
from tokexport.model.byte_strings import Numbers
from tokexport.unicode.store import CODE_POINTS

# Up to this many merges, the row starts would be larger than the index itself, which fits into a
# machine's caches.
FEW_MERGES: Final = 4096
# Two ids share a row: with one row per id, lookups are hardly faster, and the row starts take twice
# the space.
ROW_SHIFT: Final = 1
ID_BITS: Final = MAX_IDS.bit_length()
ONE_ROW: Final = ID_BITS
# For a token that no merge makes, as exporters for small runtimes do; others have -ln(rank + 1).
DEFAULT_SCORE: Final = -1e6
NO_SYMBOL: Final = 0xFFFFFFFF


def byte_pair_tables(
    model: BytePairModel, tokens: Tokens
) -> tuple[BytePairTables, npt.NDArray[np.float32]]:
    """Compiles BPE; returns the scores too. UnsupportedError if a token merges in two ways."""
    merges = canonical_merges(model)
    first, rules = merges.first, merges.rules
    crossed = None if model.characters is None else crossings(merges)
    single = _single_tokens(model, merges, tokens)
    del merges  # its ways take as much memory as the indexes
    give_back_memory()
    if model.characters is None:
        crossed = byte_crossings(Vocabulary.of(model.vocab), rules, first)
        give_back_memory()
    byte_ids = first.byte_ids if model.characters else map(first.tables[0].get, range(256))
    ranks = np.full(len(tokens), -1, np.int64)
    ranks[rules[:, 0]] = rules[:, 3]
    in_order = bool((np.diff(ranks[ranks >= 0]) > 0).all())
    tables = BytePairTables(
        ranks=None if in_order else ranks,
        byte_ids=numbers_of(byte_ids),
        characters=None if model.characters is None else _by_unit(first),
        tokens=_token_index(*single),
        pairs=pair_index(rules, len(tokens), ONE_ROW if len(rules) <= FEW_MERGES else ROW_SHIFT),
        crossings=crossed,
        longest=int(single[0].strings.sizes.max(initial=0)),
    )
    scores = -np.log(np.maximum(ranks, 0) + 1.0)
    return tables, np.where(ranks < 0, DEFAULT_SCORE, scores).astype(np.float32)


def _by_unit(first: FirstSymbols) -> ClassTable | npt.NDArray[np.int64]:
    """The first symbols by byte or by character, for each place."""
    if not first.of_characters:
        symbols = [[table.get(byte, -1) for byte in range(256)] for table in first.tables]
        return np.array(symbols, np.int64)
    values = np.full((len(first.tables), CODE_POINTS), NO_SYMBOL, np.uint32)
    for place, table in enumerate(first.tables):
        values[place, [ord(str(unit)) for unit in table]] = [*table.values()]
    return class_table(values)


def _single_tokens(
    model: BytePairModel, merges: CanonicalMerges, tokens: Tokens
) -> tuple[Vocabulary, Numbers]:
    """The pre-tokens that become one token, and which of them do so by merging."""
    if len(merges.first.tables) > 1 and not model.whole_pre_token_first:
        # The vocabulary includes affixes, pre-tokens do not.
        texts = merges.first.texts_of(merges.ways)
        keys = Vocabulary.of({text: token for token, text in texts.items()})
        return keys, np.array([*texts], np.int64)
    keys = Vocabulary.of(model.vocab).without_empty
    if not model.whole_pre_token_first:
        # A token such as <0x0A>, which its own spelling does not merge to and which decodes to
        # something else, is never looked up.
        others = np.flatnonzero(~np.isin(keys.ids, merges.whole))
        spelled = keys.at(others)
        is_other = spelled.strings.indices_of_others(tokens.contents.take(spelled.ids))
        is_other = is_other[~tokens.is_hole[spelled.ids[is_other]]]
        keys = keys.at(np.delete(np.arange(len(keys)), others[is_other]))
    return keys, merges.whole


def _token_index(keys: Vocabulary, whole: Numbers) -> TokenIndex:
    hashes = hash_contents(keys.strings)
    fingerprints = (hashes >> np.uint64(32 + ID_BITS)).astype(np.uint16)
    return TokenIndex(keys.strings, whole, keys.ids, fingerprints, build_index(hashes))


def pair_index(rules: Numbers, id_count: int, row_shift: int) -> PairIndex:
    """The merges by their pair; the row of a merge is its left id >> ``row_shift``."""
    merged, left, right = (rules[:, column].astype(np.uint64) for column in range(3))
    rows = (left >> np.uint64(row_shift)).astype(np.uint32)
    index = build_index(hash_pairs(left, right), rows, ((id_count - 1) >> row_shift) + 1)
    for part in (right, merged):
        left <<= np.uint64(ID_BITS)
        left |= part
    return PairIndex(left, row_shift, index)
