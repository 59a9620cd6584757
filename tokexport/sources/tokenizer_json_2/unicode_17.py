r"""Regular expressions with Unicode 17 for an engine with Unicode 16.

``tokenizers`` 1.0 (release candidate 3) has the properties of Unicode 17, Oniguruma in 0.23 those
of 16. Unicode does not remove characters from these properties (except U+0295, see below), so a
property of 17 is that of 16 plus a few ranges, found by testing the release candidate on every
scalar value; all are in ``Age=17.0`` of the Unicode Character Database.
"""

import re
from collections.abc import Mapping
from typing import Final

_UPPER: Final = "A7CE A7D2 A7D4 16EA0-16EB8"
_LOWER: Final = "A7CF 16EBB-16ED3"
_MODIFIER: Final = "A7F1 10EC5 11DD9 16FF2-16FF3 1E6FF"
_OTHER_LETTERS: Final = (
    "88F C5C CDC 10940-10959 10EC6-10EC7 11DB0-11DD8 11DDA-11DDB 187F8-187FF 18D09-18D1E"
    " 18D80-18DF2 1E6C0-1E6DE 1E6E0-1E6E2 1E6E4-1E6E5 1E6E7-1E6ED 1E6F0-1E6F4 1E6FE 2B73A-2B73F"
    " 2CEA2-2CEAD 323B0-33479"
)
_LETTERS: Final = f"{_UPPER} {_LOWER} {_MODIFIER} {_OTHER_LETTERS}"
_NUMBERS: Final = "11DE0-11DE9 16FF4-16FF6"
_MARKS: Final = "1ACF-1ADD 1AE0-1AEB 10EFA-10EFB 11B60-11B67 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5"
_SYMBOLS: Final = (
    "20C1 2B96 FBC3-FBD2 FD90-FD91 FDC8-FDCE 10ED1-10ED8 1CCFA-1CCFC 1CEBA-1CED0 1CEE0-1CEF0 1F6D8"
    " 1F777-1F77A 1F8D0-1F8D8 1FA54-1FA57 1FA8A 1FA8E 1FAC8 1FACD 1FAEA 1FAEF 1FBFA"
)
_NEW: Final[Mapping[str, str]] = {
    "L": _LETTERS,
    "N": _NUMBERS,
    "M": _MARKS,
    "P": "10ED0",
    "S": _SYMBOLS,
    "Lu": _UPPER,
    "Lt": "",
    "Ll": _LOWER,
    "Lm": _MODIFIER,
    "Han": "",  # of Unicode 16 there too
    # U+0295 moved from Ll to Lo; the patterns here have Lo wherever they have Ll
    "Lo": f"295 {_OTHER_LETTERS}",
}
_PROPERTY: Final = re.compile(r"\\p\{(\w+)\}")


def _ranges(text: str) -> str:
    """``A-B`` in hexadecimal, as part of a bracket expression."""
    return re.sub(r"\w+", r"\\x{\g<0>}", text).replace(" ", "")


def with_unicode_17(pattern: str) -> str:
    r"""A pattern whose properties include the additions of Unicode 17. KeyError for an unknown one.

    >>> with_unicode_17(r"\p{P}+")
    '[\\p{P}\\x{10ED0}]+'
    """
    return _PROPERTY.sub(lambda match: f"[{match[0]}{_ranges(_NEW[match[1]])}]", pattern)


# Punctuation, BertPreTokenizer: punctuation in ASCII or in Unicode.
PUNCTUATION: Final = with_unicode_17(r"[!-/:-@\[-`{-~\p{P}]")
# Whitespace: its \w also includes the two joiners, as in UTS #18.
_WORD: Final = rf"\w\x{{200C}}\x{{200D}}{_ranges(f'{_LETTERS} {_NUMBERS} {_MARKS}')}"
WORDS: Final = rf"[{_WORD}]+|[^{_WORD}\s]+"
