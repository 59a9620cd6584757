"""Replacing the matches of a regular expression in one string, as the reference does it: with the
tables that splits are made of.
"""

from __future__ import annotations

from collections.abc import Callable

from tokexport.compiler.normalizer.replacing import replace_matches
from tokexport.model import Split
from tokexport.patterns import compile_replace


def replacer(split: Split, content: str) -> Callable[[str], str]:
    """A function that replaces each match of the pattern of ``split`` by ``content``.

    UnsupportedError for a pattern that cannot be a table.

    >>> replacer(Split("_+"), " ")("a__b_"), replacer(Split("a*"), "-")("baac")
    ('a b ', '-b-c-')
    """
    program = compile_replace(split, content)
    return lambda text: replace_matches(program, text, content)
