"""Grapheme clusters as a split program: each match is an extended grapheme cluster (UAX #29).

Characters become letters, one for each class of the rules, and the clusters are a regular
expression over these, as table 1c of UAX #29 has it. Pairs of regional indicators (GB12, GB13) are
two clusters here: nothing that looks at clusters can tell. The classes are the reference's.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.model import Dialect
from tokexport.normalization.normal_forms import HANGUL_SYLLABLES
from tokexport.patterns import SplitProgram, compile_pattern
from tokexport.unicode.store import CODE_POINTS, looked_up, shipped

_JOINER: Final = 0x200D
# R, N: CR, LF; C: controls; P: what is joined to the next character. l, v, t: leading consonants,
# vowels and trailing consonants of Hangul; s, S: its syllables without and with a trailing one.
# g: pictographic; k: consonants of a conjunct. Marks: e, n (which links) and the joiner j stand in
# conjuncts, b and m (a spacing one) do not. o: all others.
_MARKS: Final = "[ebnjm]*"
_CLUSTER: Final = (
    "RN?|[NC]|P*(?:"
    "l*[vs]v*t*|l*St*|t+|l+"  # GB6 to GB8
    "|g(?:[ebn]*jg)*"  # GB11
    "|k(?:[ej]*n[ejn]*k)*"  # GB9c
    f"|[^RNC]){_MARKS}"  # GB9, GB9a, GB9b
)


def _letters() -> npt.NDArray[np.uint8]:
    """The letter of each code point, shape (0x110000,)."""
    data = shipped("characters.dat")
    sets = {name: data.members(number) for name, number in data.header["graphemes"].items()}
    attach, extend = sets["attach"], sets["attach"] & sets["extend"]
    syllables = np.zeros(CODE_POINTS, np.bool_)
    syllables[HANGUL_SYLLABLES] = True
    letters = np.full(CODE_POINTS, ord("o"), np.uint8)
    for letter, members in (
        ("t", sets["before_trailing"]),
        ("S", sets["before_trailing"] & syllables),
        ("v", sets["before_vowel"]),
        ("s", sets["before_vowel"] & syllables),
        ("l", sets["before_leading"]),
        ("P", sets["prepend"]),
        ("k", sets["consonant"]),
        ("g", sets["pictographic"]),
        ("m", attach),
        ("b", extend),
        ("e", extend & sets["conjunct_extend"]),
        ("n", attach & sets["linker"]),
        ("C", sets["control"]),
        ("j", [_JOINER]),
        ("R", [ord("\r")]),
        ("N", [ord("\n")]),
    ):
        letters[members] = ord(letter)
    return letters


@functools.cache
def grapheme_program() -> SplitProgram:
    """The program whose matches are the clusters of a text.

    >>> from tokexport.patterns import spans
    >>> [len(cluster) for cluster in spans(grapheme_program(), "e\u0301\\r\\n각")]
    [2, 2, 1]
    """
    program = compile_pattern(_CLUSTER, Dialect.ONIGURUMA)
    return replace(program, classes=looked_up(program.classes[:256], _letters()))
