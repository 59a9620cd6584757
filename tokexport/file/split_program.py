"""Stages and their programs, as the sections SPLT, LABL and NORM hold them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.tables import OpTable, ProgramTable, SplitStage
from tokexport.file.layout import StageBehavior, StageFlag
from tokexport.file.pack import class_counts, levels, padded, struct


def program_stage(stage: SplitStage, first: int) -> tuple[bytes, bytes]:
    """A stage that splits: its descriptor, and its tables, which will stand at ``first``."""
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
    columns = program.n_classes + 1
    row_shift = (columns - 1).bit_length()
    rows = np.zeros((len(program.transitions), 1 << row_shift), layout.TRANSITION)
    rows[:, :columns] = program.transitions
    counts: dict[str, int] = {}
    if table.classes is None:
        classes = program.classes.astype(np.uint8).tobytes()
    else:
        classes = levels(table.classes, "u1", ascii=True)
        counts = class_counts(table.classes)
    rows_of_starts = [program.starts]
    if program.search_starts is not None:
        rows_of_starts.append(program.search_starts)
        flags |= StageFlag.SEARCH_STARTS
    starts = np.concatenate(rows_of_starts).astype("<u2")
    parts = [padded(classes), padded(starts.tobytes()), padded(rows.tobytes())]
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
        skip_leads=table.skip_leads,
    )
    return descriptor, b"".join(parts)


def labels(stages: Sequence[SplitStage | tuple[OpTable, ...]]) -> bytes | None:
    """LABL, or None where no stage reads labels."""
    tables = [
        (number, labels)
        for number, stage in enumerate(stages)
        if isinstance(stage, SplitStage) and (labels := stage.table.program.labels) is not None
    ]
    if not tables:
        return None
    at = layout.LabelsHeader.sizeof() + layout.LabelTable.sizeof() * len(tables)
    descriptors, entries = bytearray(), bytearray()
    for number, table in tables:
        states, classes = table.next.shape
        descriptors += struct(
            layout.LabelTable,
            stage=number,
            class_count=classes,
            state_count=states,
            offset=at + len(entries),
        )
        entries += (table.next << 8 | table.labels).astype(layout.LABEL).tobytes()
    header = struct(layout.LabelsHeader, table_count=len(tables))
    return bytes(header + descriptors + entries)
