"""Whether the edits of a chain of decoders fit into a table, and if not, from which decoder on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tokexport.compiler.decoder.edits import compile_edits
from tokexport.errors import UnsupportedError
from tokexport.model import Decoding, Trimmed

_MOST_HELD: Final = 64  # each is a state of the table of edits


def check_edits(edited: Sequence[tuple[str, Decoding]]) -> None:
    """``edited``: what there is after each step that adds edits, and its path. The last is the
    longest row, which is made first; where no table has it, UnsupportedError names the first step
    with which that is so.
    """
    try:
        for _, decoding in edited[-1:]:
            _check_table(decoding)
    except UnsupportedError:
        for path, decoding in edited:
            try:
                _check_table(decoding)
            except UnsupportedError as refused:
                raise UnsupportedError(path, refused.problem, refused.hint) from None


def _check_table(decoding: Decoding) -> None:
    """The edits fit into a table."""
    edits, runs = decoding.edits, decoding.runs
    row = (*edits, *(() if runs is None else runs.first + runs.others))
    if any(isinstance(edit, Trimmed) and edit.count > _MOST_HELD for edit in row):
        found = (
            f"such a replacement beside more than {_MOST_HELD} of a character that are dropped at"
            " an end of the text"
        )
        raise UnsupportedError("decoder", f"{found} is not supported", "a smaller number is")
    compile_edits(edits, runs)
