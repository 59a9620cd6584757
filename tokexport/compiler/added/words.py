"""The characters that an added token tests for on either side: white space and word characters."""

from typing import Final

import numpy as np

from tokexport.compiler.class_table import class_table
from tokexport.compiler.tables import ClassTable
from tokexport.model import Dialect
from tokexport.unicode import CodePoints, property_set, shorthand_set

# Alphabetic since Unicode 17.
_ALPHABETIC_17: Final = (
    "88F C5C CDC A7CE-A7CF A7D2 A7D4 A7F1 10940-10959 10EC5-10EC7 10EFA-10EFB 11B60-11B67"
    " 11DB0-11DDB 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF 18D09-18D1E 18D80-18DF2"
    " 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 2B73A-2B73F 2CEA2-2CEAD 323B0-33479"
)
_VIRAMA: Final = 0x111C9  # a mark since Unicode 11, punctuation before
_JOINERS: Final = [0x200C, 0x200D]


def space_and_word_classes(*, of_version_1: bool) -> ClassTable:
    r"""The flags of each character: 1, white space; 2, a word character as the Rust regex crate
    defines it, whatever engine the pre-tokenizer uses.

    ``of_version_1``: from 1.0 on, `tokenizers` takes alphabetic characters from Rust's standard
    library and the rest from a crate of Unicode 8 (release candidate, tested on all scalar values).
    """
    space = shorthand_set("s", Dialect.FANCY_REGEX).astype(np.uint8)
    word = _word_of_version_1() if of_version_1 else shorthand_set("w", Dialect.FANCY_REGEX)
    return class_table((space | word.astype(np.uint8) * 2).astype(np.uint8))


def _word_of_version_1() -> CodePoints:
    properties = {
        name: property_set(name, Dialect.FANCY_REGEX)
        for name in ("Alphabetic", "Nd", "Pc", "M", "age=8.0")
    }
    old = (properties["Nd"] | properties["Pc"] | properties["M"]) & properties["age=8.0"]
    old[_VIRAMA] = False
    word: CodePoints = properties["Alphabetic"] | old
    for part in _ALPHABETIC_17.split():
        first, _, last = part.partition("-")
        word[int(first, 16) : int(last or first, 16) + 1] = True
    word[_JOINERS] = True
    return word
