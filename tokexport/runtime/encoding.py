"""The result of encoding with offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Encoding:
    """The ids of a text or of a pair and where each comes from, in lists of equal length.

    ``offsets[i]`` is the (start, end) of ``ids[i]`` in its text, end not included, and (0, 0) for
    an id of the post-processor's template. ``type_ids``: the type id that the template gives each
    id. ``special_tokens_mask``: 1 for an id of the template, 0 for an id of the text.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]
    type_ids: list[int]
    special_tokens_mask: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class NumpyEncoding:
    """An :class:`Encoding` as uint32 arrays: ``offsets`` is ``(ids, 2)``, all others ``(ids,)``."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    type_ids: NDArray[np.uint32]
    special_tokens_mask: NDArray[np.uint32]
