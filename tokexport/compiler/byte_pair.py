"""BPE as tables: the tokens by their bytes, the merges by their pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.compiler.hashing import PerfectIndex, build_index, hash_contents, hash_pairs
from tokexport.compiler.merges import CanonicalMerges, canonical_merges
from tokexport.layout import NONE
from tokexport.model import BytePairModel


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by their bytes: ``ids[i]`` has hash ``hashes[i]`` and slot ``index.slots[i]``."""

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
    """A compiled :class:`BytePairModel`. ``byte_ids``: the token of each single byte, or NONE."""

    merges: CanonicalMerges
    byte_ids: npt.NDArray[np.uint32]
    tokens: TokenIndex
    pairs: PairIndex


def byte_pair_tables(model: BytePairModel) -> BytePairTables:
    """Compiles BPE.

    Raises UnsupportedError where the unknown token takes part in merges.
    """
    merges = canonical_merges(model)
    return BytePairTables(
        merges=merges,
        byte_ids=np.array([model.vocab.get(bytes([byte]), NONE) for byte in range(256)], np.uint32),
        tokens=_token_index(model.vocab),
        pairs=_pair_index(merges),
    )


def _token_index(vocab: Mapping[bytes, int]) -> TokenIndex:
    contents = [content for content in vocab if content]
    hashes = hash_contents(contents)
    ids = np.array([vocab[content] for content in contents], np.uint64)
    return TokenIndex(ids, hashes, build_index(hashes), max(map(len, contents), default=0))


def _pair_index(merges: CanonicalMerges) -> PairIndex:
    product = np.array(list(merges.rules), np.uint64)
    pairs = np.array(list(merges.rules.values()), np.uint64).reshape(-1, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    return PairIndex(left, right, product, build_index(hash_pairs(left, right)))
