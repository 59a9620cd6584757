"""Words with unknown characters are in the cache of the bulk engine, too: the ids of
SentencePiece's Unigram stay those of the core and of the library, however often the sum is reset.
"""

import random

from bulk_cores import used_for
from repository import SLOW
from sentencepiece_training import BYTES, normalizer, unigram

from tokexport.sources.sentencepiece.proto import SentencePieceModel

MARK = "\u2581"
LETTERS = "abxyéжか字ก\u0301"
RULES = {"Ж": "ж", "e\u0301": "é", "、": ",", "ｶ": "か", "\u3000": " ", "y": ""}


def half_known(r: random.Random) -> SentencePieceModel:
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
    spec = normalizer(
        rules, add_dummy_prefix=r.random() < 0.7, remove_extra_whitespaces=r.random() < 0.7
    )
    has_bytes = r.random() < 0.2
    how = {"byte_fallback": has_bytes, "normalizer": spec}
    return unigram(scores or {"a": -unit}, *(BYTES if has_bytes else ()), **how)


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
        used += used_for(half_known(r), [text_of(r) for _ in range(8)])
    assert used > 60


# With paths of equal sums, and resets of the sum every few hundred words.
TIES = unigram({MARK: -7.97, "x": -25.889, "xxx": -71.484, "жa": -60.1, "a": -31.3})


def test_a_sum_may_be_reset_inside_unknown_text() -> None:
    words = ["ж", "жж", "aжa", "жжжaж", "xжxxxx", "xxxx", "xxxxxxx"]
    texts = (" ".join(random.Random(seed).choices(words, k=20_000)) for seed in range(12))
    assert used_for(TIES, texts)


def test_there_may_be_more_unknown_texts_than_have_ids_of_their_own() -> None:
    r = random.Random(0)
    unknown = {"".join(r.choices("жгдй", k=r.randrange(5, 14))) for _ in range(90_000)}
    assert len(unknown) > 1 << 16
    text = " ".join(f"{word} xxxx" for word in sorted(unknown))
    assert used_for(TIES, [text[: len(text) // 4], text, text])
