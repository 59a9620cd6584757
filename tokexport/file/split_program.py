"""One split program, or one stage, as the SPLT and NORM sections hold it."""

from __future__ import annotations

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.tables import ProgramTable, SplitStage
from tokexport.file.layout import StageBehavior, StageFlag
from tokexport.file.pack import levels, padded, struct

# Of the first label table the symbols and the states, then of the second.
LABEL_COUNTS = (
    "label_class_count",
    "label_state_count",
    "second_label_class_count",
    "second_label_state_count",
)


def program_stage(stage: SplitStage, first: int) -> tuple[bytes, bytes]:
    """A stage that splits: its descriptor, and its tables, which will stand at the offset
    ``first``.
    """
    behavior = StageBehavior[stage.split.behavior.name]
    return _described(stage.table, first, behavior, StageFlag.INVERT * stage.split.invert)


def program_bytes(table: ProgramTable) -> bytes:
    """A program that stands alone: a descriptor, then its tables; offsets are from its start."""
    size = layout.Stage.sizeof()
    return b"".join(_described(table, size, StageBehavior.ISOLATED, StageFlag(0)))


def _described(
    table: ProgramTable, first: int, behavior: StageBehavior, flags: int
) -> tuple[bytes, bytes]:
    program = table.program
    if program.search_starts is not None:
        raise NotImplementedError("a pattern with a search start has no place in a file")
    columns = program.n_classes + 1
    row_shift = (columns - 1).bit_length()
    rows = np.zeros((len(program.transitions), 1 << row_shift), layout.TRANSITION)
    rows[:, :columns] = program.transitions
    counts = dict.fromkeys([*LABEL_COUNTS, "middle_count", "leaf_count"], 0)
    if table.classes is None:
        classes = program.classes.astype(np.uint8).tobytes()
    else:
        classes = levels(table.classes, "u1", ascii=True)
        counts["middle_count"] = len(table.classes.middle)
        counts["leaf_count"] = len(table.classes.leaves)
    parts = [
        padded(classes),
        padded(program.starts.astype("<u2").tobytes()),
        padded(rows.tobytes()),
    ]
    if program.labels is not None:
        labels = program.labels.next << 8 | program.labels.labels
        counts |= zip(LABEL_COUNTS, reversed(labels.shape), strict=False)
        parts.append(labels.astype(layout.LABEL).tobytes())
    flags |= StageFlag.ON_BYTES * (table.classes is None)
    flags |= StageFlag.EMPTY_MATCHES * program.may_be_empty
    descriptor = struct(
        layout.Stage,
        behavior=behavior,
        flags=flags,
        class_count=program.n_classes,
        state_count=len(program.transitions),
        memo_count=program.n_memo,
        **counts,
        row_shift=row_shift,
        classes_offset=first,
        starts_offset=first + len(parts[0]),
        transitions_offset=first + len(parts[0]) + len(parts[1]),
        first_op=0,
        op_count=0,
        idle_leads=table.idle_leads,
    )
    return descriptor, b"".join(parts)


def rewriting_stage(first_op: int, op_count: int) -> bytes:
    """The descriptor of a stage that rewrites each pre-token."""
    zeros = dict.fromkeys((field.name for field in layout.Stage.subcons), 0)
    fields = {"flags": StageFlag.REWRITE, "first_op": first_op, "op_count": op_count}
    return struct(layout.Stage, **zeros | fields)
