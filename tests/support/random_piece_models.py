"""Random small SentencePiece models of every kind, with difficult texts for them."""

import random

from unicode_tables.charsmap import charsmap_of

from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
)

MARK = "\u2581"
LETTERS = f"abc{MARK} xé中"
RULES = {
    "\ufb01": "fi",
    "\u3000": " ",
    "\x01": "",
    "e\u0301": "é",
    "\u2163": "abc",
    "\t": " ",
    "c\u0301": "b",
    "\u00a8": " \u0308",
    "\u2003": "a ",
    "B": "b",
}
TEXTS = [
    *("a", "b", "c", "x", "é", "中", " ", MARK, "  ", "\u3000", "\x01", "e\u0301", "\u2163"),
    *("c\u0301", "\ufb01", "\u00a8", "\u2003", "B", "😀", "<s>", "<unk>"),
]


def piece_model(dice: random.Random) -> SentencePieceModel:
    """A model, some of whose pieces are user-defined."""
    algorithm = dice.choice(list(Algorithm))
    has_bytes = algorithm is not Algorithm.WORD and dice.random() < 0.3
    pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("<s>", 0.0, PieceType.CONTROL)]
    known = {"<unk>", "<s>"}
    singles = [letter for letter in LETTERS if letter != " " and dice.random() < 0.85]
    letters = singles or ["a"]
    several = [dice.choices(letters, k=dice.randrange(2, 5)) for _ in range(dice.randrange(12))]
    words = [[MARK, *dice.choices("abcx", k=dice.randrange(3))] for _ in range(dice.randrange(6))]
    for text in [*singles, *map("".join, several), *map("".join, words)]:
        if text in known or any(len(text) > 1 and letter not in singles for letter in text):
            continue
        known.add(text)
        kind = PieceType.USER_DEFINED if dice.random() < 0.12 else PieceType.NORMAL
        pieces.append(Piece(text, -float(dice.randrange(12)), kind))
    if has_bytes:
        pieces += [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)]
    used = RULES if dice.random() < 0.7 else {}
    rules = {key: value for key, value in used.items() if dice.random() < 0.6}
    return SentencePieceModel(
        "random.model",
        tuple(pieces),
        algorithm=algorithm,
        byte_fallback=has_bytes,
        whitespace_as_suffix=dice.random() < 0.3,
        normalizer=NormalizerSpec(
            charsmap_of(rules) if rules else b"",
            add_dummy_prefix=dice.random() < 0.6,
            remove_extra_whitespaces=dice.random() < 0.5,
            escape_whitespaces=dice.random() < 0.8,
        ),
    )


def piece_texts(dice: random.Random, model: SentencePieceModel, count: int) -> list[str]:
    """Texts of the pieces, of characters that the rules change, and of spaces."""
    pieces = [piece.text for piece in model.pieces if piece.type is not PieceType.BYTE]
    spaced = [text.replace(MARK, " ") for text in pieces]
    parts = [*TEXTS, *spaced, *pieces]
    return ["".join(dice.choices(parts, k=dice.randrange(12))) for _ in range(count)]
