"""Locates a tokexport file inside a larger one: `tokexport embed` writes it last, followed by its
size and a mark, so that finding it needs no reader of the larger format.
"""

import os

from tokexport.errors import reading
from tokexport.runtime.tokenizer import MAGIC

TAIL_MARK = b"TKXTAIL\0"
TAIL_SIZE = 16  # the size as u64, and the mark


def tail(size: int) -> bytes:
    """The last bytes of the larger file, after an embedded file of ``size`` bytes.

    >>> tail(2).hex()
    '0200000000000000544b585441494c00'
    """
    return size.to_bytes(8, "little") + TAIL_MARK


def embedded_extent(data: bytes | memoryview) -> tuple[int, int] | None:
    """The begin and the end of a file embedded in a larger one, or None.

    >>> embedded_extent(b"model" + b"{}" + tail(2))
    (5, 7)
    """
    end = len(data) - TAIL_SIZE
    if end < 0 or data[end + 8 :] != TAIL_MARK:
        return None
    size = int.from_bytes(data[end : end + 8], "little")
    return (end - size, end) if size <= end else None


def embedded(data: bytes | memoryview) -> bytes | memoryview:
    """The file embedded in a larger one, in place; ``data`` itself if there is none."""
    extent = embedded_extent(data)
    return data if extent is None else memoryview(data)[slice(*extent)]


def is_tokexport_file(source: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a tokexport file, however damaged, or has one at its end."""
    if not os.path.isfile(source):
        return False
    with reading(source), open(source, "rb") as file:
        begins = file.read(4) == MAGIC[:4]
        file.seek(max(0, os.path.getsize(source) - TAIL_SIZE))
        return begins or file.read().endswith(TAIL_MARK)
