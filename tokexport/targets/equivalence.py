"""Whether two pre-tokenizers cut every text alike, for formats that refer to one by name.

Two patterns are compared by their automata, which run in lockstep over all texts at once: the
search covers every reachable pair of states, with whether both have seen the same last match end.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import UnsupportedError
from tokexport.model import Behavior, Split
from tokexport.patterns import MATCH_ENDS
from tokexport.patterns.dfa import DEAD
from tokexport.patterns.program import SplitProgram


def are_equal(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether the splits are the same, except for the path in the source."""
    ours, theirs = _splits(first), _splits(second)
    return [_key(one) for one in ours] == [_key(one) for one in theirs]


def are_equivalent(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether each split of the first does what the corresponding split of the second does.

    >>> from tokexport.model import Dialect
    >>> are_equivalent([Split(r"a+|[^a]")], [Split(r"a++|[^a]", dialect=Dialect.FANCY_REGEX)])
    True
    """
    ours, theirs = _splits(first), _splits(second)
    if len(ours) != len(theirs):
        return False
    return all(_same(one, other) for one, other in zip(ours, theirs, strict=True))


def _same(one: Split, other: Split) -> bool:
    if _key(one) == _key(other):
        return True
    if not isinstance(one.pattern, str) or not isinstance(other.pattern, str):
        return False
    if _behavior(one) != _behavior(other):
        return False
    try:
        programs = compile_split(one), compile_split(other)
    except UnsupportedError:
        return False
    # If only matches are kept, gaps are dropped.
    return _equal(*programs, cover=(one.behavior, one.invert) != (other.behavior, other.invert))


def _splits(steps: Sequence[Any]) -> list[Split]:
    return [step for step in steps if isinstance(step, Split)]


def _key(split: Split) -> tuple[object, ...]:
    return (split.pattern, split.dialect, _behavior(split))


def _behavior(split: Split) -> object:
    """The behavior; keeping only matches, as tiktoken does, equals isolating without gaps."""
    kept = split.behavior is Behavior.REMOVED and split.invert
    return (Behavior.ISOLATED, False) if kept else (split.behavior, split.invert)


def _equal(one: SplitProgram, other: SplitProgram, cover: bool) -> bool:
    """Whether both see the last match end at the same position from any start; one may see more
    match ends before it. With ``cover``, a match must begin at every position.
    """
    looks = (one.labels, one.search_starts, other.labels, other.search_starts)
    if any(found is not None for found in looks) or one.may_be_empty != other.may_be_empty:
        return False
    if not np.array_equal(one.classes.array(), other.classes.array()):
        return False
    at = {(int(a), int(b), True, not cover) for a, b in zip(one.starts, other.starts, strict=True)}
    seen = set[tuple[int, int, bool, bool]]()
    while at:
        node = at.pop()
        seen.add(node)
        mine, its, together, covered = node
        rows = one.transitions[mine].tolist(), other.transitions[its].tolist()
        for symbol, (left, right) in enumerate(zip(*rows, strict=True)):
            ends = left & MATCH_ENDS, right & MATCH_ENDS
            agree = ends[0] == ends[1] and (together or bool(ends[0]))
            step = (left & ~MATCH_ENDS, right & ~MATCH_ENDS, agree, covered or bool(ends[0]))
            if symbol == one.n_classes or step[:2] == (DEAD, DEAD):
                is_start = symbol == one.n_classes and mine in one.starts
                if not agree or not (step[3] or is_start):
                    return False
            elif step not in seen:
                at.add(step)
    return True
