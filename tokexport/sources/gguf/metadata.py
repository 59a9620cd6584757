"""The metadata of a GGUF file, values by name, read with the ``gguf`` package
(https://pypi.org/project/gguf/).

The package trusts the file: it reads short arrays after the end of it, and counts on in them
without end. So what it reads is held against the size of the file here. The tensors are not looked
at, so that a type of tensor that the package does not know is no matter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFValueType, ReaderField

from tokexport.errors import SourceError

# A number, a flag, a text, or a list of one of these.
Value = Any


def read_metadata(path: Path, prefixes: tuple[str, ...]) -> dict[str, Value]:
    """The values whose names begin with one of ``prefixes``. SourceError for a file that is
    damaged, or of a version that is not known.
    """
    try:
        fields = _MetadataReader(path).fields
        return {name: _value(field) for name, field in fields.items() if name.startswith(prefixes)}
    except (ValueError, KeyError, IndexError, OverflowError, RecursionError, MemoryError) as error:
        what = error.args[0] if error.args else type(error).__name__
        raise SourceError(f"{path}: the package `gguf` cannot read it: {what}") from None


class _MetadataReader(GGUFReader):
    """Reads what stands before the tensors, and never after the end of the file."""

    def _get(self, offset: int, dtype: Any, count: int = 1, override_order: Any = None) -> Any:
        size = np.dtype(dtype).itemsize * int(count)
        if size > len(self.data) - offset:
            raise ValueError(
                f"{size} bytes at byte {offset}, of which {max(len(self.data) - offset, 0)} are"
                " there; it is damaged or cut off"
            )
        return super()._get(offset, dtype, count, override_order)

    def _get_field_parts(
        self, orig_offs: int, raw_type: int
    ) -> tuple[int, list[Any], list[int], list[GGUFValueType]]:
        """Numbers are read all at once: one by one, a quarter of a million bytes of a charsmap take
        seconds and 100 MB.
        """
        if raw_type == GGUFValueType.ARRAY:
            kind, count = self._get(orig_offs, np.uint32), self._get(orig_offs + 4, np.uint64)
            number = self.gguf_scalar_to_np.get(int(kind[0]))  # type: ignore[call-overload]
            if number is not None:
                values = self._get(orig_offs + 12, number, count[0])
                types = [GGUFValueType.ARRAY, GGUFValueType(int(kind[0]))]
                return 12 + values.nbytes, [kind, count, values], [2], types
        return super()._get_field_parts(orig_offs, raw_type)

    def _build_tensor_info(self, offs: int, count: int) -> tuple[int, list[ReaderField]]:
        return offs, []


def _value(field: ReaderField) -> Value:
    if field.types[:2] == [GGUFValueType.ARRAY, GGUFValueType.ARRAY]:
        raise ValueError(f"{field.name} is an array of arrays; those are in no tokenizer")
    return field.contents()
