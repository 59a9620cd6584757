"""The metadata of a GGUF file: values by name (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).

Only what stands before the tensors is looked at, and of that only the names that are asked for: strings, numbers, flags and
arrays of these.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NoReturn

from tokexport.errors import SourceError, UnsupportedError

MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9

# A number, a flag, a text, or a list of one of these.
Value = Any


def read_metadata(data: memoryview, file: str, prefix: str) -> dict[str, Value]:
    """The values whose names begin with ``prefix``.

    Raises SourceError, with the byte, for a file that is damaged, UnsupportedError for another version of the format.
    """
    reader = _Reader(data, file)
    version = reader.number("I", 4)
    if version not in _VERSIONS:
        order = "big-endian GGUF" if version & 0xFFFF == 0 else f"GGUF of version {version}"
        raise UnsupportedError(file, order, "versions 2 and 3, little-endian, are supported")
    reader.at = 16
    values: dict[str, Value] = {}
    for _ in range(reader.number("Q", 16)):
        name = reader.text()
        kind = reader.number("I")
        value = reader.value(kind, wanted=name.startswith(prefix))
        if name.startswith(prefix):
            values[name] = value
    return values


class _Reader:
    """A place in the file. Every size is checked against what is left before it is used."""

    def __init__(self, data: memoryview, file: str) -> None:
        self.data = data
        self.file = file
        self.at = 0

    def number(self, code: str, at: int | None = None) -> Value:
        """The number of the kind ``code`` (of the struct module) here, or at a byte."""
        if at is not None:
            self.at = at
        start = self._take(struct.calcsize("<" + code))
        return struct.unpack_from("<" + code, self.data, start)[0]

    def text(self) -> str:
        """The string here, which must be UTF-8."""
        size = self.number("Q")
        start = self._take(size)
        try:
            return bytes(self.data[start : start + size]).decode("utf-8")
        except UnicodeDecodeError:
            return self._fail(start, "a string that is not UTF-8")

    def value(self, kind: int, wanted: bool) -> Value:
        """The value of a kind here; None for one that nobody wants."""
        if kind == _STRING:
            return self.text() if wanted else self._skip_text()
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind != _ARRAY:
            self._fail(self.at - 4, f"a value of the kind {kind}")
        return self._array(wanted)

    def _array(self, wanted: bool) -> Value:
        kind = self.number("I")
        count = self.number("Q")
        if kind in _NUMBERS:
            code = _NUMBERS[kind]
            start = self._take(count * struct.calcsize("<" + code))
            return list(struct.unpack_from(f"<{count}{code}", self.data, start)) if wanted else None
        if kind != _STRING:  # arrays of arrays are in no tokenizer
            self._fail(self.at - 12, f"an array of the kind {kind}")
        if count > (len(self.data) - self.at) // 8:
            self._fail(self.at - 8, f"an array of {count} strings, more than the file can hold,")
        if wanted:
            return [self.text() for _ in range(count)]
        for _ in range(count):
            self._skip_text()
        return None

    def _skip_text(self) -> None:
        self._take(self.number("Q"))

    def _take(self, size: int) -> int:
        start = self.at
        if size > len(self.data) - start:
            self._fail(start, f"{size} bytes, of which {max(len(self.data) - start, 0)} are there,")
        self.at = start + size
        return start

    def _fail(self, at: int, found: str) -> NoReturn:
        raise SourceError(f"{self.file}: {found} at byte {at}; the GGUF file is damaged or cut off")
