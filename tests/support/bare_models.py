"""Models of the converter, from what a test writes down."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport.model import Model, Provenance, Reference, Token, TokenizerModel


def merge_rows(merges: Iterable[Sequence[int]] = ()) -> npt.NDArray[np.int64]:
    """Rows (left, right, product) as ``BytePairModel`` has them."""
    return np.array([*merges], np.int64).reshape(-1, 3)


def tokenizer_model(
    tokens: Iterable[Token | bytes | None],
    model: Model,
    reference: Reference = Reference.TOKENIZERS,
    **fields: Any,
) -> TokenizerModel:
    """A model with these tokens, or contents of tokens, of no source."""
    made = (Token(token) if isinstance(token, bytes) else token for token in tokens)
    return TokenizerModel(tuple(made), model, reference, Provenance("a test"), **fields)
