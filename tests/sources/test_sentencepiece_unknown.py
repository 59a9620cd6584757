"""BPE of SentencePiece without byte_fallback merges characters that are no pieces; what no merge
takes is unknown, runs of it once.
"""

from __future__ import annotations

import random
from pathlib import Path

import spec_encoder
import spec_reader
from sentencepiece import SentencePieceProcessor
from slow_encoder import SlowEncoder

from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.runtime.tokenizer import load
from tokexport.sources import read
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
)
from tokexport.sources.sentencepiece.reference import SentencePieceReference
from tokexport.sources.sentencepiece.serialize import serialize
from tokexport.verification import compare

LETTERS = "abc\u00e9\u4e2d\u2581"


def model(dice: random.Random, unused: float = 0.0) -> SentencePieceModel:
    """Pieces of which some hold characters that are no pieces, or unused ones; so many of the
    longer ones are unused too.
    """
    known = [letter for letter in LETTERS if dice.random() < 0.5]
    longer: list[str] = []
    for _ in range(dice.randint(2, 10)):
        parts = [*LETTERS, *longer]
        longer.append((dice.choice(parts) + dice.choice(parts))[:8])
        if unused and known:
            longer += [
                dice.choice(known) + longer[-1],
                dice.choice(known) + longer[-1] + dice.choice(known),
            ]
    pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN)]
    for text in dict.fromkeys((*known, *longer)):
        kind = (
            PieceType.UNUSED
            if dice.random() < (0.2 if len(text) == 1 else unused)
            else PieceType.NORMAL
        )
        kind = PieceType.USER_DEFINED if dice.random() < 0.05 else kind
        pieces.append(Piece(text, float(dice.choice([-1, -len(pieces)])), kind))
    return SentencePieceModel(
        "x.model",
        tuple(pieces),
        algorithm=Algorithm.BPE,
        normalizer=NormalizerSpec(
            add_dummy_prefix=dice.random() < 0.5, remove_extra_whitespaces=dice.random() < 0.5
        ),
    )


def test_characters_that_are_no_pieces_merge_or_are_unknown_together(tmp_path: Path) -> None:
    dice = random.Random(1)
    path = tmp_path / "x.model"
    merged = 0
    for number in range(30):
        path.write_bytes(serialize(model(dice)))
        ours, file = read(path), file_bytes(read(path))
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


def test_an_unused_piece_may_have_unknown_characters_inside(tmp_path: Path) -> None:
    dice = random.Random(2)
    path = tmp_path / "x.model"
    taken_apart = 0
    for number in range(50):
        source = model(dice, unused=0.5)
        path.write_bytes(serialize(source))
        try:
            ours = read(path)
        except UnsupportedError:
            continue
        pieces = {piece.text: piece.type for piece in source.pieces}
        held = {
            text
            for text, kind in pieces.items()
            if kind is PieceType.UNUSED and any(letter not in pieces for letter in text)
        }
        taken_apart += bool(held)
        file = file_bytes(ours)
        tokenizer, spec = load(file), spec_reader.open_file(file)
        reference = SentencePieceReference(SentencePieceProcessor(model_file=str(path)))
        for turn in range(40):
            parts = [*(LETTERS + " zy"), *held, *pieces]
            text = "".join(dice.choices(parts, k=dice.choice([1, 3, 8, 20])))
            expected = reference.encode(text, False)
            assert tokenizer.encode(text) == expected, (number, text)
            assert turn > 1 or spec_encoder.encode(spec, text.encode()) == expected, (number, text)
        if number < 5:
            result = compare(tokenizer, reference, strings=100, code_points=False)
            assert result.ok, "\n".join(result.lines())
    assert taken_apart > 8


def test_hundreds_of_characters_may_be_no_pieces(tmp_path: Path) -> None:
    letters = [chr(0x4E00 + number) for number in range(260)]
    pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("b", -1.0)]
    pieces += [Piece(letter + "b", -float(number)) for number, letter in enumerate(letters)]
    path = tmp_path / "x.model"
    path.write_bytes(
        serialize(SentencePieceModel("x.model", tuple(pieces), algorithm=Algorithm.BPE))
    )
    tokenizer, library = load(file_bytes(read(path))), SentencePieceProcessor(model_file=str(path))
    dice = random.Random(3)
    for _ in range(2000):
        text = "".join(
            dice.choices([*dice.choices(letters, k=6), "b", " ", "z"], k=dice.randint(1, 12))
        )
        assert tokenizer.encode(text) == library.encode(text), text
