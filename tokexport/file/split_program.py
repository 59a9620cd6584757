"""One split program, or one stage, as the SPLT and NORM sections hold it."""

from __future__ import annotations

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.passes.skip_hints import idle_leads
from tokexport.compiler.splits.class_table import class_table
from tokexport.file.layout import StageFlag
from tokexport.model import Behavior, Split
from tokexport.patterns import SplitProgram

BEHAVIORS = {
    Behavior.ISOLATED: layout.StageBehavior.ISOLATED,
    Behavior.REMOVED: layout.StageBehavior.REMOVED,
    Behavior.MERGED_WITH_PREVIOUS: layout.StageBehavior.MERGED_WITH_PREVIOUS,
    Behavior.MERGED_WITH_NEXT: layout.StageBehavior.MERGED_WITH_NEXT,
    Behavior.CONTIGUOUS: layout.StageBehavior.CONTIGUOUS,
}

# Of the first label table the symbols and the states, then of the second.
LABEL_COUNTS = (
    "label_class_count",
    "label_state_count",
    "second_label_class_count",
    "second_label_state_count",
)


def program_stage(split: Split, program: SplitProgram, first: int) -> tuple[bytes, bytes]:
    """A stage that splits: its descriptor, and its tables, which will stand at the offset
    ``first``.
    """
    on_bytes = len(program.classes) == 256
    columns = program.n_classes + 1
    row_shift = (columns - 1).bit_length()
    rows = np.zeros((len(program.transitions), 1 << row_shift), layout.TRANSITION)
    rows[:, :columns] = program.transitions
    counts = dict.fromkeys([*LABEL_COUNTS, "middle_count", "leaf_count"], 0)
    if on_bytes:
        classes = program.classes.astype(np.uint8).tobytes()
    else:
        table = class_table(program.classes)
        classes = table.to_bytes()
        counts |= {"middle_count": len(table.middle), "leaf_count": len(table.leaves)}
    parts = [
        padded(classes),
        padded(program.starts.astype("<u2").tobytes()),
        padded(rows.tobytes()),
    ]
    for number, labelling in enumerate(program.labellings):
        labels = labelling.next << 8 | labelling.labels
        counts |= zip(LABEL_COUNTS[2 * number :], reversed(labels.shape), strict=False)
        parts.append(labels.astype(layout.LABEL).tobytes())
    descriptor: bytes = layout.Stage.build(
        {
            "behavior": BEHAVIORS[split.behavior],
            "flags": (
                StageFlag.INVERT * split.invert
                | StageFlag.ON_BYTES * on_bytes
                | StageFlag.EMPTY_MATCHES * program.may_be_empty
                | StageFlag.FORWARD_LABELS
                * any(labelling.forward for labelling in program.labellings[:1])
            ),
            "class_count": program.n_classes,
            "state_count": len(program.transitions),
            "memo_count": program.n_memo,
            **counts,
            "row_shift": row_shift,
            "classes_offset": first,
            "starts_offset": first + len(parts[0]),
            "transitions_offset": first + len(parts[0]) + len(parts[1]),
            "first_op": 0,
            "op_count": 0,
            "idle_leads": idle_leads(program),
        }
    )
    return descriptor, b"".join(parts)


def rewriting_stage(first_op: int, op_count: int) -> bytes:
    """The descriptor of a stage that rewrites each piece."""
    zeros = dict.fromkeys(
        [
            *(
                "behavior",
                "class_count",
                "state_count",
                "memo_count",
                "middle_count",
                "leaf_count",
                "row_shift",
            ),
            *(*LABEL_COUNTS, "classes_offset", "starts_offset", "transitions_offset", "idle_leads"),
        ],
        0,
    )
    fields = {"flags": StageFlag.REWRITE, "first_op": first_op, "op_count": op_count}
    descriptor: bytes = layout.Stage.build(zeros | fields)
    return descriptor


def program_bytes(program: SplitProgram) -> bytes:
    """A program that stands alone: a descriptor, then its tables, with offsets from its own start."""
    descriptor, tables = program_stage(Split(""), program, layout.Stage.sizeof())
    return descriptor + tables


def padded(part: bytes) -> bytes:
    """A part with zeros up to the next multiple of 4."""
    return part + bytes(-len(part) % 4)
