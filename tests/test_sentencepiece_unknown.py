"""BPE of SentencePiece without byte_fallback merges characters that are no pieces; what no merge takes is unknown, runs of it once."""

from __future__ import annotations

import random
from pathlib import Path

import spec_encoder
import spec_reader
from sentencepiece import SentencePieceProcessor
from slow_encoder import SlowEncoder

from tokexport.readers import read
from tokexport.readers.sentencepiece_proto import Algorithm, NormalizerSpec, Piece, PieceType, SentencePieceModel
from tokexport.references.sentencepiece_reference import SentencePieceReference
from tokexport.references.sentencepiece_writer import serialize
from tokexport.runtime.tokenizer import load
from tokexport.verification import compare
from tokexport.writers.tokexport_file import write

LETTERS = "abc\u00e9\u4e2d\u2581"


def model(dice: random.Random) -> SentencePieceModel:
    """Pieces of which some hold characters that are no pieces, or unused ones."""
    known = [letter for letter in LETTERS if dice.random() < 0.5]
    longer: list[str] = []
    for _ in range(dice.randint(2, 10)):
        parts = [*LETTERS, *longer]
        longer.append((dice.choice(parts) + dice.choice(parts))[:8])
    pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN)]
    for text in dict.fromkeys((*known, *longer)):
        kind = PieceType.UNUSED if len(text) == 1 and dice.random() < 0.2 else PieceType.NORMAL
        kind = PieceType.USER_DEFINED if dice.random() < 0.05 else kind
        pieces.append(Piece(text, float(dice.choice([-1, -len(pieces)])), kind))
    return SentencePieceModel(
        "x.model",
        tuple(pieces),
        algorithm=Algorithm.BPE,
        normalizer=NormalizerSpec(add_dummy_prefix=dice.random() < 0.5, remove_extra_whitespaces=dice.random() < 0.5),
    )


def test_characters_that_are_no_pieces_merge_or_are_unknown_together(tmp_path: Path) -> None:
    dice = random.Random(1)
    path = tmp_path / "x.model"
    merged = 0
    for number in range(30):
        path.write_bytes(serialize(model(dice)))
        ours, file = read(path), write(read(path))
        merged += bool(ours.model.unused)
        tokenizer, slow, spec = load(file), SlowEncoder(ours), spec_reader.open_file(file)
        reference = SentencePieceReference(SentencePieceProcessor(model_file=str(path)))
        for turn in range(30):
            text = "".join(dice.choices(LETTERS + " zy", k=dice.choice([1, 3, 8, 20, 90])))
            expected = reference.encode(text, False)
            assert tokenizer.encode(text) == expected, (number, text)
            assert slow.encode(text) == expected, (number, text)
            assert turn > 4 or spec_encoder.encode(spec, text.encode()) == expected, (number, text)
        if number < 3:
            result = compare(tokenizer, reference, strings=100, code_points=False)
            assert result.ok, "\n".join(result.lines())
    assert merged > 15
