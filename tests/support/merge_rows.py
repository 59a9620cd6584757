"""The merges of a model, from what a test writes down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt


def merge_rows(merges: Iterable[Sequence[int]] = ()) -> npt.NDArray[np.int64]:
    """Rows (left, right, product) as ``BytePairModel`` has them."""
    return np.array([*merges], np.int64).reshape(-1, 3)
