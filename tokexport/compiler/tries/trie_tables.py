"""Unigram, WordPiece, WordLevel and greedy models as tables: a trie over the vocabulary, and the
few numbers beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.tries.double_array import DoubleArray, double_array
from tokexport.errors import UnsupportedError
from tokexport.file.layout import NONE, ModelType, TrieFlag
from tokexport.model import GreedyModel, UnigramModel, WordLevelModel, WordPieceModel

TrieModel = UnigramModel | WordPieceModel | WordLevelModel | GreedyModel

_MAX_CHARACTERS: Final = 0xFFFFFFFF  # more than a text can have
_MAX_KEY: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class TrieTables:
    """A compiled model that looks pieces up in a trie.

    ``continuation``: base of the node after the prefix of WordPiece; 0: none. ``flags``: those of
    TrieFlag. ``byte_ids``: the tokens of the 256 bytes, NONE where there is none, or ``None``
    without byte fallback. ``longest``: the length of the longest key.
    """

    type: ModelType
    trie: DoubleArray
    longest: int
    continuation: int = 0
    max_characters: int = 0
    unknown_score: float = 0.0
    flags: int = 0
    byte_ids: npt.NDArray[np.uint32] | None = None


def trie_tables(model: TrieModel) -> TrieTables:
    """Compiles a model.

    Raises UnsupportedError for a key that is too long.
    """
    longest = _longest(model.vocab)
    trie = double_array(model.vocab)
    match model:
        case UnigramModel():
            flags = (
                TrieFlag.SINGLE_PRECISION * model.single_precision
                | TrieFlag.BYTE_CHARACTERS * model.on_bytes
            )
            return TrieTables(
                ModelType.UNIGRAM,
                trie,
                longest,
                unknown_score=model.unk_score,
                flags=flags,
                byte_ids=_byte_ids(model.byte_ids),
            )
        case WordPieceModel():
            return TrieTables(
                ModelType.WORDPIECE,
                trie,
                longest,
                continuation=trie.base_of(model.prefix),
                max_characters=min(model.max_characters, _MAX_CHARACTERS),
                flags=TrieFlag.BYTE_CHARACTERS * model.on_bytes,
            )
        case WordLevelModel():
            return TrieTables(ModelType.WORDLEVEL, trie, longest)
        case GreedyModel():
            return TrieTables(ModelType.GREEDY, trie, longest)


def _byte_ids(ids: tuple[int | None, ...] | None) -> npt.NDArray[np.uint32] | None:
    if ids is None:
        return None
    return np.array([NONE if token is None else token for token in ids], np.uint32)


def _longest(vocab: Mapping[bytes, int]) -> int:
    key = max(vocab, key=len, default=b"")
    if len(key) > _MAX_KEY:
        found = f"a token of {len(key)} bytes (id {vocab[key]})"
        raise UnsupportedError(
            "model.vocab", f"{found} is not supported", f"at most {_MAX_KEY} bytes are"
        )
    return len(key)
