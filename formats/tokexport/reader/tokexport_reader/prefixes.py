"""Ids by the bytes that they begin with: SORT (EXTRA.md)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from .data import TokexportError, require, u32s
from .file import File


def prefix_ids(file: File, prefix: bytes) -> list[int]:
    """The ids whose bytes begin with a prefix, in the order of their bytes."""
    require(b"SORT" in file.sections, "TKX_E_NOT_FOUND")
    order = u32s(file.sections[b"SORT"], 0, file.header.token_count)

    def beginning(token: int) -> bytes:
        try:
            return file.token_bytes(token)[: len(prefix)]
        except TokexportError:
            raise TokexportError("TKX_E_CORRUPT") from None

    begin = bisect_left(order, prefix, key=beginning)
    return [*order[begin : bisect_right(order, prefix, lo=begin, key=beginning)]]
