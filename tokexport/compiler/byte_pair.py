"""BPE as tables: the tokens by their bytes, the merges by their pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.compiler.crossings import Crossings, crossings
from tokexport.compiler.first_symbols import FirstSymbols, first_symbols
from tokexport.compiler.hashing import PerfectIndex, build_index, hash_contents, hash_pairs
from tokexport.compiler.merges import CanonicalMerges, canonical_merges
from tokexport.layout import NONE
from tokexport.model import BytePairModel, Token


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by the piece that becomes them: ``ids[i]`` has hash ``hashes[i]`` and slot ``index.slots[i]``.

    ``keys`` are the pieces, by id; ``whole`` the ids whose piece merges to just that id.
    """

    keys: Mapping[int, bytes]
    whole: frozenset[int]
    ids: npt.NDArray[np.uint64]
    hashes: npt.NDArray[np.uint64]
    index: PerfectIndex
    longest: int


@dataclass(frozen=True, slots=True)
class PairIndex:
    """Merges by their pair: ``left[i]``, ``right[i]`` give ``product[i]`` and have slot ``index.slots[i]``."""

    left: npt.NDArray[np.uint64]
    right: npt.NDArray[np.uint64]
    product: npt.NDArray[np.uint64]
    index: PerfectIndex


@dataclass(frozen=True, slots=True)
class BytePairTables:
    """A compiled :class:`BytePairModel`.

    ``byte_ids``: the token of each single byte, or NONE. ``characters``: the first symbols, where they are not just those.
    """

    merges: CanonicalMerges
    byte_ids: npt.NDArray[np.uint32]
    characters: FirstSymbols | None
    tokens: TokenIndex
    pairs: PairIndex
    crossings: Crossings | None


def byte_pair_tables(model: BytePairModel, tokens: Sequence[Token | None] = ()) -> BytePairTables:
    """Compiles BPE; ``tokens`` says what each id decodes to.

    Raises UnsupportedError where a token can be merged in two ways.
    """
    merges = canonical_merges(model)
    first = first_symbols(model)
    byte_ids = [first.tables[0].get(byte) for byte in range(256)] if model.characters is None else list(first.byte_ids)
    return BytePairTables(
        merges=merges,
        byte_ids=np.array([NONE if number is None else number for number in byte_ids], np.uint32),
        characters=None if model.characters is None else first,
        tokens=_token_index(*_pieces(model, merges, first, tokens)),
        pairs=_pair_index(merges),
        crossings=crossings(merges, first),
    )


def _pieces(
    model: BytePairModel, merges: CanonicalMerges, first: FirstSymbols, tokens: Sequence[Token | None]
) -> tuple[dict[bytes, int], frozenset[int]]:
    """The pieces that become one token, and which of them become it by merging."""
    if len(first.tables) > 1 and not model.whole_piece_first:
        # The vocabulary spells affixes, pieces do not have them.
        texts = first.texts_of(merges.ways)
        return {text: token for token, text in texts.items()}, frozenset(texts)
    pieces = {key: token for key, token in model.vocab.items() if key}
    if tokens and not model.whole_piece_first:
        # A token that its spelling does not become, and that decodes to something else, as <0x0A>, is never looked for.
        for key, token in [*pieces.items()]:
            if token not in merges.whole and (entry := tokens[token]) is not None and entry.content != key:
                del pieces[key]
    return pieces, merges.whole


def _token_index(pieces: Mapping[bytes, int], whole: frozenset[int]) -> TokenIndex:
    hashes = hash_contents([*pieces])
    ids = np.array([*pieces.values()], np.uint64)
    keys = {token: piece for piece, token in pieces.items()}
    return TokenIndex(keys, whole, ids, hashes, build_index(hashes), max(map(len, pieces), default=0))


def _pair_index(merges: CanonicalMerges) -> PairIndex:
    product = np.array(list(merges.rules), np.uint64)
    pairs = np.array(list(merges.rules.values()), np.uint64).reshape(-1, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    return PairIndex(left, right, product, build_index(hash_pairs(left, right)))
