r"""Text segments are Oniguruma's own: \X is one, \y is a boundary between two, \Y is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from regex_oracle import Oniguruma, assert_pieces_of_oniguruma, matches
from repository import SLOW

from tokexport.errors import UnsupportedError
from tokexport.model import Dialect, Split
from tokexport.patterns import compile_split
from tokexport.unicode import segment_sets

TEXTS = 3000 if SLOW else 60
INDICATORS = "\U0001f1e6\U0001f1e7"
HANGUL = "\u1100\u1161\u11a8\uac00\uac01"
PICTURES = "\xa9\U0001f600\u200d\U0001f3fd\u0300"
ALPHABETS = (
    f"a\u0300\u200d\xa9{INDICATORS}{HANGUL}\r\n\u0600\u0903\u0915\u094d\x01b",
    PICTURES,
    PICTURES + "\u0600",
    f"{INDICATORS}ab",
    f"{HANGUL}\u0300",
    "ab \n\r",
)
SEGMENTS = [
    *(
        r"\X",
        r"\y",
        r"\Y",
        r"\X{2}|.",
        r".\Y.",
        r"a\y.",
        r"\w+\y|\X",
        r"\R\y|\X",
        r"(?i)\Xa",
        r"\X+?b",
        r"(?!\X\X)\X",
    ),
    *(r"(?=\y)a", r"\X(?=a*b)", r"(?<=\Y.)b", r"(?<!\Ya)\X", r"(?<=\y\p{M}*)a", r"(?<=\y..)\X"),
    *(r"(?>\X)a", r"\X++a|a", r"(?>\X+?b|a)", r"(?>\X\Ya|\p{M})+", r"(?>a|\Xa)(?=\Xb)"),
    *(r"(?<=a\Y.)\Y.", r"\p{M}\y", r"\X*?\y\r", r"(?:\Xa)+", r"(\X)b"),
]


@pytest.mark.parametrize("pattern", SEGMENTS)
def test_the_pieces_are_those_of_oniguruma(pattern: str) -> None:
    assert_pieces_of_oniguruma(pattern, ALPHABETS, TEXTS, longest=14)


def test_every_pair_and_every_three_characters_of_different_kinds_are_joined_as_oniguruma_joins_them() -> (
    None
):
    program, engine = compile_split(Split(r"\X")), Oniguruma(r"\X")
    members = np.stack([*segment_sets().values()])
    members[:, 0xD800:0xE000] = members[:, :1]
    _, kinds = np.unique(np.packbits(members, axis=0), axis=1, return_index=True)
    characters = ["\r", "\n", "\u200d", *map(chr, kinds.tolist())]
    some = [
        "".join(each) for size in (1, 2, 3) for each in itertools.product(characters, repeat=size)
    ]
    assert len(kinds) == 12
    for text in some:
        assert matches(program, text) == engine.matches(text), text


def test_a_segment_whose_end_is_not_certain_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"\\X in a lookbehind"):
        compile_split(Split(r"(?<=\X)a"))


@pytest.mark.parametrize("pattern", [r"\X", r"\y", r"\Y"])
def test_fancy_regex_has_no_segments(pattern: str) -> None:
    with pytest.raises(UnsupportedError, match="the escape"):
        compile_split(Split(pattern, dialect=Dialect.FANCY_REGEX))
