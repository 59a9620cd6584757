"""Random small SentencePiece models of every kind, with difficult texts for them."""

import random

from sentencepiece_training import BYTES, normalizer, rules_of

from tokexport.sources.sentencepiece.proto import Algorithm, Piece, PieceType, SentencePieceModel

MARK = "\u2581"
LETTERS = f"abc{MARK} xé中"
RULES = rules_of(
    *("\ufb01→fi", "\u3000→ ", "\x01→", "e\u0301→é", "\u2163→abc", "\t→ ", "c\u0301→b"),
    *("\u00a8→ \u0308", "\u2003→a ", "B→b"),
)
TEXTS = [
    *("a", "b", "c", "x", "é", "中", " ", MARK, "  ", "\u3000", "\x01", "e\u0301", "\u2163"),
    *("c\u0301", "\ufb01", "\u00a8", "\u2003", "B", "😀", "<s>", "<unk>"),
]


def piece_model(rng: random.Random) -> SentencePieceModel:
    """A model, some of whose pieces are user-defined."""
    algorithm = rng.choice(list(Algorithm))
    has_bytes = algorithm is not Algorithm.WORD and rng.random() < 0.3
    pieces = [Piece("<unk>", 0.0, PieceType.UNKNOWN), Piece("<s>", 0.0, PieceType.CONTROL)]
    known = {"<unk>", "<s>"}
    singles = [letter for letter in LETTERS if letter != " " and rng.random() < 0.85]
    letters = singles or ["a"]
    combinations = [rng.choices(letters, k=rng.randrange(2, 5)) for _ in range(rng.randrange(12))]
    words = [[MARK, *rng.choices("abcx", k=rng.randrange(3))] for _ in range(rng.randrange(6))]
    for text in [*singles, *map("".join, combinations), *map("".join, words)]:
        if text in known or any(len(text) > 1 and letter not in singles for letter in text):
            continue
        known.add(text)
        kind = PieceType.USER_DEFINED if rng.random() < 0.12 else PieceType.NORMAL
        pieces.append(Piece(text, -float(rng.randrange(12)), kind))
    pieces += BYTES if has_bytes else ()
    candidates = RULES if rng.random() < 0.7 else {}
    rules = {key: value for key, value in candidates.items() if rng.random() < 0.6}
    return SentencePieceModel(
        "random.model",
        tuple(pieces),
        algorithm=algorithm,
        byte_fallback=has_bytes,
        whitespace_as_suffix=rng.random() < 0.3,
        normalizer=normalizer(
            rules,
            add_dummy_prefix=rng.random() < 0.6,
            remove_extra_whitespaces=rng.random() < 0.5,
            escape_whitespaces=rng.random() < 0.8,
        ),
    )


def piece_texts(rng: random.Random, model: SentencePieceModel, count: int) -> list[str]:
    """Texts of the pieces, of characters that the rules change, and of spaces."""
    pieces = [piece.text for piece in model.pieces if piece.type is not PieceType.BYTE]
    spaced = [text.replace(MARK, " ") for text in pieces]
    parts = [*TEXTS, *spaced, *pieces]
    return ["".join(rng.choices(parts, k=rng.randrange(12))) for _ in range(count)]
