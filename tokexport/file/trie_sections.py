"""TRIE and the scores of the models that look pieces up in it (layout:
:mod:`tokexport.file.layout`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.tries.trie_tables import TrieTables
from tokexport.file.layout import ModelType
from tokexport.model import (
    BytePairModel,
    GreedyModel,
    Model,
    TokenizerModel,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)

MODEL_TYPES: Final[Mapping[type[Model], ModelType]] = MappingProxyType(
    {
        BytePairModel: ModelType.BPE,
        UnigramModel: ModelType.UNIGRAM,
        WordPieceModel: ModelType.WORDPIECE,
        WordLevelModel: ModelType.WORDLEVEL,
        GreedyModel: ModelType.GREEDY,
    }
)


def trie(tables: TrieTables) -> bytes:
    """TRIE."""
    header: bytes = layout.TrieHeader.build(
        {
            "unit_count": len(tables.trie.units),
            "root": tables.trie.root,
            "continuation": tables.continuation,
            "max_characters": tables.max_characters,
            "unknown_score": tables.unknown_score,
            "flags": tables.flags,
            "reserved": None,
        }
    )
    return header + tables.trie.units.astype(layout.TRIE_UNIT).tobytes()


def scores(model: TokenizerModel, wanted: bool) -> tuple[bytes | None, bytes | None]:
    """SCOR and SC64, for a Unigram model; both None for another one, which has no scores.

    A model whose scores are 32-bit numbers needs SCOR alone, another one needs SC64, and gets SCOR
    where it is ``wanted``.
    """
    if not isinstance(model.model, UnigramModel):
        return None, None
    values = np.zeros(len(model.tokens), layout.DOUBLE_SCORE)
    for token, score in model.model.scores.items():
        values[token] = score
    with np.errstate(over="ignore"):
        single = values.astype(layout.SCORE)
    exact = bool((single.astype(np.float64) == values).all())
    return single.tobytes() if exact or wanted else None, None if exact else values.tobytes()
