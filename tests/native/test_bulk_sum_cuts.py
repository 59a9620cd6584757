"""The bulk engine cuts a text of SentencePiece's Unigram between characters, too, where no token
joins what the normalizer makes of them, and before spaces: the ids stay those of the core and of
the library.
"""

import random

from bulk_cores import used_for
from repository import SLOW
from sentencepiece_training import normalizer, small

from tokexport.sources.sentencepiece.proto import Algorithm, Piece, PieceType, SentencePieceModel

MARK = "\u2581"
LETTERS = "かがはば字漢、。カｶéeab,\u3099\u0301"
TEXTS = [
    *LETTERS,
    *("，", "ｶ\u3099", "か\u3099", "は\u3099", "e\u0301", "\u3000", "🙂", " ", "字字", MARK),
]
RULES = {
    "か\u3099": "が",
    "は\u3099": "ば",
    "e\u0301": "é",
    "，": ",",
    "ｶ": "カ",
    "ｶ\u3099": "が",
    "\u3000": " ",
    "。": "",
    "漢": "字か",
    "🙂": "か",
}


def rules(r: random.Random) -> dict[str, str]:
    chosen = {key: value for key, value in RULES.items() if r.random() < 0.6}
    for _ in range(r.choice((0, 0, 2))):
        key = "".join(r.choices([*LETTERS, "，", " "], k=r.choice((1, 2, 2, 3))))
        chosen[key] = "".join(r.choices([*LETTERS, " "], k=r.choice((0, 1, 1, 2))))
    return chosen | ({"か ": "ば"} if r.random() < 0.1 else {})


def unigram(r: random.Random) -> SentencePieceModel:
    """A model with many paths of almost equal sums, which are mostly reset every few words."""
    unit = r.choice((0.1, 8, 33))
    letters = [letter for letter in [*LETTERS, MARK] if r.random() < 0.85] or ["か"]
    joined = ["".join(r.choices(letters, k=r.choice((2, 2, 3, 4)))) for _ in range(r.randrange(15))]
    pieces = []
    for text in dict.fromkeys([*letters, *joined, *(MARK + text for text in joined[:4])]):
        if MARK not in text[1:]:
            score = -unit * r.randrange(1, 4) + r.choice((0, 0, 0.003, -0.004))
            pieces.append(Piece(text, score))
    if r.random() < 0.4:
        texts = {"".join(r.choices(TEXTS, k=r.choice((1, 2, 3)))) for _ in range(3)}
        for text in sorted(texts - {piece.text for piece in pieces}):
            pieces.append(Piece(text, -unit, PieceType.USER_DEFINED))
    spec = normalizer(
        rules(r) if r.random() < 0.8 else {},
        add_dummy_prefix=r.random() < 0.7,
        remove_extra_whitespaces=r.random() < 0.7,
    )
    return small(*pieces, algorithm=Algorithm.UNIGRAM, normalizer=spec)


def text_of(r: random.Random) -> str:
    parts = [*r.sample(TEXTS, r.choice((3, 8, 20))), "か", "字"]
    text = "".join(r.choices(parts, k=r.choice((2, 20, 300, 3000))))
    # The engine cuts between characters where spaces are rare.
    text = text.replace(" ", r.choice(("", "", " ", "\n")))
    return text + r.choice(("", "", " か 字" * 100))


def test_random_models_produce_the_ids_of_the_core_and_of_the_library() -> None:
    used = 0
    for seed in range(3000 if SLOW else 200):
        r = random.Random(seed)
        used += used_for(unigram(r), [text_of(r) for _ in range(10)])
    assert used > 80
