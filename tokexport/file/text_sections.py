"""Sections for the text: added tokens, rewriting, splitting, template, offsets of ids."""

from collections.abc import Sequence

import numpy as np

import tokexport.file.layout as layout
from tokexport.compiler.tables import (
    AddedTables,
    CharsmapTable,
    FormTable,
    MapTable,
    OpTable,
    ProgramTable,
    SplitStage,
    Stages,
    Tables,
    Trie,
)
from tokexport.file.layout import NONE, AddedFlag, OpFlag, OpKind, StageBehavior, StageFlag
from tokexport.file.pack import Part, class_counts, levels, padded, rows, struct, trie, view
from tokexport.limits import MAX_TRIMMING_PASSES


def splits(normalizer: Sequence[OpTable], stages: Stages) -> bytes:
    """SPLT: the header, the stages, then the tables of each program."""
    header = struct(layout.SplitsHeader, stage_count=len(stages))
    first = len(header) + layout.Stage.sizeof() * len(stages)
    first_op = len(normalizer)
    descriptors = bytearray()
    body = bytearray()
    for stage in stages:
        if isinstance(stage, SplitStage):
            behavior = StageBehavior[stage.split.behavior.name]
            inverted = StageFlag.INVERT * stage.split.invert
            descriptor, tables = program_stage(stage.table, first + len(body), behavior, inverted)
            descriptors += descriptor
            body += tables
        else:
            counts = {"first_op": first_op, "op_count": len(stage)}
            descriptors += struct(layout.Stage, flags=StageFlag.REWRITE, **counts)
            first_op += len(stage)
    return bytes(header + descriptors + body)


def program_bytes(table: ProgramTable) -> bytes:
    """A program on its own: a descriptor, then its tables; offsets are from the descriptor."""
    return b"".join(program_stage(table, layout.Stage.sizeof()))


def program_stage(
    table: ProgramTable,
    first: int,
    behavior: StageBehavior = StageBehavior.ISOLATED,
    flags: int = 0,
) -> tuple[bytes, bytes]:
    """A stage that splits: its descriptor, and its tables, which will be stored at ``first``."""
    program = table.program
    columns = program.n_classes + 1
    row_shift = (columns - 1).bit_length()
    rows = np.zeros((len(program.transitions), 1 << row_shift), layout.TRANSITION)
    rows[:, :columns] = program.transitions
    counts: dict[str, int] = {}
    if table.classes is None:
        classes = program.classes.array().tobytes()
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


def labels(stages: Stages) -> bytes | None:
    """LABL, or None if no stage reads labels."""
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


def rewriting(normalizer: Sequence[OpTable], stages: Stages) -> list[Part] | None:
    """NORM, or None if nothing is rewritten."""
    of_stages = [op for stage in stages if not isinstance(stage, SplitStage) for op in stage]
    ops = [*normalizer, *of_stages]
    if not ops:
        return None
    header = struct(layout.RewriteHeader, op_count=len(ops), normalizer_count=len(normalizer))
    at = len(header) + layout.RewriteOp.sizeof() * len(ops)
    descriptors = bytearray()
    body: list[Part] = []
    for op in ops:
        table, content = _op_table(op.table), op.content.encode()
        parts = padded(table), padded(content)
        descriptors += struct(
            layout.RewriteOp,
            kind=OpKind[op.kind],
            flags=sum(OpFlag[name] for name in op.flags),
            growth=op.growth,
            extra=op.extra,
            table_offset=at,
            table_size=len(table),
            content_offset=at + len(parts[0]),
            content_size=len(content),
        )
        body += parts
        at += sum(map(len, parts))
    return [header, bytes(descriptors), *body]


def _op_table(table: FormTable | MapTable | ProgramTable | CharsmapTable | None) -> bytes:
    match table:
        case None:
            return b""
        case FormTable():
            return _form(table)
        case MapTable():
            return _map(table)
        case ProgramTable():
            return program_bytes(table)
        case CharsmapTable():
            return _charsmap(table)


def _form(table: FormTable) -> bytes:
    header = struct(
        layout.FormHeader,
        form=layout.NormalFormCode[table.form],
        **class_counts(table.numbers),
        entry_count=len(table.entries),
        point_count=len(table.points),
        composition_count=len(table.compositions),
    )
    entries = rows(layout.NORMALIZER_ENTRY, table.entries)
    points = table.points.astype(layout.NORMALIZER_POINT).tobytes()
    compositions = rows(layout.COMPOSITION, table.compositions)
    return header + levels(table.numbers, "<u2") + entries + points + compositions


