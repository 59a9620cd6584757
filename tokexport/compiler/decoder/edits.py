"""What decoding does to the whole text, compiled to one table: replacements and trimmings in a row,
text by text and state by state.

Each step is a small machine that reads bytes and writes bytes, and holds back what may still be
part of a match. A row of them is one machine, whose states are the states of all that can be met
together. UTF-8 lets it work byte by byte: a character never begins inside of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport.compiler.decoder.edit_machines import OTHER, in_runs, machine_of
from tokexport.compiler.decoder.fewest_states import Product, TooManyStatesError, fewest, product
from tokexport.errors import UnsupportedError
from tokexport.model import Matching, RunEdits, TextEdit

MAX_STATES: Final = 4096  # the ten replacements that transformers calls a clean-up have 2,376
MAX_TEXT: Final = 0x7FFF  # bytes that one transition writes


@dataclass(frozen=True, slots=True)
class EditTable:
    """``classes``: of each byte, shape (256,). By state (0 is the first) and class: ``next``;
    ``written``, the bytes that are written; and ``keeps``, whether the byte that is read is written
    after them. ``ends``: what each state writes at the end. With ``edges`` the last two classes
    are no bytes: the text of a run begins, and another token begins.
    """

    classes: npt.NDArray[np.uint8]
    next: tuple[tuple[int, ...], ...]
    written: tuple[tuple[bytes, ...], ...]
    keeps: tuple[tuple[bool, ...], ...]
    ends: tuple[bytes, ...]
    edges: bool = False


# A reader asks whether there is a table, and the writer asks for it again: making it can take most
# of the time of a conversion.
@lru_cache(maxsize=1)
def compile_edits(edits: tuple[TextEdit, ...], runs: RunEdits | None = None) -> EditTable:
    """The table of edits that follow each other; before them come those of each run of byte tokens.

    Where that is too large for texts of any characters, it is one for the characters that texts can
    have (``Matching.among``).

    Raises UnsupportedError where it would have more than 4,096 states, or a transition that writes
    more than 32,767 bytes.

    >>> from tokexport.model import Replacing
    >>> table = compile_edits((Replacing((("ab", "c"),)),))
    >>> table.next, table.ends
    (((0, 1, 0), (0, 1, 0)), (b'', b'a'))
    """
    of_any = tuple(
        replace(edit, among=None) if isinstance(edit, Matching) else edit for edit in edits
    )
    try:
        table = _table(of_any, runs)
    except UnsupportedError:
        if of_any == edits:
            raise
        table = _table(edits, runs)
    asked = [symbol for symbol in table.symbols if symbol < OTHER]
    # UTF-8 has 243 bytes, so there are never more than 256 classes.
    classes = np.zeros(256, np.uint8)
    classes[asked] = np.arange(1, len(asked) + 1)
    # No step drops a byte that it does not ask for, or writes anything after it.
    keeps = tuple(tuple(text[-1:] == (OTHER,) for text in row) for row in table.written)
    written = tuple(
        tuple(bytes(text[: len(text) - keep]) for text, keep in zip(row, kept, strict=True))
        for row, kept in zip(table.written, keeps, strict=True)
    )
    ends = tuple(map(bytes, table.ends))
    if max((len(text) for row in (*written, ends) for text in row), default=0) > MAX_TEXT:
        raise UnsupportedError(
            "decoder",
            f"a replacement by more than {MAX_TEXT:,} bytes is not supported",
            "a shorter one is",
        )
    return EditTable(
        classes, tuple(map(tuple, table.next)), written, keeps, ends, edges=runs is not None
    )


def _table(edits: Sequence[TextEdit], runs: RunEdits | None) -> Product:
    """The row as it stands where that is small enough, which most are; else one that took longer to
    make.
    """
    machines = [*map(machine_of, edits)]
    inside = [] if runs is None else [[*map(machine_of, row)] for row in (runs.first, runs.others)]
    try:
        return product([*([] if runs is None else [in_runs(*inside)]), *machines], MAX_STATES)
    except TooManyStatesError:
        pass
    try:
        small = [] if runs is None else [in_runs(*([fewest(row)] if row else [] for row in inside))]
        return product([fewest([*small, *machines])], MAX_STATES)
    except TooManyStatesError:
        found = "a row of replacements with so many states"
        raise UnsupportedError(
            "decoder", f"{found} is not supported", f"up to {MAX_STATES:,} are"
        ) from None
