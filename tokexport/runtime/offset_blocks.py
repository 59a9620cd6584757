"""Encoding a long text with the offsets of its ids, block by block."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

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
    text = _Text(tokenizer, allowed_special, add_special_tokens, unit)
    for part in parts:
        text.window += part
        if len(text.window) >= text.enough and (block := text.next_block()) is not None:
            yield block
    yield text.last_block()


# Where to start before a cut, what to put there, what is carried there, and the number of ids from
# there to the last one before the cut.
_Context: TypeAlias = tuple[int, bytes, float, int]


class _Text:
    """The window of a text that is not returned yet, after what it depends on."""

    def __init__(
        self, tokenizer: Tokenizer, allowed_special: AllowedSpecial, template: bool, unit: Unit
    ) -> None:
        self._core = tokenizer._core
        self._allowed_special, self._template = allowed_special, template
        self._is_char = unit == "char"
        self.window, self.enough = b"", BLOCK
        self._carried = 0.0  # to the start of the window
        self._size = self._start = 0  # where the window starts, in bytes and in units
        self._context = self._known = 0  # in the window, how many bytes and ids were returned
        self._before: int | None = None  # how many ids the template has before the text

    def next_block(self) -> Block | None:
        """The ids up to the last cut, if the ids after it can be found without the text before."""
        self.enough = 2 * len(self.window)
        cut = self._core.last_cut(self.window) if _is_utf8(self.window) else 0
        if cut <= self._context:
            return None
        left, is_exact = self.window[:cut], self._core.cuts_are_exact
        found, carry = self._encoded(left, self._carried, self._template)
        context = (cut, b"", carry, 0) if is_exact else self._context_of(left, found)
        if context is None:
            return None
        block = self._block(left, found, held=not is_exact)
        at, dropped, self._carried, self._known = context
        self._start += self._length(left[:at]) - self._length(dropped)
        self._size += at - len(dropped)
        self.window = dropped + self.window[at:]
        self._context = cut - at + len(dropped)
        self.enough = self._context + BLOCK
        return block

    def last_block(self) -> Block:
        try:
            found, _ = self._encoded(self.window, self._carried, self._template)
        except UnicodeDecodeError as error:
            error.start += self._size
            raise
        return self._block(self.window, found, is_last=True)

    def _block(
        self, data: bytes, found: NumpyEncoding, *, held: int = 0, is_last: bool = False
    ) -> Block:
        is_text = found.special_tokens_mask == 0
        of_text = np.flatnonzero(is_text)
        end = len(is_text) if is_last else int(of_text[-1]) + 1 - held if of_text.size else 0
        ids = slice(0 if self._before is None else self._before + self._known, end)
        if self._before is None and of_text.size:
            self._before = int(of_text[0])
        offsets = found.offsets + is_text[:, None] * np.int64(self._start)
        return Block(found.ids[ids], offsets[ids], len(data) - self._context, is_last)

    def _context_of(self, left: bytes, found: NumpyEncoding) -> _Context | None:
        """The context of a cut after ``left``, whose ids are ``found``."""
        of_text = found.special_tokens_mask == 0
        for back in BACK:  # white space may have no ids
            middle = self._core.last_cut(left[: len(left) - back])
            start = self._core.last_cut(left[: max(0, middle - back)])
            if not start:
                return None
            has_carry = self._core.has_carry
            carry = self._encoded(left[:start], self._carried)[1] if has_carry else 0.0
            first = len(self._encoded(left[start:middle], carry)[0].ids)
            for is_moved in (False, True):
                dropped = self._without_ids(left) if is_moved else b""
                again, _ = self._encoded(dropped + left[start:], carry)
                tail = slice(first - len(again.ids), None)
                moved = self._length(left[:start]) - self._length(dropped)
                offsets = again.offsets[first:] + np.int64(moved)
                same = np.array_equal(again.ids[first:], found.ids[of_text][tail])
                same = same and np.array_equal(offsets, found.offsets[of_text][tail])
                if same and 0 < first < len(again.ids):
                    return start, dropped, carry, len(again.ids) - 1
        return None

    def _without_ids(self, data: bytes) -> bytes:
        """The start of a text that has no ids, at most 64 bytes."""
        text = data[:64].decode(errors="ignore")
        starts = (text[:size].encode() for size in range(len(text), 0, -1))
        return next((start for start in starts if not len(self._encoded(start, 0.0)[0].ids)), b"")

    def _encoded(
        self, data: bytes, carry: float, template: bool = False
    ) -> tuple[NumpyEncoding, float]:
        how = self._allowed_special, template, self._is_char, carry
        *arrays, after = self._core.encode_spans_numpy((data.decode(),), *how)
        return NumpyEncoding(*arrays), after

    def _length(self, data: bytes) -> int:
        return len(data.decode()) if self._is_char else len(data)


def _is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8, except that the last character may be incomplete."""
    try:
        codecs.utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True
