"""llama2.c's ``tokenizer.bin``, and the variant for mobile runtimes, with a 16-byte header."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from construct import Construct, Int32ul, Struct

from tokexport.model import Provenance, SpecialIds
from tokexport.sources.files import SourceFiles
from tokexport.sources.sentencepiece import proto
from tokexport.sources.sentencepiece.proto import SPACE_SYMBOL, Piece, PieceType
from tokexport.sources.sentencepiece.read import build
from tokexport.targets.best_score import PRINTED, THRESHOLD, BestScore, c_string
from tokexport.targets.material import Material, of_model, refuse_file
from tokexport.targets.parts import refuse
from tokexport.targets.records import RECORD, build_records, parse_records
from tokexport.targets.target import Files, Target, single

HEADER: Final = Struct("max_token_length" / Int32ul)
MOBILE_HEADER: Final = Struct(
    "vocab_size" / Int32ul, "bos" / Int32ul, "eos" / Int32ul, "max_token_length" / Int32ul
)
BOS: Final = 1
EOS: Final = 2
FIRST_BYTE: Final = 3
_NAMES: Final = {BOS: "\n<s>\n", EOS: "\n</s>\n"}
# As sscanf matches it: anything after the digits is ignored.
_BYTE: Final = re.compile(rb"<0x([0-9a-fA-F]{1,2})")


def _pieces(source: Material, name: str) -> tuple[Piece, ...]:
    """The pieces, checked for what the program assumes: bytes from id 3 on."""
    refuse_file(source, name, "the pieces of a SentencePiece model")
    pieces = source.pieces
    if pieces is None or pieces.algorithm is not proto.Algorithm.BPE:
        raise refuse(
            name,
            "it is not BPE over characters with a token for each byte, as Llama 2's",
            "for BPE over bytes there are qwen3.c and gguf",
        )
    names = [piece.text for piece in pieces.pieces[FIRST_BYTE : FIRST_BYTE + 256]]
    if names != [f"<0x{byte:02X}>" for byte in range(256)]:
        raise refuse(
            name,
            f"the ids {FIRST_BYTE} to {FIRST_BYTE + 255} are not <0x00> to <0xFF>",
            "the program computes the id of a byte, so train it with the ids of Llama 2",
        )
    return pieces.pieces


def _write(source: Material, layout: Construct = HEADER) -> Files:
    name, names = ("llama2.c", _NAMES) if layout is HEADER else ("llama2.c-mobile", {})
    pieces, roles = _pieces(source, name), source.special_ids
    texts = [names.get(id, piece.text) for id, piece in enumerate(pieces)]
    stored = [text.replace(SPACE_SYMBOL, " ").encode() for text in texts]
    header = layout.build(
        {
            "vocab_size": len(pieces),
            "bos": BOS if roles.bos is None else roles.bos,
            "eos": EOS if roles.eos is None else roles.eos,
            "max_token_length": max(map(len, stored)),
        }
    )
    return single(build_records(header, (piece.score for piece in pieces), stored))


def _read(path: Path, layout: Construct = HEADER) -> Material:
    head, records = parse_records(path, layout, RECORD)
    bos, eos = (BOS, EOS) if layout is HEADER else (head.bos, head.eos)
    pieces = tuple(
        # run.c compares scores: -0, which sentencepiece merges after 0, is equal to it
        Piece(_text(id, one.text), one.score + 0.0, _kind(id, one.score, (bos, eos)))
        for id, one in enumerate(records)
    )
    spec = proto.NormalizerSpec(add_dummy_prefix=True, remove_extra_whitespaces=False)
    found = proto.SentencePieceModel(
        str(path), pieces, proto.Algorithm.BPE, byte_fallback=True, normalizer=spec
    )
    model = build(found, SourceFiles(), Provenance(path.name))
    named = [
        replace(token, content=piece.text.encode()) if token and token.special else token
        for token, piece in zip(model.tokens, pieces, strict=True)
    ]
    roles = SpecialIds(bos, eos, stop=(eos,))
    return of_model(path.name, replace(model, tokens=tuple(named), special_ids=roles), found)


def _text(id: int, text: bytes) -> str:
    if _NAMES.get(id, "").encode() == text:
        text = text.strip()
    return text.decode("utf-8", "replace").replace(" ", SPACE_SYMBOL)


def _kind(id: int, score: float, controls: tuple[int, int]) -> PieceType:
    if id in controls or score <= THRESHOLD:
        return PieceType.CONTROL
    if FIRST_BYTE <= id < FIRST_BYTE + 256:
        return PieceType.BYTE
    return PieceType.UNKNOWN if id == 0 else PieceType.NORMAL


class Llama2c:
    """``encode``, ``decode`` and ``safe_printf`` as in run.c; the variant prints all bytes."""

    finds_special_tokens = False

    def __init__(self, path: Path, layout: Construct = HEADER) -> None:
        head, records = parse_records(path, layout, RECORD)
        self._bos = BOS if layout is HEADER else head.bos
        self._prints_all = layout is not HEADER
        texts = [c_string(record.text) for record in records]
        self._model = BestScore(texts, [record.score for record in records])

    def encode(self, text: str) -> list[int]:
        """A space before the text, a token or bytes for each character, then merges by score."""
        data = c_string(text.encode())
        space = self._model.ids.get(b" ")
        ids = [] if space is None or not data else [space]
        for character in data.decode():
            token = character.encode()
            known = self._model.ids.get(token)
            ids += [byte + FIRST_BYTE for byte in token] if known is None else [known]
        return self._model.merged(ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """What it prints after BOS."""
        shown = b""
        for before, id in zip((self._bos, *ids), ids, strict=False):
            token = self._model.tokens[id]
            if before == self._bos:
                token = token.removeprefix(b" ")
            if byte := _BYTE.match(token):
                token = c_string(bytes((int(byte[1], 16),)))
            if len(token) != 1 or self._prints_all or token in PRINTED:
                shown += token
        return shown


LLAMA2C: Final = Target(
    "llama2.c",
    "run.c of llama2.c",
    _write,
    _read,
    lambda path, how: Llama2c(path),
    Path("llama2.c/golden.bin"),
    layouts=(HEADER, RECORD),
)
MOBILE: Final = Target(
    "llama2.c-mobile",
    "ExecuTorch's llama2c tokenizer",
    partial(_write, layout=MOBILE_HEADER),
    partial(_read, layout=MOBILE_HEADER),
    lambda path, how: Llama2c(path, MOBILE_HEADER),
    Path("llama2.c/golden-mobile.bin"),
    layouts=(MOBILE_HEADER, RECORD),
)
