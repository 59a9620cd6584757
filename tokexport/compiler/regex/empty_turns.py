r"""Repeats of something that may be empty: ``(?:\s?\w*)+``.

Does a turn that matches nothing end the repeat? Each engine has rules of its own, which go by the size of the body. But the pieces of
most patterns do not depend on it: where the table is the same whatever each repeat does, it is the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from tokexport.compiler.regex.syntax import (
    Atomic,
    Choice,
    Conditional,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    parts_of,
)

MAX_REPEATS = 4  # the readings are twice as many for each


def readings(node: Node) -> list[Node]:
    """The tree once for each way in which its repeats may take an empty turn; alone where there is no such repeat.

    Raises PatternError where these are too many.

    >>> from tokexport.compiler.regex.oniguruma import parse
    >>> [tree.ends for tree in readings(parse("(?:b?)*"))]
    [False, True]
    """
    offsets = list(dict.fromkeys(empty_turns(node)))
    if len(offsets) > MAX_REPEATS:
        raise uncertain(offsets[MAX_REPEATS])
    choices = itertools.product((False, True), repeat=len(offsets))
    return [_with_ends(node, dict(zip(offsets, ends, strict=True))) for ends in choices]


def uncertain(offset: int) -> PatternError:
    """The error for a pattern whose meaning is not certain."""
    return PatternError(
        offset,
        "a repeat of something that may be empty",
        "a repeat of something that consumes a character is, and one for which empty turns make no difference",
    )


def empty_turns(node: Node) -> Iterator[int]:
    """The offsets of the repeats whose body may be empty, from the outside in."""
    if isinstance(node, Repeat) and node.empty_turns is not None:
        yield node.empty_turns
    for part in parts_of(node):
        yield from empty_turns(part)


def _with_ends(node: Node, ends: dict[int, bool]) -> Node:
    match node:
        case Sequence(parts):
            return Sequence(tuple(_with_ends(part, ends) for part in parts))
        case Choice(options):
            return Choice(tuple(_with_ends(option, ends) for option in options))
        case Repeat(body):
            own = node.empty_turns is not None and ends[node.empty_turns]
            return replace(node, body=_with_ends(body, ends), ends=own)
        case Atomic(body) | Look(body):
            return replace(node, body=_with_ends(body, ends))
        case Conditional(_, yes, no):
            return replace(node, yes=_with_ends(yes, ends), no=_with_ends(no, ends))
        case _:
            return node
