"""The protocol buffer of a SentencePiece ``.model`` (``sentencepiece_model.proto``, ModelProto),
the part of it that decides ids, read and written.

As in the library, a field that occurs twice keeps its last value, a field whose wire type differs
from the definition is ignored, and an enumeration with an unknown number keeps its default.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, NoReturn, TypeAlias

from tokexport.errors import SourceError, UnsupportedError

SPACE_SYMBOL: Final = "\u2581"
# The wire format: https://protobuf.dev/programming-guides/encoding
_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes of numbers, by their wire type
_LONGEST_VARINT = 10  # bytes, for 64 bits


class Algorithm(IntEnum):
    """TrainerSpec.ModelType: how a text is cut into pieces."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class PieceType(IntEnum):
    """ModelProto.SentencePiece.Type: the purpose of a piece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece, its score (a float32, as a Python float) and its type; its index is its id."""

    text: str
    score: float = 0.0
    type: PieceType = PieceType.NORMAL


@dataclass(frozen=True, slots=True)
class NormalizerSpec:
    """How a text is normalized: ``charsmap`` first, then white space."""

    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    """A SentencePiece model, from any kind of file. ``file`` is the base name for errors."""

    file: str
    pieces: tuple[Piece, ...]
    algorithm: Algorithm = Algorithm.UNIGRAM
    byte_fallback: bool = False
    whitespace_as_suffix: bool = False
    unk_surface: str = " \u2047 "  # what <unk> decodes to
    # The texts of the pieces with a role.
    unk: str = "<unk>"
    bos: str = "<s>"
    eos: str = "</s>"
    pad: str = "<pad>"
    normalizer: NormalizerSpec = field(default_factory=NormalizerSpec)

    def retyped(self, which: Callable[[Piece], bool], type: PieceType) -> SentencePieceModel:
        """The model with another type for some pieces."""
        pieces = (replace(each, type=type) if which(each) else each for each in self.pieces)
        return replace(self, pieces=tuple(pieces))


# The fields that are read, by number: the name here, and the type. A float is a fixed32.
Fields: TypeAlias = Mapping[int, tuple[str, type]]
PIECE: Final[Fields] = {1: ("text", str), 2: ("score", float), 3: ("type", PieceType)}
TRAINER: Final[Fields] = {
    3: ("algorithm", Algorithm),
    24: ("whitespace_as_suffix", bool),
    35: ("byte_fallback", bool),
    44: ("unk_surface", str),
    45: ("unk", str),
    46: ("bos", str),
    47: ("eos", str),
    48: ("pad", str),
}
NORMALIZER: Final[Fields] = {
    2: ("charsmap", bytes),
    3: ("add_dummy_prefix", bool),
    4: ("remove_extra_whitespaces", bool),
    5: ("escape_whitespaces", bool),
}


@dataclass(frozen=True, slots=True)
class Message:
    """A message, which begins at byte ``start`` of ``file``."""

    file: str
    data: bytes
    start: int = 0

    def fields(self) -> Iterator[tuple[int, int | Message]]:
        """Number and value of each field: an integer, or a message for the wire type of bytes.

        Raises SourceError, with the byte, if it is not the wire format.

        >>> list(Message("x", bytes([0x08, 0x96, 0x01])).fields())
        [(1, 150)]
        """
        at = 0
        while at < len(self.data):
            begin = at
            key, at = self._varint(at)
            number, wire = key >> 3, key & 7
            if number == 0 or wire not in (_VARINT, _BYTES, *_FIXED):
                self._fail(begin, "field")
            value, at = (_FIXED[wire], at) if wire in _FIXED else self._varint(at)
            if wire == _VARINT:
                yield number, value
                continue
            content = self.data[at : at + value]
            if len(content) < value:
                self._fail(begin, "whole field")
            if wire == _BYTES:
                yield number, Message(self.file, content, self.start + at)
            else:
                yield number, int.from_bytes(content, "little")
            at += value

    def text(self) -> str:
        """The message as text; SourceError if it is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return self._fail(0, "UTF-8")

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for index, byte in enumerate(self.data[at : at + _LONGEST_VARINT]):
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, at + index + 1
        return self._fail(at, "number")

    def _fail(self, at: int, expected: str) -> NoReturn:
        problem = f"there is no {expected} at byte {self.start + at}"
        raise SourceError(problem, "it is damaged or not a SentencePiece model", name=self.file)


def parse_model(data: bytes, file: str) -> SentencePieceModel:
    """The model in the bytes of a ``.model`` file. SourceError if they are not one,
    UnsupportedError if it has a denormalizer.
    """
    pieces: list[Piece] = []
    specs: dict[int, bytes] = {}
    for number, value in Message(file, data).fields():
        if not isinstance(value, Message):
            continue
        if number == 1:
            pieces.append(_piece(value))
        elif number in (2, 3, 5):
            # Repeated messages are merged, which equals parsing their concatenated bytes.
            specs[number] = specs.get(number, b"") + value.data
    if not pieces:
        raise SourceError("the model has no pieces", name=file)
    trainer, *normalizers = (Message(file, specs.get(number, b"")) for number in (2, 3, 5))
    normalizer, denormalizer = (NormalizerSpec(**_values(one, NORMALIZER)) for one in normalizers)
    if denormalizer.charsmap:
        hint = "only models of Marian's fork of SentencePiece are known to have a denormalizer"
        raise UnsupportedError(file, "a model with a denormalizer is not supported", hint)
    return SentencePieceModel(
        file, tuple(pieces), **_values(trainer, TRAINER), normalizer=normalizer
    )


def _piece(message: Message) -> Piece:
    # The general parser takes a minute for 250,000 pieces; almost all are a text and a score.
    data = message.data
    size = data[1] if len(data) > 2 else 0
    if size < 0x80 and size + 7 == len(data) and (data[0], data[size + 2]) == (0x0A, 0x15):
        text = Message(message.file, data[2 : size + 2], message.start + 2).text()
        return Piece(text, struct.unpack_from("<f", data, size + 3)[0])
    return Piece(**{"text": "", **_values(message, PIECE)})


def _values(message: Message, known: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in message.fields():
        name, kind = known.get(key, ("", None))
        if isinstance(value, Message):
            if kind in (str, bytes):
                found[name] = value.text() if kind is str else value.data
        elif kind is float:
            found[name] = struct.unpack("<f", struct.pack("<I", value & 0xFFFFFFFF))[0]
        elif kind is bool or (kind in (PieceType, Algorithm) and value in {*kind}):
            found[name] = kind(value)
    return found


def serialize(model: SentencePieceModel) -> bytes:
    """The bytes of the ``.model`` (ModelProto of sentencepiece_model.proto).

    >>> parse_model(serialize(SentencePieceModel("x", (Piece("a", -1.5),))), "x").pieces
    (Piece(text='a', score=-1.5, type=<PieceType.NORMAL: 1>),)
    """
    parts = [_bytes(1, _message(piece, PIECE)) for piece in model.pieces]
    parts.append(_bytes(2, _message(model, TRAINER)))
    parts.append(_bytes(3, _message(model.normalizer, NORMALIZER)))
    return b"".join(parts)


def _message(record: object, fields: Fields) -> bytes:
    data = b""
    for number, (name, kind) in fields.items():
        value = getattr(record, name)
        if kind is float:
            data += _varint(number << 3 | 5) + struct.pack("<f", value)
        elif kind in (str, bytes):
            data += _bytes(number, value.encode() if kind is str else value)
        else:
            data += _varint(number << 3) + _varint(int(value))
    return data


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*data, value))


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data
