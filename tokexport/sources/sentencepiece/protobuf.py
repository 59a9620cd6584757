"""The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding): a message
is a row of numbered fields, with the bytes or the number that each holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from tokexport.errors import SourceError

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes of numbers, by their wire type
_LONGEST_VARINT = 10  # bytes, for 64 bits


@dataclass(frozen=True, slots=True)
class Message:
    """A message that begins at byte ``start`` of ``file``; ``place`` names it in errors."""

    file: str
    place: str
    data: bytes
    start: int = 0

    def fields(self) -> Iterator[tuple[int, int | Message]]:
        """Number and value of each field: an integer, or a message for the wire type of bytes.

        Raises SourceError, with the byte, where it is not the wire format.

        >>> list(Message("x", "it", bytes([0x08, 0x96, 0x01])).fields())
        [(1, 150)]
        """
        at = 0
        while at < len(self.data):
            begin = at
            key, at = self._varint(at)
            number, wire = key >> 3, key & 7
            if number == 0:
                self._fail(begin, "a field with the number 0")
            if wire not in (_VARINT, _BYTES, *_FIXED):
                self._fail(begin, f"a field of the wire type {wire}")
            value, at = (_FIXED[wire], at) if wire in _FIXED else self._varint(at)
            if wire == _VARINT:
                yield number, value
                continue
            content = self.data[at : at + value]
            if len(content) < value:
                over = value - len(content)
                self._fail(begin, f"a field that goes {over} bytes over its end")
            if wire == _BYTES:
                yield number, Message(self.file, self.place, content, self.start + at)
            else:
                yield number, int.from_bytes(content, "little")
            at += value

    def text(self, what: str) -> str:
        """The message as UTF-8; SourceError where it is none."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{self.file}: {self.place} holds at byte {self.start} a {what} that is not UTF-8:"
                f" {error.reason}"
            ) from None

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for index, byte in enumerate(self.data[at : at + _LONGEST_VARINT]):
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, at + index + 1
        is_cut = at + _LONGEST_VARINT > len(self.data)
        long = f"a number of more than {_LONGEST_VARINT} bytes"
        return self._fail(at, "a number without an end" if is_cut else long)

    def _fail(self, at: int, found: str) -> NoReturn:
        raise SourceError(
            f"{self.file}: {self.place} holds {found} at byte {self.start + at}; the file is"
            " damaged or no SentencePiece model"
        )
