"""Replacing the matches of a regular expression in one string, as the reference does it: with the tables that splits are made of."""

from __future__ import annotations

from collections.abc import Callable

from tokexport.compiler.regex import MATCH_ENDS, SplitProgram, compile_split
from tokexport.model import Split


def replacer(split: Split, content: str) -> Callable[[str], str]:
    """A function that replaces each match of the pattern of ``split`` by ``content``.

    A match of no characters counts, at the end of the text too, but not directly behind another match; and not in an empty text.
    UnsupportedError for a pattern that cannot be a table.

    >>> replacer(Split("_+"), " ")("a__b_"), replacer(Split("a*"), "-")("baac")
    ('a b ', '-b-c-')
    """
    program = compile_split(split)

    def replace(text: str) -> str:
        parts = []
        start = position = 0
        behind = -1  # the end of the last match
        read = program.read(text)
        while text and position <= len(text):
            end = _match_end(program, read, position)
            if end is None or end == position == behind:
                position += 1
                continue
            parts += [text[start:position], content]
            start = position = behind = end
        return "".join([*parts, text[start:]])

    return replace


def _match_end(program: SplitProgram, read: list[int], start: int) -> int | None:
    """Where the match ends that begins at ``start``."""
    end_of_text = program.n_classes
    state = int(program.starts[read[start - 1] if start else end_of_text])
    end = None
    for position in range(start, len(read) + 1):
        transition = int(program.transitions[state, read[position] if position < len(read) else end_of_text])
        if transition & MATCH_ENDS:
            end = position
        state = transition & ~MATCH_ENDS
        if not state:
            break
    return end
