"""Models other than BPE as tables: a trie over the vocabulary, and a few numbers beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.tables import TrieTables
from tokexport.compiler.tries.double_array import base_of, double_array
from tokexport.errors import UnsupportedError
from tokexport.limits import MAX_TOKEN_BYTES
from tokexport.model import GreedyModel, UnigramModel, WordLevelModel, WordPieceModel

TrieModel = UnigramModel | WordPieceModel | WordLevelModel | GreedyModel

_MAX_CHARACTERS: Final = 0xFFFFFFFF  # more than a text can have


def trie_tables(model: TrieModel) -> TrieTables:
    """Compiles a model. UnsupportedError for a key that is too long."""
    longest = _longest(model.vocab)
    trie = double_array(model.vocab)
    match model:
        case UnigramModel():
            return TrieTables(
                trie,
                longest,
                unknown_score=model.unk_score,
                single_precision=model.single_precision,
                on_bytes=model.on_bytes,
                byte_ids=_byte_ids(model.byte_ids),
            )
        case WordPieceModel():
            return TrieTables(
                trie,
                longest,
                continuation=base_of(trie, model.prefix),
                max_characters=min(model.max_characters, _MAX_CHARACTERS),
                on_bytes=model.on_bytes,
            )
        case _:
            return TrieTables(trie, longest)


def _byte_ids(ids: tuple[int | None, ...] | None) -> npt.NDArray[np.int64] | None:
    if ids is None:
        return None
    return np.array([-1 if token is None else token for token in ids], np.int64)


def _longest(vocab: Mapping[bytes, int]) -> int:
    key = max(vocab, key=len, default=b"")
    if len(key) > MAX_TOKEN_BYTES:
        found = f"a token of {len(key)} bytes (id {vocab[key]})"
        raise UnsupportedError(
            "model.vocab", f"{found} is not supported", f"at most {MAX_TOKEN_BYTES} bytes are"
        )
    return len(key)
