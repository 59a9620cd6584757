"""Replacing the matches of a program in one string, slowly, as the reference does it."""

from __future__ import annotations

from collections.abc import Sequence

from tokexport.patterns import MATCH_ENDS, SplitProgram


def replace_matches(program: SplitProgram, text: str, content: str) -> str:
    """The text with ``content`` in place of each match.

    A match of no characters counts, at the end of the text too, but not directly after another
    match; and not in an empty text.

    >>> from tokexport.compiler.splits.compile_split import compile_split
    >>> from tokexport.model import Split
    >>> replace_matches(compile_split(Split("a*")), "baac", "-")
    '-b-c-'
    """
    parts = []
    start = position = 0
    last_end = -1  # of the last match
    read = program.read(text)
    while text and position <= len(text):
        end = match_end(program, read, position)
        if end is None or end == position == last_end:
            position += 1
            continue
        parts += [text[start:position], content]
        start = position = last_end = end
    return "".join([*parts, text[start:]])


def match_end(program: SplitProgram, read: Sequence[int], start: int) -> int | None:
    """Where the match that begins at ``start`` of what a program reads ends; None: no match."""
    end_of_text = program.n_classes
    state = int(program.starts[read[start - 1] if start else end_of_text])
    end = None
    for position in range(start, len(read) + 1):
        transition = int(
            program.transitions[state, read[position] if position < len(read) else end_of_text]
        )
        if transition & MATCH_ENDS:
            end = position
        state = transition & ~MATCH_ENDS
        if not state:
            break
    return end
