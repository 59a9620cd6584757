"""What encoding says of each id besides the id itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Encoding:
    """The ids of a text or of a pair, and for each where it comes from, in lists of one length.

    ``offsets[i]`` is the (start, end) of ``ids[i]`` in its text, end not included, and (0, 0) for
    an id of the post-processor's template. ``type_ids``: the segment that the template puts an id
    into. ``special_tokens_mask``: 1 for an id of the template, 0 for one that stands for text.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]
    type_ids: list[int]
    special_tokens_mask: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class NumpyEncoding:
    """An :class:`Encoding` as arrays of uint32: ``offsets`` (ids, 2), the others ``(ids,)``."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    type_ids: NDArray[np.uint32]
    special_tokens_mask: NDArray[np.uint32]
