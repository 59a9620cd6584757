"""A split program with what a file has beside it: its class table, and where it need not run."""

from __future__ import annotations

import numpy as np

from tokexport.compiler.class_table import CODE_POINTS, class_table
from tokexport.compiler.passes.skip_hints import leads_without_match
from tokexport.compiler.tables import ProgramTable
from tokexport.patterns import SplitProgram


def program_table(program: SplitProgram) -> ProgramTable:
    """The tables of a program.

    >>> from tokexport.model import Split
    >>> from tokexport.compiler.splits.compile_split import compile_split
    >>> program_table(compile_split(Split("a"))).classes.leaves.dtype
    dtype('uint8')
    """
    of_characters = len(program.classes) == CODE_POINTS
    classes = class_table(program.classes.astype(np.uint8)) if of_characters else None
    return ProgramTable(program, classes, leads_without_match(program))
