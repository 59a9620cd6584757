"""Writes a SentencePiece model as the protocol buffer that its library loads."""

from __future__ import annotations

import struct

from tokexport.sources.sentencepiece.proto import NormalizerSpec, Piece, SentencePieceModel


def serialize(model: SentencePieceModel) -> bytes:
    """The bytes of the ``.model`` (ModelProto of sentencepiece_model.proto).

    >>> from tokexport.sources.sentencepiece.proto import parse_model
    >>> parse_model(serialize(SentencePieceModel("x", (Piece("a", -1.5),))), "x").pieces
    (Piece(text='a', score=-1.5, type=<PieceType.NORMAL: 1>),)
    """
    roles = model.roles
    trainer = (
        _number(3, model.algorithm)
        + _number(24, model.whitespace_as_suffix)
        + _number(35, model.byte_fallback)
    )
    texts = (model.unk_surface, roles.unk, roles.bos, roles.eos, roles.pad)
    for field, text in enumerate(texts, 44):
        trainer += _bytes(field, text.encode())
    parts = [_bytes(1, _piece(piece)) for piece in model.pieces]
    parts += [_bytes(2, trainer), _bytes(3, _normalizer(model.normalizer))]
    if model.denormalizer.charsmap:
        parts.append(_bytes(5, _normalizer(model.denormalizer)))
    return b"".join(parts)


def _piece(piece: Piece) -> bytes:
    score = b"\x15" + struct.pack("<f", piece.score)
    return _bytes(1, piece.text.encode()) + score + _number(3, piece.type)


def _normalizer(spec: NormalizerSpec) -> bytes:
    return (
        _bytes(2, spec.charsmap)
        + _number(3, spec.add_dummy_prefix)
        + _number(4, spec.remove_extra_whitespaces)
        + _number(5, spec.escape_whitespaces)
    )


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*data, value))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(int(value))


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data
