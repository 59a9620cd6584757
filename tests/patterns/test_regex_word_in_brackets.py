r"""Oniguruma's ``\w`` has six more members outside of brackets than inside, and so has the
compiler.
"""

from __future__ import annotations

import pytest
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split as ReferenceSplit

from tokexport.model import Split
from tokexport.patterns import compile_split

PATTERNS = [
    r"\w",
    r"[\w]",
    r"[^\w]",
    r"[\W]",
    r"\W",
    r"[[:word:]]",
    r"[[:^word:]]",
    r"\p{Word}",
    r"[\p{Word}]",
    r"[\w&&[^a]]",
]
CHARACTERS = "²³¹¼½¾a_9 ñ中.\u200c\u200d"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_character_is_in_the_set_where_it_is_in_the_references(pattern: str) -> None:
    program = compile_split(Split(pattern))
    reference = ReferenceSplit(Regex(pattern), "removed")
    first = program.transitions[program.starts[-1], program.classes] & 0x7FFF
    for character in CHARACTERS:
        matched = not reference.pre_tokenize_str(character)
        assert bool(first[ord(character)]) == matched, hex(ord(character))
