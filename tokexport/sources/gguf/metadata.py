"""The metadata of a GGUF file: values by name, only those requested.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. A file is a magic, a version, the
counts of its tensors and values, the values (a name, a type and the value each), and then the
tensors, which may be larger than memory. Nothing is read or stored that the file does not hold,
whatever its counts say.
"""

import struct
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from tokexport.errors import SourceError

MAGIC: Final = b"GGUF"
# A number, a flag, a text, or a list of one of these.
Value = Any

_VERSIONS: Final = (2, 3)
# The formats of numbers for `struct`, by the code of their type.
_NUMBERS: Final[Mapping[int, str]] = {**dict(enumerate("BbHhIif?")), 10: "Q", 11: "q", 12: "d"}
_TEXT: Final = 8
_ARRAY: Final = 9


def read_metadata(data: Any, file: str, prefixes: tuple[str, ...]) -> dict[str, Value]:
    """The values whose names begin with one of ``prefixes``, from the bytes of a file.

    SourceError for a file that is damaged or of an unknown version.

    >>> pair = b"\\x01" + bytes(7) + b"a" + b"\\x04\\0\\0\\0" + b"\\x2a\\0\\0\\0"
    >>> head = b"GGUF\\x03\\0\\0\\0" + bytes(8) + b"\\x01" + bytes(7)
    >>> read_metadata(head + pair, "x.gguf", ("a",))
    {'a': 42}
    """
    return Reader(data, file).values(prefixes)


class Reader:
    """Reads the values in one pass; ``at`` is the next byte, ``tensors`` their number."""

    def __init__(self, data: Any, file: str) -> None:
        self.data, self.file = data, file
        self.at = len(MAGIC)
        self.order = "<"
        version = self.number("I")
        if version not in _VERSIONS and version >> 16:  # written by a big-endian machine
            self.order, self.at = ">", len(MAGIC)
            version = self.number("I")
        if version not in _VERSIONS:
            self.fail(f"has version {version}", len(MAGIC), "versions 2 and 3 are supported")

    def values(self, prefixes: tuple[str, ...]) -> dict[str, Value]:
        self.tensors = self.number("Q")
        found: dict[str, Value] = {}
        for _ in range(self.number("Q")):
            name = self.text()
            value = self.value(self.number("I"), wanted := name.startswith(prefixes))
            if wanted and name in found:
                self.fail(f"has {name} twice")
            if wanted:
                found[name] = value
        return found

    def value(self, kind: int, wanted: bool, depth: int = 0) -> Value:
        """The next value, or None if it is not wanted."""
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text() if wanted else self.skip(self.number("Q"))
        if kind != _ARRAY:
            self.fail(f"has a value of the unknown type {kind}")
        inner = self.number("I")
        if inner in _NUMBERS:
            code = self.order + _NUMBERS[inner]
            size = struct.calcsize(code)
            count = self.number("Q")
            start = self.skip(count * size)
            code = f"{self.order}{count}{_NUMBERS[inner]}"
            return list(struct.unpack_from(code, self.data, start)) if wanted else None
        if inner == _TEXT:
            texts = [self.value(_TEXT, wanted) for _ in range(self.number("Q"))]
            return texts if wanted else None
        if wanted or inner != _ARRAY or depth > 2:
            self.fail("has an array of arrays, which no tokenizer has")
        for _ in range(self.number("Q")):
            self.value(_ARRAY, False, depth + 1)
        return None

    def number(self, code: str) -> Any:
        size = struct.calcsize("<" + code)
        return struct.unpack_from(self.order + code, self.data, self.skip(size))[0]

    def text(self) -> str:
        size = self.number("Q")
        start = self.skip(size)
        try:
            return str(self.data[start : start + size], "utf-8")
        except UnicodeDecodeError:
            return self.fail("has a text that is not UTF-8", start)

    def skip(self, size: int) -> int:
        """Skips ``size`` bytes, which must be in the file; returns where they begin."""
        if size > len(self.data) - self.at:
            self.fail(f"is truncated: {size} byte{'s' * (size > 1)} expected")
        self.at += size
        return self.at - size

    def fail(
        self, what: str, at: int | None = None, hint: str = "it is damaged or cut off"
    ) -> NoReturn:
        place = self.at if at is None else at
        raise SourceError(f"it {what}, at byte {place}", hint, name=self.file)
