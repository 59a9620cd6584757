"""Replacing the matches of a program in one string, slowly, as the reference does it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from tokexport.errors import UnsupportedError
from tokexport.model import Replace, Split
from tokexport.patterns import MATCH_ENDS, PatternError, SplitProgram, compile_pattern


@functools.cache
def compile_replace(step: Replace) -> SplitProgram:
    """Compile a regular expression whose matches are replaced. A match of no characters matters
    only where there is some content.

    Raises UnsupportedError as ``compile_split`` does, and for what only splits may have.
    """
    try:
        program = compile_pattern(step.pattern, step.dialect)
        if program.search_starts is not None:
            hint = r"\G is supported in splits"
            raise PatternError(0, r"the anchor \G in a replacement", hint)
        if program.labels is not None:
            hint = "lookahead over the next character is supported, and any in splits"
            raise PatternError(0, "a lookahead over more than one character in a replacement", hint)
    except PatternError as error:
        raise refusal(step, error) from None
    return program if step.content else replace(program, may_be_empty=False)


def refusal(step: Replace | Split, error: PatternError) -> UnsupportedError:
    """The refusal of a step for what its pattern has."""
    return UnsupportedError(
        step.path,
        f"the {step.dialect.value} pattern {step.pattern!r} has {error.found} at offset"
        f" {error.offset}",
        error.hint,
    )


def replace_matches(program: SplitProgram, text: str, content: str) -> str:
    """The text with ``content`` in place of each match.

    A match of no characters counts, at the end of the text too, but not directly after another
    match; and not in an empty text.

    >>> replace_matches(compile_replace(Replace("a*", "-")), "baac", "-")
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
