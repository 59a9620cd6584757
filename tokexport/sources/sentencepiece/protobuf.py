"""The wire format of protocol buffers: a message is a row of numbered fields
(https://protobuf.dev/programming-guides/encoding).

Only what a reader of one known message needs: fields in their order, with the bytes or the number
that each holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from tokexport.errors import SourceError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10  # bytes, for 64 bits


@dataclass(frozen=True, slots=True)
class Message:
    """A message: ``data[start:end]`` of ``file``; ``place`` says which, for errors."""

    file: str
    place: str
    data: bytes
    start: int
    end: int

    def fields(self) -> Iterator[tuple[int, int | Message]]:
        """Number and value of each field: an integer for the wire types of numbers, a message for
        that of bytes.

        Raises SourceError, with the byte, where it is not the wire format.

        >>> message = Message("x", "it", bytes([0x08, 0x96, 0x01]), 0, 3)
        >>> list(message.fields())
        [(1, 150)]
        """
        at = self.start
        while at < self.end:
            begin = at
            key, at = self._varint(at)
            number, wire = key >> 3, key & 7
            if number == 0:
                self._fail(begin, "a field with the number 0")
            if wire == _VARINT:
                value, at = self._varint(at)
                yield number, value
            elif wire in (_FIXED32, _FIXED64):
                size = 4 if wire == _FIXED32 else 8
                if size > self.end - at:
                    self._fail(
                        begin, f"a field that goes {size - (self.end - at)} bytes over its end"
                    )
                yield number, int.from_bytes(self.data[at : at + size], "little")
                at += size
            elif wire == _BYTES:
                size, at = self._varint(at)
                if size > self.end - at:
                    self._fail(
                        begin, f"a field that goes {size - (self.end - at)} bytes over its end"
                    )
                yield number, Message(self.file, self.place, self.data, at, at + size)
                at += size
            else:
                self._fail(begin, f"a field of the wire type {wire}")

    def bytes(self) -> bytes:
        """What the message is made of, for a field that holds a text or plain bytes."""
        return self.data[self.start : self.end]

    def text(self, what: str) -> str:
        """The message as UTF-8; SourceError where it is none."""
        try:
            return self.bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{self.file}: {what} at byte {self.start} is not UTF-8: {error.reason}"
            ) from None

    def named(self, place: str) -> Message:
        """The same message, under a name of its own in errors."""
        return Message(self.file, place, self.data, self.start, self.end)

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for index in range(_LONGEST_VARINT):
            if at + index >= self.end:
                self._fail(at, "a number without an end")
            byte = self.data[at + index]
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, at + index + 1
        return self._fail(at, f"a number of more than {_LONGEST_VARINT} bytes")

    def _fail(self, at: int, found: str) -> NoReturn:
        raise SourceError(
            f"{self.file}: {self.place} holds {found} at byte {at}; the file is damaged or no"
            " SentencePiece model"
        )
