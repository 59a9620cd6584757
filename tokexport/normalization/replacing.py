"""Replaces the matches of a program in one string, slowly, exactly as in the reference."""

import functools
from dataclasses import replace

from tokexport.errors import UnsupportedError
from tokexport.model import Replace, Split
from tokexport.patterns import PatternError, SplitProgram, compile_pattern, compile_tree
from tokexport.patterns.tree import text_of


@functools.cache
def compile_replace(step: Replace) -> SplitProgram:
    """Compiles a regular expression, or a text, whose matches are replaced. Empty matches matter
    only if the content is not empty.

    Raises UnsupportedError as ``compile_split`` does, and for constructs allowed only in splits.
    """
    try:
        if step.literal:
            program = compile_tree(text_of(step.pattern))
        else:
            program = compile_pattern(step.pattern, step.dialect)
        if program.search_starts is not None:
            hint = r"\G is supported in splits"
            raise PatternError(0, r"the anchor \G in a replacement", hint)
        if program.labels is not None:
            hint = "lookahead over the next character is supported, and any in splits"
            raise PatternError(0, "a lookahead over more than one character in a replacement", hint)
    except PatternError as error:
        if step.literal:
            problem = f"a text of {len(step.pattern)} characters to replace is not supported"
            raise UnsupportedError(step.path, problem, "a shorter one is") from None
        raise refusal(step, error) from None
    return program if step.content else replace(program, may_be_empty=False)


def refusal(step: Replace | Split, error: PatternError) -> UnsupportedError:
    """The refusal of a step because of its pattern."""
    pattern = f"the {step.dialect.value} pattern {step.pattern!r}"
    problem = f"{pattern} has {error.problem}"
    return UnsupportedError(step.path, problem, error.hint)


def replace_matches(program: SplitProgram, text: str, content: str) -> str:
    """The text with ``content`` in place of each match.

    An empty match counts, but not immediately after another match, or in an empty text.

    >>> replace_matches(compile_replace(Replace("a*", "-", literal=False)), "baac", "-")
    '-b-c-'
    """
    parts = []
    start = position = 0
    last_end = -1  # of the last match
    read = program.read(text)
    while text and position <= len(text):
        end = program.match_end(read, position)
        if end is None or end == position == last_end:
            position += 1
            continue
        parts += [text[start:position], content]
        start = position = last_end = end
    return "".join([*parts, text[start:]])
