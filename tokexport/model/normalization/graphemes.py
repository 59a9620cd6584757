"""Grapheme clusters as a split program: each match is an extended grapheme cluster (UAX #29).

Characters become letters, one for each class of the rules, and a cluster is a regular expression
over these, as in table 1c of UAX #29. Pairs of regional indicators (GB12, GB13) are two clusters
here, which makes no difference to any operation on clusters. The classes are the reference's.
"""

import functools
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.model import Dialect
from tokexport.model.normalization.normal_forms import HANGUL_SYLLABLES
from tokexport.patterns import SplitProgram, compile_pattern
from tokexport.unicode.store import CODE_POINTS, CodePoints, Intervals, shipped

_JOINER: Final = 0x200D
# R, N: CR, LF; C: controls; P: characters that join the next one. l, v, t: leading consonants,
# vowels and trailing consonants of Hangul; s, S: syllables without and with a trailing consonant.
# g: pictographic; k: consonants of a conjunct. Marks: e, n (a linker) and the joiner j occur in
# conjuncts, b and m (a spacing mark) do not. o: all others.
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

    def members(name: str) -> CodePoints:
        return data.members(data.header["graphemes"][name])

    attach = members("attach")
    extend = attach & members("extend")
    syllables = np.zeros(CODE_POINTS, np.bool_)
    syllables[HANGUL_SYLLABLES] = True
    letters = np.full(CODE_POINTS, ord("o"), np.uint8)
    for letter, name, within in (
        ("t", "before_trailing", None),
        ("S", "before_trailing", syllables),
        ("v", "before_vowel", None),
        ("s", "before_vowel", syllables),
        ("l", "before_leading", None),
        ("P", "prepend", None),
        ("k", "consonant", None),
        ("g", "pictographic", None),
        ("m", "attach", None),
        ("b", "extend", attach),
        ("e", "conjunct_extend", extend),
        ("n", "linker", attach),
        ("C", "control", None),
    ):
        found = members(name)  # one at a time: each takes a megabyte
        letters[found if within is None else found & within] = ord(letter)
    letters[[_JOINER, ord("\r"), ord("\n")]] = np.frombuffer(b"jRN", np.uint8)
    return letters


@functools.cache
def grapheme_program() -> SplitProgram:
    """The program whose matches are the clusters of a text.

    >>> from tokexport.patterns import spans
    >>> [len(cluster) for cluster in spans(grapheme_program(), "e\u0301\\r\\n각")]
    [2, 2, 1]
    """
    program = compile_pattern(_CLUSTER, Dialect.ONIGURUMA)
    letters = Intervals.of(_letters())
    return replace(program, classes=replace(letters, values=program.classes[letters.values]))
