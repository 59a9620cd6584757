"""Writes a SentencePiece model as the protocol buffer that its library loads."""

from __future__ import annotations

import struct

from tokexport.sources.sentencepiece.proto import (
    NORMALIZER,
    PIECE,
    ROLES,
    TRAINER,
    Fields,
    SentencePieceModel,
)


def serialize(model: SentencePieceModel) -> bytes:
    """The bytes of the ``.model`` (ModelProto of sentencepiece_model.proto).

    >>> from tokexport.sources.sentencepiece.proto import Piece, parse_model
    >>> parse_model(serialize(SentencePieceModel("x", (Piece("a", -1.5),))), "x").pieces
    (Piece(text='a', score=-1.5, type=<PieceType.NORMAL: 1>),)
    """
    parts = [_bytes(1, _message(piece, PIECE)) for piece in model.pieces]
    parts.append(_bytes(2, _message(model, TRAINER) + _message(model.roles, ROLES)))
    parts.append(_bytes(3, _message(model.normalizer, NORMALIZER)))
    if model.denormalizer.charsmap:
        parts.append(_bytes(5, _message(model.denormalizer, NORMALIZER)))
    return b"".join(parts)


def _message(record: object, fields: Fields) -> bytes:
    """The fields of a record that have these names."""
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
