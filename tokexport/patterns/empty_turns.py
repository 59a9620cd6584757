r"""Repeats of something that may be empty: ``(?:\s?\w*)+``.

Does a turn that matches nothing end the repeat? Each engine has rules of its own, which are not
always known: they go by the size of the body. But the pieces of most patterns do not depend on it:
where the table is the same whatever each repeat may do, it is the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

from tokexport.patterns.tree import Ends, Node, PatternError, Repeat, nodes_of, parts_of, with_parts

MAX_REPEATS = 4  # the readings are twice as many for each


def readings(node: Node) -> list[Node]:
    """The tree once for each way in which its repeats may take an empty turn; alone where there is
    no such repeat.

    Raises PatternError where these are too many.

    >>> from tokexport.patterns.oniguruma import parse
    >>> [tree.ends for tree in readings(parse("(?:b?)*"))]
    [(<Ends.NONE: 0>,), (<Ends.ALL: 2>,)]
    """
    repeats = uncertain_repeats(node)
    offsets = list(repeats)
    if len(offsets) > MAX_REPEATS:
        raise uncertain(offsets[MAX_REPEATS])
    return [
        _with_ends(node, dict(zip(offsets, ends, strict=True)))
        for ends in itertools.product(*repeats.values())
    ]


def uncertain(offset: int) -> PatternError:
    """The error for a pattern whose meaning is not certain."""
    return PatternError(
        offset,
        "a repeat of something that may be empty",
        "a repeat of something that consumes a character is, and one for which empty turns make no"
        " difference",
    )


def uncertain_repeats(node: Node) -> dict[int, tuple[Ends, ...]]:
    """What empty turns may do to repeats of which nobody but the engine knows, by their offsets,
    from the outside in.
    """
    return {
        each.empty_turns: each.ends
        for each in nodes_of(node)
        if isinstance(each, Repeat) and each.empty_turns is not None and len(each.ends) > 1
    }


def _with_ends(node: Node, ends: Mapping[int, Ends]) -> Node:
    parts = tuple(_with_ends(part, ends) for part in parts_of(node))
    if isinstance(node, Repeat) and node.empty_turns is not None and node.empty_turns in ends:
        node = replace(node, ends=(ends[node.empty_turns],))
    return with_parts(node, parts)
