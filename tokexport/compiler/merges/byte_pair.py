"""BPE as tables: the tokens by their bytes, the merges by their pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.hashing import (
    PerfectIndex,
    build_index,
    build_rows,
    hash_contents,
    hash_pairs,
)
from tokexport.compiler.merges.canonical import CanonicalMerges, canonical_merges
from tokexport.compiler.merges.crossings import Crossings, crossings
from tokexport.compiler.merges.first_symbols import FirstSymbols, first_symbols
from tokexport.compiler.merges.pair_grid import PairGrid, pair_grid
from tokexport.file.layout import ID_BITS, NONE
from tokexport.model import BytePairModel, Token

Parts = tuple[tuple[int, int], ...]  # ids, and how many bytes of the text each stands for

# Up to so many merges, the tables for speed would be larger than the index itself, which a
# machine's caches hold.
FEW_MERGES: Final = 4096
# Two ids share a row: with a row each, look-ups are hardly faster, and the starts of the rows take
# twice the room.
ROW_SHIFT: Final = 1
ONE_ROW: Final = ID_BITS


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by the piece that becomes them: ``ids[i]`` has hash ``hashes[i]`` and slot
    ``index.slots[i]``.

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
    """Merges by their pair: ``left[i]``, ``right[i]`` give ``product[i]`` and have slot
    ``index.slots[i]``.

    They are in row ``left[i] >> row_shift``.
    """

    left: npt.NDArray[np.uint64]
    right: npt.NDArray[np.uint64]
    product: npt.NDArray[np.uint64]
    row_shift: int
    index: PerfectIndex


@dataclass(frozen=True, slots=True)
class BytePairTables:
    """A compiled :class:`BytePairModel`.

    ``byte_ids``: the token of each single byte, or NONE. ``characters``: the first symbols, where
    they are not just those. ``unused``: of the unused tokens that merges make, those that they
    become, each with the number of bytes that it stands for.
    """

    merges: CanonicalMerges
    byte_ids: npt.NDArray[np.uint32]
    characters: FirstSymbols | None
    tokens: TokenIndex
    pairs: PairIndex
    grid: PairGrid | None
    crossings: Crossings | None
    unused: Mapping[int, Parts]


def byte_pair_tables(model: BytePairModel, tokens: Sequence[Token | None]) -> BytePairTables:
    """Compiles BPE; ``tokens`` says what each id decodes to.

    Raises UnsupportedError where a token can be merged in two ways.
    """
    merges = canonical_merges(model)
    first = first_symbols(model)
    few = len(merges.rules) <= FEW_MERGES
    unused = taken_apart(model, merges)
    byte_ids = (
        [first.tables[0].get(byte) for byte in range(256)]
        if model.characters is None
        else list(first.byte_ids)
    )
    return BytePairTables(
        merges=merges,
        byte_ids=np.array([NONE if number is None else number for number in byte_ids], np.uint32),
        characters=None if model.characters is None else first,
        tokens=_token_index(*_pieces(model, merges, first, tokens, unused)),
        pairs=pair_index(merges, len(tokens), ONE_ROW if few else ROW_SHIFT),
        grid=None if few or merges.unknown else pair_grid(merges, first),
        crossings=crossings(merges, first),
        unused=unused,
    )


def taken_apart(model: BytePairModel, merges: CanonicalMerges) -> dict[int, Parts]:
    """What the unused tokens become that merges make: the two that were merged, and these in the
    same way; a character its bytes, or the unknown token.

    The library remembers of an unused token's text which two it last saw side by side that make it,
    anywhere in the text. That can only be the canonical pair: until the two stand side by side
    nothing has been merged across their ends, so what was merged between the ends is what would be
    merged there alone, in the same order; and alone, two symbols are left just once.
    """
    lengths = {number: len(key) for key, number in model.vocab.items()}
    byte_ids = model.characters.byte_ids if model.characters is not None else None
    unused: dict[int, Parts] = {}
    for key, number in model.vocab.items():
        if number in model.unused and byte_ids is not None and len(key.decode()) == 1:
            unused[number] = tuple(
                (found, 1) for byte in key if (found := byte_ids[byte]) is not None
            )
        elif number in model.unused and model.unk_id is not None and len(key.decode()) == 1:
            unused[number] = ((model.unk_id, len(key)),)
    for number in sorted(
        model.unused & merges.rules.keys(), key=lambda number: (lengths[number], number)
    ):
        parts = [
            found
            for part in merges.rules[number]
            for found in unused.get(part, ((part, lengths[part]),))
        ]
        unused[number] = tuple(_fused(parts, model.unk_id) if model.fuse_unk else parts)
    return unused


def _fused(parts: Sequence[tuple[int, int]], unk_id: int | None) -> Iterator[tuple[int, int]]:
    """Neighbouring unknown parts as one."""
    for number, run in itertools.groupby(parts, lambda part: part[0]):
        if number == unk_id:
            yield number, sum(length for _, length in run)
        else:
            yield from run


def _pieces(
    model: BytePairModel,
    merges: CanonicalMerges,
    first: FirstSymbols,
    tokens: Sequence[Token | None],
    unused: Mapping[int, Parts],
) -> tuple[dict[bytes, int], frozenset[int]]:
    """The pieces that become one token, and which of them become it by merging."""
    if len(first.tables) > 1 and not model.whole_pre_token_first:
        # The vocabulary spells affixes, pieces do not have them.
        texts = first.texts_of(merges.ways)
        return {text: token for token, text in texts.items()}, frozenset(texts)
    pieces = {key: token for key, token in model.vocab.items() if key and token not in unused}
    if not model.whole_pre_token_first:
        # A token that its spelling does not become, and that decodes to something else, as <0x0A>,
        # is never looked for.
        for key, token in [*pieces.items()]:
            if (
                token not in merges.whole
                and (entry := tokens[token]) is not None
                and entry.content != key
            ):
                del pieces[key]
    return pieces, merges.whole - unused.keys()


def _token_index(pieces: Mapping[bytes, int], whole: frozenset[int]) -> TokenIndex:
    hashes = hash_contents([*pieces])
    ids = np.array([*pieces.values()], np.uint64)
    keys = {token: piece for piece, token in pieces.items()}
    return TokenIndex(
        keys, whole, ids, hashes, build_index(hashes), max(map(len, pieces), default=0)
    )


def pair_index(merges: CanonicalMerges, id_count: int, row_shift: int) -> PairIndex:
    """The merges by their pair; left ids that differ in ``row_shift`` low bits only share a row."""
    product = np.array([*merges.rules, *(made for _, _, made in merges.unknown)], np.uint64)
    pairs = np.array(
        [*merges.rules.values(), *(pair for *pair, _ in merges.unknown)], np.uint64
    ).reshape(-1, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    rows = (left >> np.uint64(row_shift)).astype(np.int64)
    index = build_rows(hash_pairs(left, right), rows, ((id_count - 1) >> row_shift) + 1)
    return PairIndex(left, right, product, row_shift, index)
