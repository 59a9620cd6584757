"""From text to ids with their offsets: methods of a tokenizer, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokexport.runtime.tokenizer import AllowedSpecial, Tokenizer, Unit


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


def encode_with_offsets(
    self: Tokenizer,
    text: str,
    *,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
    unit: Unit = "char",
) -> Encoding:
    """Like :meth:`encode`, with the offsets of each id, as in the source's own library.

    ``unit``: offsets count characters (code points), or bytes of UTF-8. An id for part of a
    character has the offsets of the whole one. Raises ``FormatError`` for a file without offsets.

    >>> tokenizer.encode_with_offsets("hello world").offsets
    [(0, 5), (5, 11)]
    >>> tokenizer.encode_with_offsets("☃!").offsets
    [(0, 1), (0, 1), (0, 1), (1, 2)]
    >>> tokenizer.encode_with_offsets("☃!", unit="byte").offsets
    [(0, 3), (0, 3), (0, 3), (3, 4)]
    """
    how = (text,), allowed_special, add_special_tokens, _is_char(unit)
    return Encoding(*self._core.encode_spans(*how))


def encode_pair_with_offsets(
    self: Tokenizer,
    first: str,
    second: str,
    *,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = True,
    unit: Unit = "char",
) -> Encoding:
    """Like :meth:`encode_pair`, with the offsets of each id in its own text.

    >>> encoding = tokenizer.encode_pair_with_offsets("hello", " world")
    >>> encoding.offsets, encoding.type_ids
    ([(0, 5), (0, 6)], [0, 1])
    """
    how = (first, second), allowed_special, add_special_tokens, _is_char(unit)
    return Encoding(*self._core.encode_spans(*how))


def encode_with_offsets_to_numpy(
    self: Tokenizer,
    text: str,
    *,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
    unit: Unit = "char",
) -> NumpyEncoding:
    """Like :meth:`encode_with_offsets`, but returns numpy arrays.

    >>> tokenizer.encode_with_offsets_to_numpy("hello world").offsets
    array([[ 0,  5],
           [ 5, 11]], dtype=uint32)
    """
    how = (text,), allowed_special, add_special_tokens, _is_char(unit)
    return NumpyEncoding(*self._core.encode_spans_numpy(*how)[:-1])


def _is_char(unit: Unit) -> bool:
    if unit not in ("char", "byte"):
        raise ValueError(f'unit must be "char" or "byte", not {unit!r}')
    return unit == "char"
