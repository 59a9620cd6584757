"""Methods of a tokenizer: from text to ids with their offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokexport.runtime.encoding import Encoding, NumpyEncoding

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import AllowedSpecial, Tokenizer, Unit


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
