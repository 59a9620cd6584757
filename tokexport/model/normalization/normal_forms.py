"""The tables of the Unicode normal forms, as in the reference library.

``tokenizers`` 0.23 normalizes with Unicode 9 tables, whatever the Unicode version of its regular
expressions: NFKC leaves U+32FF, which is newer, unchanged. ``tokenizers`` 1.0 uses Unicode 17. The
tables record the output of the libraries for every scalar value (fixtures/unicode_tables). The
algorithm is that of UAX #15, https://unicode.org/reports/tr15/, without exceptions.
"""

import functools
import unicodedata
from dataclasses import dataclass

import numpy as np

from tokexport.model import NormalForm
from tokexport.unicode.store import shipped

# Conjoining jamo behaviour: The Unicode Standard, section 3.12.
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
HANGUL_VOWELS = range(0x1161, 0x1176)
HANGUL_TRAILING = range(0x11A8, 0x11C3)


@dataclass(frozen=True, slots=True)
class NormalizationTables:
    """The tables of one normal form; none of the three includes Hangul, which is computed.

    ``decompositions``: code point -> its full (recursive) decomposition; ``combining_classes``:
    code point -> canonical combining class, where that is not 0; ``compositions``: (first, second)
    -> the code point that they compose to, empty for NFD and NFKD.
    """

    decompositions: dict[int, tuple[int, ...]]
    combining_classes: dict[int, int]
    compositions: dict[tuple[int, int], int]


@functools.cache
def normalization_tables(form: NormalForm) -> NormalizationTables:
    """The tables of a normal form.

    >>> tables = normalization_tables(NormalForm.NFC)
    >>> [hex(code_point) for code_point in tables.decompositions[0x1E69]]
    ['0x73', '0x323', '0x307']
    >>> hex(tables.compositions[0x1E63, 0x307])
    '0x1e69'
    """
    data = shipped("normal_forms_17.dat" if form.is_of_unicode_17 else "normal_forms.dat")
    decompositions = data.texts(data.header["decompositions"]["canonical"])
    if "K" in form.name:
        decompositions |= data.texts(data.header["decompositions"]["compatibility"])
    # Each entry: the distance from the previous code point, the class.
    distances, classes = np.reshape(data.sequence(data.header["combining_classes"]), (-1, 2)).T
    triples = np.reshape(data.sequence(data.header["compositions"]), (-1, 3)).tolist()
    return NormalizationTables(
        dict(sorted(decompositions.items())),
        dict(zip(np.cumsum(distances).tolist(), classes.tolist(), strict=True)),
        {(one, two): both for one, two, both in triples if form.composes},
    )


def quick_check_no_or_maybe(tables: NormalizationTables) -> frozenset[int]:
    """The code points whose quick check is No or Maybe (UAX #15).

    A string without them is normalized if its combining classes never decrease between marks.

    >>> no_or_maybe = quick_check_no_or_maybe(normalization_tables(NormalForm.NFC))
    >>> 0xE9 in no_or_maybe, 0x301 in no_or_maybe, 0x212B in no_or_maybe
    (False, True, True)
    """
    if not tables.compositions:
        return frozenset(tables.decompositions) | frozenset(HANGUL_SYLLABLES)
    seconds = {second for _, second in tables.compositions} | {*HANGUL_VOWELS, *HANGUL_TRAILING}

    def composed(first: int, second: int) -> int:  # 0: they do not, and 0 composes with nothing
        return tables.compositions.get((first, second), 0)

    fails = {
        code_point
        for code_point, (first, *rest) in tables.decompositions.items()
        if first in seconds or functools.reduce(composed, rest, first) != code_point
    }
    return frozenset(fails | seconds)


def letters_of(syllable: str) -> str:
    """The letters that a Hangul syllable decomposes to; the same in every version of Unicode.

    >>> [hex(ord(letter)) for letter in letters_of("각")]
    ['0x1100', '0x1161', '0x11a8']
    """
    return unicodedata.normalize("NFD", syllable)
