"""A regular expression that matches nothing but a run of one character at the end of a text, of any
length: to drop that is to strip it.

A table of edits could not do it, as it would have to count what it holds back.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import numpy as np

from tokexport.errors import UnsupportedError
from tokexport.model import Split
from tokexport.patterns import MATCH_ENDS, SplitProgram, compile_replace

_SURROGATES: Final = slice(0xD800, 0xE000)
_DEAD: Final = 0


def run_at_end(split: Split, among: Set[str] | None) -> str:
    r"""The character of which ``split`` matches the whole run at the end of each text, and nothing
    else; ``""`` if there is none.

    ``among``: the characters of which a text can be; ``None``: any. What is matched by no
    characters is left out.

    >>> run_at_end(Split(r" +\z"), None), run_at_end(Split(" +$"), None), run_at_end(Split(r"\s*$"), {" ", "a"})
    (' ', '', ' ')
    """
    try:
        program = compile_replace(split, "")
    except UnsupportedError:
        return ""
    if program.labellings:
        return ""
    is_met = (
        np.ones(len(program.classes), np.bool_)
        if among is None
        else np.zeros(len(program.classes), np.bool_)
    )
    is_met[[*map(ord, among or ())]] = True
    is_met[_SURROGATES] = False
    counts = np.bincount(program.classes[is_met], minlength=program.n_classes)
    met = [number for number in range(program.n_classes) if counts[number]]
    for number in met:
        if counts[number] == 1 and _is_run(
            program, number, [other for other in met if other != number]
        ):
            return chr(int(np.flatnonzero(is_met & (program.classes == number))[0]))
    return ""


def _is_run(program: SplitProgram, number: int, others: Sequence[int]) -> bool:
    """Whether each match is of characters of the class ``number`` up to the end of the text, from
    where they begin, among ``others``.
    """
    end = program.n_classes  # it stands for the start of the text too
    following = (program.transitions & ~np.uint16(MATCH_ENDS)).astype(np.int64)
    ends = (program.transitions & MATCH_ENDS) != 0
    before = {int(program.starts[each]) for each in (*others, end)}
    states: set[int] = set()
    waiting = {int(following[state, number]) for state in before}
    while waiting:
        states |= waiting
        waiting = {int(following[state, number]) for state in waiting} - states
    inside = sorted(states)
    return bool(
        _DEAD not in states
        and not following[np.ix_(sorted(before | states), others)].any()
        and not ends[np.ix_(inside, [number, *others])].any()
        and ends[inside, end].all()
    )
