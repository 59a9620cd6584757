"""The golden files of the formats of other runtimes, from two small vocabularies of our own.

python formats/golden_targets.py          # writes formats/*/golden.*
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.sources.patterns import GPT2
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    serialize,
)
from tokexport.sources.tokenizer_json.document import (
    added_token,
    byte_level,
    byte_pair_model,
    sequence,
    split,
    tokenizer_document,
)
from tokexport.targets.material import Material, material
from tokexport.targets.registry import TARGETS
from tokexport.targets.target import Files

FORMATS = Path(__file__).resolve().parent
PATTERN = GPT2
# Of tides and ferries: what is merged, in this order.
MERGES = "t h,th e,Ġ the,i n,Ġ f,e r,Ġf er,Ġfer r,Ġferr y,t i,d e,ti de,Ġ tide"
PIECES = "▁t he ▁the in er ▁f ▁fer ry ▁ferry ▁ti de ▁tide"
OF_PIECES = ("llama2.c", "llama2.c-mobile")
SMALLEST = FORMATS / "tokexport/golden/smallest-bpe.bin"
LETTERS = "▁adefhinrty.,é"


def byte_document(more: Sequence[str] = ()) -> dict[str, Any]:
    """A tokenizer.json of BPE over bytes: ids are the bytes, the merges, ``more`` tokens that no
    merge makes, two special tokens.
    """
    merges = [merge.split(" ") for merge in MERGES.split(",")]
    tokens = [*CHARACTERS, *map("".join, merges), *more]
    size = len(tokens)
    names = ("<|endoftext|>", "<|user|>")
    return tokenizer_document(
        added_tokens=[added_token(size + n, name, special=True) for n, name in enumerate(names)],
        normalizer={"type": "NFC"},
        pre_tokenizer=sequence(split(PATTERN), byte_level(False)),
        post_processor=None,
        decoder=byte_level(True),
        model=byte_pair_model({token: id for id, token in enumerate(tokens)}, merges),
    )


def piece_model() -> SentencePieceModel:
    """A SentencePiece model with ids as Llama 2 has them."""
    controls = [Piece(name, 0.0, PieceType.CONTROL) for name in ("<s>", "</s>")]
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = [Piece(letter, -100.0 - n) for n, letter in enumerate(LETTERS)]
    pieces = [
        Piece("<unk>", 0.0, PieceType.UNKNOWN),
        *controls,
        *(Piece(name, 0.0, PieceType.BYTE) for name in names),
        *(Piece(text, -float(n)) for n, text in enumerate(PIECES.split())),
        *letters,
    ]
    spec = NormalizerSpec(add_dummy_prefix=True, remove_extra_whitespaces=False)
    return SentencePieceModel(
        "tokenizer.model", tuple(pieces), Algorithm.BPE, byte_fallback=True, normalizer=spec
    )


def write_sources(folder: Path) -> tuple[Path, Path]:
    """Writes both into a folder: the tokenizer.json, with its roles beside it, and the model."""
    (folder / "bytes").mkdir()
    document, settings = folder / "bytes/tokenizer.json", folder / "bytes/tokenizer_config.json"
    document.write_text(json.dumps(byte_document()), encoding="utf-8")
    settings.write_text(json.dumps({"eos_token": "<|endoftext|>"}), encoding="utf-8")
    (folder / "tokenizer.model").write_bytes(serialize(piece_model()))
    return document, folder / "tokenizer.model"


def golden_source(name: str, of_bytes: Material, of_pieces: Material) -> Material:
    """The vocabulary that the golden file of a format is made from."""
    return of_pieces if name in OF_PIECES else of_bytes


def golden_files() -> dict[Path, bytes]:
    """The files of every format, by their paths below ``formats``."""
    found: dict[Path, bytes] = {}
    with TemporaryDirectory() as folder:
        both = [material(path) for path in write_sources(Path(folder))]
    for name, target in TARGETS.items():
        source = material(SMALLEST) if target.whole else golden_source(name, *both)
        files: Files = target.write(source)
        found |= {Path(target.golden, file): data for file, data in files.items()}
    return found


if __name__ == "__main__":
    for path, data in golden_files().items():
        (FORMATS / path).parent.mkdir(parents=True, exist_ok=True)
        (FORMATS / path).write_bytes(data)
        print(path, len(data), file=sys.stderr)