def _map(table: MapTable) -> bytes:
    header = struct(
        layout.MapHeader,
        **class_counts(table.numbers),
        entry_count=len(table.entries),
        text_size=len(table.text),
        skip_leads=table.skip_leads,
    )
    direct = bytes(layout.MAP_OTHER if byte is None else byte for byte in table.ascii)
    entries = rows(layout.MAP_ENTRY, table.entries)
    return header + direct + levels(table.numbers, "<u2") + entries + table.text


def _charsmap(table: CharsmapTable) -> bytes:
    program = program_bytes(table.clusters) if table.clusters else b""
    header = struct(
        layout.CharsmapHeader,
        unit_count=len(table.units),
        node_count=len(table.protected.tokens),
        edge_count=len(table.protected.edges),
        program_size=len(program),
        text_size=len(table.text),
        first_plain=table.first_plain,
    )
    units = view(table.units.astype(layout.CHARSMAP_UNIT, copy=False))
    return b"".join((header, units, trie(table.protected), program, table.text))


def added_tokens(added: AddedTables | None) -> bytes | None:
    """ADDT."""
    if added is None:
        return None
    text = bytearray()
    tokens = np.zeros(len(added.tokens), layout.ADDED_TOKEN)
    all_flags = AddedFlag(0)
    for index, token in enumerate(added.tokens):
        content = token.content.encode()
        flags = sum(flag * getattr(token, str(flag.name).lower()) for flag in AddedFlag)
        all_flags |= flags
        tokens[index] = (token.id, len(text), len(content), flags)
        text += content
    header = struct(
        layout.AddedHeader,
        token_count=len(tokens),
        raw_node_count=len(added.raw.tokens),
        raw_edge_count=len(added.raw.edges),
        normalized_node_count=len(added.normalized.tokens),
        normalized_edge_count=len(added.normalized.edges),
        text_size=len(text),
        flags=all_flags,
        raw_starts=added.raw.starts,
        normalized_starts=added.normalized.starts,
    )
    return header + tokens.tobytes() + trie(added.raw) + trie(added.normalized) + bytes(text)


def added_classes(added: AddedTables | None) -> bytes | None:
    """ACLS, or None if no added token depends on the characters around it."""
    if added is None or added.classes is None:
        return None
    header = struct(layout.AddedClassesHeader, **class_counts(added.classes))
    return header + levels(added.classes, "u1", ascii=True)


def trimming(tables: Tables) -> bytes | None:
    """TRIM, or None if offsets need no trimming."""
    value = tables.model.offset_trimming
    if value is None or len(value.passes) > MAX_TRIMMING_PASSES:
        return struct(layout.TrimmingHeader, passes=NONE, exception_count=0)
    if value == type(value)():
        return None
    passes = 0
    for number, keeps in enumerate(value.passes):
        kind = layout.TrimmingPass.KEEP_FIRST if keeps else layout.TrimmingPass.ALL
        passes |= kind << 2 * number
    found = [(number, *counts) for number, counts in sorted(value.exceptions.items())]
    header = struct(layout.TrimmingHeader, passes=passes, exception_count=len(found))
    return header + (rows(layout.TRIMMING_EXCEPTION, found) if found else b"")


def alignment(tables: Tables, protected: Trie | None) -> bytes | None:
    """ALGN, or None if each operation keeps track of the sources itself."""
    value = tables.model.piece_normalizer
    if value is None or protected is None:
        return None
    flags = layout.AlignmentFlag.PREFIX * value.prefix | layout.AlignmentFlag.SUFFIX * value.suffix
    header = struct(
        layout.AlignmentHeader,
        flags=flags | layout.AlignmentFlag.COLLAPSE * value.collapses,
        node_count=len(protected.tokens),
        edge_count=len(protected.edges),
    )
    return header + trie(protected)


def template(tables: Tables) -> bytes | None:
    """POST, or None if the post-processor adds nothing."""
    value = tables.model.template
    if value == type(value)():
        return None
    first, second = layout.ItemKind.SEQUENCE_A, layout.ItemKind.SEQUENCE_B
    kinds = {None: layout.ItemKind.ID, "A": first, "B": second}
    both = (*value.single, *value.pair)
    items = [(kinds[item.sequence], item.id or 0, item.type_id) for item in both]
    header = struct(
        layout.TemplateHeader, single_count=len(value.single), pair_count=len(value.pair)
    )
    return header + (rows(layout.TEMPLATE_ITEM, items) if items else b"")
