"""numpy views of a file's tables: not copied, and read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokexport.file import layout

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Tokenizer


def _view(self: Tokenizer, tag: bytes, row: str) -> NDArray[Any] | None:
    """A section as a read-only array of the layout's type ``row``; ``None`` if there is none."""
    dtype: np.dtype[Any] = getattr(layout, row)
    extent = self._core.section(tag)
    if extent is None:
        return None
    offset, size = extent
    return np.frombuffer(self._data, dtype, size // dtype.itemsize, offset)


def section_sizes(data: bytes | memoryview) -> list[tuple[str, int]]:
    """Tag and size in bytes of each section, in the order of the file."""
    header = layout.Header.parse(data[: layout.Header.sizeof()])
    start, size = layout.Header.sizeof(), layout.Section.sizeof()
    entries = (start + i * size for i in range(header.section_count))
    sections = (layout.Section.parse(data[at : at + size]) for at in entries)
    return [(section.tag.decode("ascii", "backslashreplace"), section.size) for section in sections]
