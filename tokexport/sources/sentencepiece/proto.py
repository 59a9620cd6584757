"""The protocol buffer of a SentencePiece ``.model``, as far as it decides ids
(``sentencepiece_model.proto``, ModelProto).

A field that stands twice keeps its last value, a field of another wire type than the definition's
is none, an enumeration with an unknown number keeps its default: so does the library that the file
is for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, TypeVar

from tokexport.errors import SourceError
from tokexport.sources.sentencepiece.protobuf import Message

UNK_SURFACE = " \u2047 "  # what <unk> decodes to where the file does not say


class Algorithm(IntEnum):
    """TrainerSpec.ModelType: how a text is cut into pieces."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class PieceType(IntEnum):
    """ModelProto.SentencePiece.Type: why a piece is there."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece, its score (a float32, as a Python float) and its type; its place is its id."""

    text: str
    score: float = 0.0
    type: PieceType = PieceType.NORMAL


@dataclass(frozen=True, slots=True)
class NormalizerSpec:
    """How a text is made ready: ``charsmap`` first, then white space."""

    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(frozen=True, slots=True)
class Roles:
    """The texts of the pieces with a role."""

    unk: str = "<unk>"
    bos: str = "<s>"
    eos: str = "</s>"
    pad: str = "<pad>"


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    """A SentencePiece model, from whatever file. ``file`` is the base name for errors."""

    file: str
    pieces: tuple[Piece, ...]
    algorithm: Algorithm = Algorithm.UNIGRAM
    byte_fallback: bool = False
    whitespace_as_suffix: bool = False
    unk_surface: str = UNK_SURFACE
    normalizer: NormalizerSpec = field(default_factory=NormalizerSpec)
    # Of decoded texts, where it has a charsmap.
    denormalizer: NormalizerSpec = field(default_factory=NormalizerSpec)
    roles: Roles = field(default_factory=Roles)


def parse_model(data: bytes, file: str) -> SentencePieceModel:
    """The model in the bytes of a ``.model`` file. SourceError for what is none."""
    pieces: list[Piece] = []
    specs: dict[int, bytes] = {}
    for number, value in Message(file, "the file", data).fields():
        if not isinstance(value, Message):
            continue
        if number == 1:
            pieces.append(_piece(Message(file, f"piece {len(pieces)}", value.data, value.start)))
        elif number in (2, 3, 5):
            # Two of one message are merged, which is what one message of both their bytes says.
            specs[number] = specs.get(number, b"") + value.data
    if not pieces:
        raise SourceError(f"{file}: the model has no pieces")
    model = SentencePieceModel(file, tuple(pieces))
    model = _trainer(Message(file, "trainer_spec", specs.get(2, b"")), model)
    normalizer = _normalizer(Message(file, "normalizer_spec", specs.get(3, b"")))
    denormalizer = _normalizer(Message(file, "denormalizer_spec", specs.get(5, b"")))
    return replace(model, normalizer=normalizer, denormalizer=denormalizer)


def _piece(message: Message) -> Piece:
    # The plain way costs a minute for a quarter of a million pieces; nearly all are a text and a
    # score and nothing else.
    what, data = f"the text of {message.place}", message.data
    size = data[1] if len(data) > 2 else 0
    if size < 0x80 and size + 7 == len(data) and (data[0], data[size + 2]) == (0x0A, 0x15):
        text = Message(message.file, message.place, data[2 : size + 2], message.start + 2)
        return Piece(text.text(what), struct.unpack_from("<f", data, size + 3)[0])
    piece = Piece("")
    for key, value in message.fields():
        if key == 1 and isinstance(value, Message):
            piece = replace(piece, text=value.text(what))
        elif key == 2 and isinstance(value, int):
            score = struct.unpack("<f", struct.pack("<I", value & 0xFFFFFFFF))[0]
            piece = replace(piece, score=score)
        elif key == 3 and isinstance(value, int):
            piece = replace(piece, type=_enumerated(PieceType, value, piece.type))
    return piece


_Enumeration = TypeVar("_Enumeration", bound=IntEnum)


def _enumerated(kind: type[_Enumeration], value: int, otherwise: _Enumeration) -> _Enumeration:
    return kind(value) if value in {*kind} else otherwise


def _trainer(message: Message, model: SentencePieceModel) -> SentencePieceModel:
    roles = {45: "unk", 46: "bos", 47: "eos", 48: "pad"}
    flags = {24: "whitespace_as_suffix", 35: "byte_fallback"}
    named: dict[str, str] = {}
    found: dict[str, Any] = {"algorithm": model.algorithm}
    for key, value in message.fields():
        if isinstance(value, Message):
            if key in roles:
                named[roles[key]] = value.text(f"trainer_spec.{roles[key]}_piece")
            elif key == 44:
                found["unk_surface"] = value.text("trainer_spec.unk_surface")
        elif key == 3:
            found["algorithm"] = _enumerated(Algorithm, value, found["algorithm"])
        elif key in flags:
            found[flags[key]] = bool(value)
    return replace(model, roles=Roles(**named), **found)


def _normalizer(message: Message) -> NormalizerSpec:
    flags = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
    found: dict[str, Any] = {}
    for key, value in message.fields():
        if isinstance(value, Message):
            if key == 2:
                found["charsmap"] = value.data
        elif key in flags:
            found[flags[key]] = bool(value)
    return NormalizerSpec(**found)
