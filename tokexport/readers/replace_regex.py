"""Replacing the matches of a regular expression in one string, as the reference does it: with the tables that splits are made of."""

from __future__ import annotations

from collections.abc import Callable

from tokexport.compiler.regex import MATCH_ENDS, SplitProgram, compile_split
from tokexport.model import Split


def replacer(split: Split, content: str) -> Callable[[str], str]:
    """A function that replaces each match of the pattern of ``split`` by ``content``.

    UnsupportedError for a pattern that cannot be a table.

    >>> replacer(Split("_+"), " ")("a__b_")
    'a b '
    """
    program = compile_split(split)

    def replace(text: str) -> str:
        parts = []
        start = position = 0
        while position < len(text):
            end = _match_end(program, text, position)
            if end is None:
                position += 1
                continue
            parts += [text[start:position], content]
            start = position = end
        return "".join([*parts, text[start:]])

    return replace


def _match_end(program: SplitProgram, text: str, start: int) -> int | None:
    """Where the match ends that begins at ``start``."""
    end_of_text = program.n_classes
    state = int(program.starts[program.classes[ord(text[start - 1])] if start else end_of_text])
    end = None
    for position in range(start, len(text) + 1):
        symbol = program.classes[ord(text[position])] if position < len(text) else end_of_text
        transition = int(program.transitions[state, symbol])
        if transition & MATCH_ENDS:
            end = position
        state = transition & ~MATCH_ENDS
        if not state:
            break
    return end
