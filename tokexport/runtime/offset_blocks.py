"""Encoding a long text with the offsets of its ids, block by block."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from tokexport.runtime.offsets import NumpyEncoding

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import AllowedSpecial, Tokenizer, Unit

BLOCK: Final = 1 << 18  # bytes of text that are encoded at once
BACK: Final = (0, 64, 4096)  # bytes before a cut, at least, that are encoded twice


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Consecutive ids of a text."""

    ids: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]  # (ids, 2)
    size: int  # bytes of text
    is_last: bool


def offset_blocks(
    tokenizer: Tokenizer,
    parts: Iterable[bytes],
    *,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
    unit: Unit = "char",
) -> Iterator[Block]:
    """The ids and offsets of a text that arrives in parts, like
    ``Tokenizer.encode_with_offsets_to_numpy``; in constant memory if the text can be cut.

    Where the ids after a cut may have other offsets, the text before it is encoded once more with
    them, from an earlier cut, and must give the same offsets: a prefix of the text, or white space
    that is trimmed, affects the first id only, and a charsmap that drops the first characters of a
    text moves all its offsets: these characters are put before the next block, too. The last id
    before such a cut is returned with the next block: unknown words of SentencePiece, which are one
    id, may go on there. What else SentencePiece carries over a cut goes on from block to block.
    """

    core = tokenizer._core

    carried = 0.0  # to the start of the window

    def encoded(data: bytes, carry: float, template: bool = False) -> tuple[NumpyEncoding, float]:
        how = allowed_special, template, unit == "char", carry
        *arrays, after = core.encode_spans_numpy((data.decode(),), *how)
        return NumpyEncoding(*arrays), after

    def length(data: bytes) -> int:
        return len(data.decode()) if unit == "char" else len(data)

    def without_ids(data: bytes) -> bytes:
        """The start of a text that has no ids, at most 64 bytes."""
        text = data[:64].decode(errors="ignore")
        starts = (text[:size].encode() for size in range(len(text), 0, -1))
        return next((start for start in starts if not len(encoded(start, 0.0)[0].ids)), b"")

    def context_of(left: bytes, found: NumpyEncoding) -> tuple[int, bytes, float, int] | None:
        """Where to start before a cut, what to put there, what is carried there, and the number of
        ids from there to the last one before the cut; ``found``: those of ``left``.
        """
        of_text = found.special_tokens_mask == 0
        for back in BACK:  # white space may have no ids
            middle = core.last_cut(left[: len(left) - back])
            start = core.last_cut(left[: max(0, middle - back)])
            if not start:
                return None
            carry = encoded(left[:start], carried)[1] if core.has_carry else 0.0
            first = len(encoded(left[start:middle], carry)[0].ids)
            for is_moved in (False, True):
                dropped = without_ids(left) if is_moved else b""
                again, _ = encoded(dropped + left[start:], carry)
                tail = slice(first - len(again.ids), None)
                offsets = again.offsets[first:] + np.int64(length(left[:start]) - length(dropped))
                same = np.array_equal(again.ids[first:], found.ids[of_text][tail])
                same = same and np.array_equal(offsets, found.offsets[of_text][tail])
                if same and 0 < first < len(again.ids):
                    return start, dropped, carry, len(again.ids) - 1
        return None

    window, enough = b"", BLOCK
    size = start = 0  # where the window starts, in bytes and in units
    context = known = 0  # in the window, how many bytes and ids were returned
    before: int | None = None  # how many ids the template has before the text

    def block(data: bytes, found: NumpyEncoding, *, held: int = 0, is_last: bool = False) -> Block:
        nonlocal before
        is_text = found.special_tokens_mask == 0
        of_text = np.flatnonzero(is_text)
        end = len(is_text) if is_last else int(of_text[-1]) + 1 - held if of_text.size else 0
        ids = slice(0 if before is None else before + known, end)
        if before is None and of_text.size:
            before = int(of_text[0])
        offsets = found.offsets + is_text[:, None] * np.int64(start)
        return Block(found.ids[ids], offsets[ids], len(data) - context, is_last)

    for part in parts:
        window += part
        if len(window) < enough:
            continue
        enough = 2 * len(window)
        cut = core.last_cut(window) if _is_utf8(window) else 0
        if cut <= context:
            continue
        left = window[:cut]
        found, carry = encoded(left, carried, add_special_tokens)
        next_context = (cut, b"", carry, 0) if core.cuts_are_exact else context_of(left, found)
        if next_context is None:
            continue
        yield block(left, found, held=not core.cuts_are_exact)
        at, dropped, carried, known = next_context
        start += length(left[:at]) - length(dropped)
        size += at - len(dropped)
        window = dropped + window[at:]
        context = cut - at + len(dropped)
        enough = context + BLOCK
    try:
        found, _ = encoded(window, carried, add_special_tokens)
    except UnicodeDecodeError as error:
        error.start += size
        raise
    yield block(window, found, is_last=True)


def _is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8, except that the last character may be incomplete."""
    try:
        codecs.utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True
