"""Words with unknown characters are in the cache of the bulk engine, too: the ids of
SentencePiece's Unigram stay those of the core and of the library, however often the sum is reset.
"""

import random
from collections.abc import Iterable

from bulk_cores import NEVER, ids, used_for
from repository import SLOW
from sentencepiece_training import library_of, model_of, small
from unicode_tables.charsmap import charsmap_of

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.sources.sentencepiece.proto import (
    Algorithm,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
)

MARK = "\u2581"
LETTERS = "abxyéжか字ก\u0301"
RULES = {"Ж": "ж", "e\u0301": "é", "、": ",", "ｶ": "か", "\u3000": " ", "y": ""}


def model(
    scores: dict[str, float], normalizer: NormalizerSpec, has_bytes: bool = False
) -> SentencePieceModel:
    pieces = [Piece(*item) for item in scores.items()]
    if has_bytes:
        pieces += [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256)]
    how = {"algorithm": Algorithm.UNIGRAM, "byte_fallback": has_bytes, "normalizer": normalizer}
    return small(*pieces, **how)


def unigram(r: random.Random) -> SentencePieceModel:
    """A model in which half of the letters are unknown, though tokens of several may have them."""
    unit = r.choice((0.1, 8, 25, 30))
    # The normalizer may change "Ж" and "ｶ" to letters that are unknown.
    singles = [letter for letter in [*LETTERS, "Ж", "ｶ"] if r.random() < 0.5]
    joined = ["".join(r.choices(LETTERS, k=r.choice((2, 2, 3)))) for _ in range(r.randrange(9))]
    marks = [MARK] if r.random() < 0.9 else []
    scores = {
        text: -unit * r.randrange(1, 4) + r.choice((0, 0, 0.001, 0.003, -0.004))
        for text in [*marks, *singles, *joined, *(MARK + text for text in [*singles, *joined][:4])]
    }
    rules = {key: value for key, value in RULES.items() if r.random() < 0.6}
    return model(
        scores or {"a": -unit},
        NormalizerSpec(
            charsmap_of(rules) if rules else b"",
            add_dummy_prefix=r.random() < 0.7,
            remove_extra_whitespaces=r.random() < 0.7,
        ),
        has_bytes=r.random() < 0.2,
    )


def text_of(r: random.Random) -> str:
    letters = [*LETTERS, *RULES, "😀", ",", "1"]
    words = ["".join(r.choices(letters, k=r.choice((1, 2, 4, 9, 40)))) for _ in range(9)]
    text = r.choice((" ", " ", "  ", "\u3000", "")).join(
        r.choices(words, k=r.choice((5, 50, 3000)))
    )
    return r.choice(("", " ", "か")) + text + r.choice(("", " ", "字"))


def test_random_models_produce_the_ids_of_the_core_and_of_the_library() -> None:
    used = 0
    for seed in range(3000 if SLOW else 150):
        r = random.Random(seed)
        used += used_for(unigram(r), [text_of(r) for _ in range(8)])
    assert used > 60


def compare(texts: Iterable[str]) -> None:
    """With paths of equal sums, and resets of the sum every few hundred words."""
    scores = {MARK: -7.97, "x": -25.889, "xxx": -71.484, "жa": -60.1, "a": -31.3}
    source = model(scores, NormalizerSpec(b""))
    data, library = file_bytes(model_of(source)), library_of(source)
    engines = [Core(data, "engine", 0, width) for width in split_widths()]
    core = Core(data, "core", NEVER)
    for text in texts:
        expected = library.encode(text)
        assert all(ids(one, text) == expected for one in (core, *engines))
    assert all(engine.uses_bulk for engine in engines)


def test_a_sum_may_be_reset_inside_unknown_text() -> None:
    words = ["ж", "жж", "aжa", "жжжaж", "xжxxxx", "xxxx", "xxxxxxx"]
    compare(" ".join(random.Random(seed).choices(words, k=20_000)) for seed in range(12))


def test_there_may_be_more_unknown_texts_than_have_ids_of_their_own() -> None:
    r = random.Random(0)
    unknown = {"".join(r.choices("жгдй", k=r.randrange(5, 14))) for _ in range(90_000)}
    assert len(unknown) > 1 << 16
    text = " ".join(f"{word} xxxx" for word in sorted(unknown))
    compare([text[: len(text) // 4], text, text])
