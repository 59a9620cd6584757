"""Models of the converter, built from literals in a test."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport.model import Model, Provenance, Reference, Token, TokenizerModel


def merge_rows(merges: Iterable[Sequence[int]] = ()) -> npt.NDArray[np.int64]:
    """Rows (left, right, merged id), as in ``BytePairModel``."""
    return np.array([*merges], np.int64).reshape(-1, 3)


def tokenizer_model(
    tokens: Iterable[Token | bytes | None],
    model: Model,
    reference: Reference = Reference.TOKENIZERS,
    **fields: Any,
) -> TokenizerModel:
    """A model with these tokens, or token contents, without a source."""
    wrapped = (Token(token) if isinstance(token, bytes) else token for token in tokens)
    return TokenizerModel(tuple(wrapped), model, reference, Provenance("a test"), **fields)
