"""What decoding does to the whole text, compiled to one table: replacements and trimmings in a row, text by text and state by state.

Each step is a small machine that reads bytes and writes bytes, and holds back what may still be part of a match. A row of them is one
machine, whose states are the states of all that can be met together. UTF-8 lets it work byte by byte: a character never begins inside
of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.edit_machines import OTHER, RUN, TOKEN, end_of, in_runs, machine_of, pass_on
from tokexport.errors import UnsupportedError
from tokexport.model import RunEdits, TextEdit

MAX_STATES: Final = 4096  # the ten replacements that transformers calls a clean-up have 2,376
MAX_TEXT: Final = 0x7FFF  # bytes that one transition writes


@dataclass(frozen=True, slots=True)
class EditTable:
    """``classes``: of each byte, shape (256,). By state (0 is the first) and class: ``next``; ``written``, the bytes that are written; and
    ``keeps``, whether the byte that is read is written behind them. ``ends``: what each state writes at the end. With ``edges`` the last
    two classes are no bytes: the text of a run begins, and another token begins.
    """

    classes: npt.NDArray[np.uint8]
    next: tuple[tuple[int, ...], ...]
    written: tuple[tuple[bytes, ...], ...]
    keeps: tuple[tuple[bool, ...], ...]
    ends: tuple[bytes, ...]
    edges: bool = False


def compile_edits(edits: Sequence[TextEdit], runs: RunEdits | None = None) -> EditTable:
    """The table of edits that follow each other; before them come those of each run of byte tokens.

    Raises UnsupportedError where it would have more than 4,096 states, or a transition that writes more than 32,767 bytes.

    >>> from tokexport.model import Replacing
    >>> table = compile_edits([Replacing((("ab", "c"),))])
    >>> table.next, table.ends
    (((0, 1, 0), (0, 1, 0)), (b'', b'a'))
    """
    machines = [*([] if runs is None else [in_runs(runs)]), *map(machine_of, edits)]
    asked = sorted(frozenset[int]().union(*(machine.asked for machine in machines)))
    edges = () if runs is None else (RUN, TOKEN)
    # UTF-8 has 243 bytes, so there are never more than 256 classes.
    classes = np.zeros(256, np.uint8)
    classes[asked] = np.arange(1, len(asked) + 1)
    numbers = {tuple(machine.start for machine in machines): 0}
    queue = [*numbers]
    following: list[tuple[int, ...]] = []
    written: list[tuple[bytes, ...]] = []
    keeps: list[tuple[bool, ...]] = []
    for states in queue:
        row = []
        for symbol in (OTHER, *asked, *edges):
            given, after = pass_on(machines, states, [symbol])
            if after not in numbers:
                if len(numbers) == MAX_STATES:
                    raise UnsupportedError(
                        "decoder", "a row of replacements with so many states", f"up to {MAX_STATES:,} are"
                    )
                numbers[after] = len(numbers)
                queue.append(after)
            # No step drops a byte that it does not ask for, or writes anything behind it.
            keep = given[-1:] == [OTHER]
            row.append((numbers[after], bytes(given[: len(given) - keep]), keep))
        following.append(tuple(number for number, _, _ in row))
        written.append(tuple(text for _, text, _ in row))
        keeps.append(tuple(keep for _, _, keep in row))
    ends = tuple(bytes(end_of(machines, states)) for states in queue)
    if max((len(text) for row in (*written, ends) for text in row), default=0) > MAX_TEXT:
        raise UnsupportedError("decoder", f"a replacement by more than {MAX_TEXT:,} bytes", "a shorter one is")
    return EditTable(classes, tuple(following), tuple(written), tuple(keeps), ends, edges=bool(edges))
