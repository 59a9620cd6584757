r"""From a pre-tokenizer's pattern to the table that splits a text: parse, partition, determinise,
minimise.

The table is a leftmost-first automaton over code point classes with one code point of lookahead. It
is run from a start position as long as it lives, and the last match end that it reports is the end
of the match; where it reports none, there is no match at that position, and the next one is tried.
"""

from __future__ import annotations

from tokexport.patterns.labels import LabelTable
from tokexport.patterns.program import MATCH_ENDS, SplitProgram, compile_pattern, compile_tree
from tokexport.patterns.tree import PatternError

__all__ = [
    "MATCH_ENDS",
    "LabelTable",
    "PatternError",
    "SplitProgram",
    "compile_pattern",
    "compile_tree",
]
