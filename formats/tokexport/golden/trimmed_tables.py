"""Tables that cover some characters only, instead of all of Unicode, so that golden files stay
small: for these characters they hold what the writer makes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

import numpy as np
from tokexport_reader.tables import Levels

from tokexport.compiler.splits.class_table import class_table
from tokexport.file.layout import (
    AddedClassesHeader,
    FormHeader,
    MapHeader,
    OpKind,
    RewriteHeader,
    RewriteOp,
    SplitsHeader,
    Stage,
    StageFlag,
    Tag,
)
from tokexport.file.pack import levels

ASCII = 128


def trimmed(contents: Mapping[bytes, bytes], texts: Iterable[str]) -> dict[bytes, bytes]:
    """NORM, SPLT and ACLS for the characters of some texts, and for what these become."""
    known = {ord(character) for text in texts for character in text} | set(range(ASCII))
    changed: dict[bytes, bytes] = {}
    if Tag.NORMALIZER in contents:
        changed[Tag.NORMALIZER] = _normalizer(contents[Tag.NORMALIZER], known)
    if Tag.SPLITS in contents:
        section = contents[Tag.SPLITS]
        count = SplitsHeader.parse(section).stage_count
        changed[Tag.SPLITS] = _programs(section, SplitsHeader.sizeof(), count, known)
    if Tag.ADDED_CLASSES in contents:
        section = contents[Tag.ADDED_CLASSES]
        header = AddedClassesHeader.parse(section)
        old = Levels(section, 8 + ASCII, header.middle_count, header.leaf_count, 1)
        table, counts = _levels(old, known, {}, ascii=section[8 : 8 + ASCII])
        changed[Tag.ADDED_CLASSES] = AddedClassesHeader.build({**counts, "reserved": None}) + table
    return changed


def _normalizer(section: bytes, known: set[int]) -> bytes:
    """NORM with smaller tables of FORM and MAP."""
    header = RewriteHeader.parse(section)
    start = RewriteHeader.sizeof()
    ops = [RewriteOp.parse(section[start + 32 * index :]) for index in range(header.op_count)]
    offset = start + 32 * len(ops)
    entries, tables = b"", b""
    for op in ops:
        table = section[op.table_offset : op.table_offset + op.table_size]
        content = section[op.content_offset : op.content_offset + op.content_size]
        if op.kind == OpKind.FORM:
            table = _form(table, known)
        elif op.kind == OpKind.MAP:
            table = _map(table, known)
        elif op.kind == OpKind.REPLACE:
            table = _programs(table, 0, 1, known)
        fields = {"table_offset": offset, "table_size": len(table)}
        part = table + bytes(-len(table) % 4)
        fields |= {"content_offset": offset + len(part), "content_size": len(content)}
        part += content + bytes(-len(content) % 4)
        entries += RewriteOp.build({**op, **fields})
        tables += part
        offset += len(part)
    return section[:start] + entries + tables


def _form(table: bytes, known: set[int]) -> bytes:
    header = FormHeader.parse(table)
    old = Levels(table, FormHeader.sizeof(), header.middle_count, header.leaf_count, 2)
    entries_at = FormHeader.sizeof() + old.size
    points_at = entries_at + 8 * header.entry_count
    rows = [*struct.iter_unpack("<IBBBB", table[entries_at:points_at])]
    points = struct.unpack_from(f"<{header.point_count}I", table, points_at)
    compositions = [*struct.iter_unpack("<III", table[points_at + 4 * len(points) :])]
    while True:  # what the characters become, and what they compose to, must be covered, too
        more = {c for c in known for c in _points(rows[old.find(c)], points)}
        more |= {both for a, b, both in compositions if a in known and b in known}
        if more <= known:
            break
        known = known | more
    numbers: dict[int, int] = {0: 0}
    new_rows = [rows[0]]
    new_points: list[int] = []
    for c in sorted(known):
        number = old.find(c)
        if number not in numbers:
            numbers[number] = len(new_rows)
            new_rows.append((len(new_points), *rows[number][1:]))
            new_points += _points(rows[number], points)
    kept = [row for row in compositions if row[0] in known and row[1] in known]
    levels_, counts = _levels(old, known, numbers)
    fields: dict[str, int | None] = {**counts, "entry_count": len(new_rows)}
    fields |= {"point_count": len(new_points)}
    fields |= {"composition_count": len(kept), "form": header.form, "reserved": None}
    return b"".join(
        (
            FormHeader.build(fields),
            levels_,
            *(struct.pack("<IBBBB", *row) for row in new_rows),
            struct.pack(f"<{len(new_points)}I", *new_points),
            *(struct.pack("<III", *row) for row in kept),
        )
    )


def _points(row: tuple[int, ...], points: tuple[int, ...]) -> tuple[int, ...]:
    return points[row[0] : row[0] + row[1]]


def _map(table: bytes, known: set[int]) -> bytes:
    header = MapHeader.parse(table)
    old = Levels(table, MapHeader.sizeof() + ASCII, header.middle_count, header.leaf_count, 2)
    entries_at = MapHeader.sizeof() + ASCII + old.size
    text_at = entries_at + 8 * header.entry_count
    rows = [*struct.iter_unpack("<IBBBB", table[entries_at:text_at])]
    numbers: dict[int, int] = {0: 0}
    new_rows, text = [rows[0]], b""
    for c in sorted(known):
        number = old.find(c)
        if number not in numbers:
            start, before, after, *rest = rows[number]
            numbers[number] = len(new_rows)
            new_rows.append((len(text), before, after, *rest))
            text += table[text_at + start : text_at + start + before + after]
    ascii_part = table[MapHeader.sizeof() : MapHeader.sizeof() + ASCII]
    levels_, counts = _levels(old, known, numbers, ascii=ascii_part)
    fields = counts | {"entry_count": len(new_rows), "text_size": len(text), "skip_leads": 0}
    packed = b"".join(struct.pack("<IBBBB", *row) for row in new_rows)
    return bytes(MapHeader.build(fields)) + levels_ + packed + text


def _programs(section: bytes, entries_at: int, count: int, known: set[int]) -> bytes:
    """Stages, or the program of a REPLACE, with smaller class tables."""
    entries, tables = b"", b""
    tables_at = entries_at + count * Stage.sizeof()
    for at in range(entries_at, tables_at, Stage.sizeof()):
        stage = Stage.parse(section[at:])
        fields = dict(stage)
        if not stage.flags & StageFlag.REWRITE:
            classes = section[stage.classes_offset : stage.starts_offset]
            if not stage.flags & StageFlag.ON_BYTES:
                old = Levels(classes, ASCII, stage.middle_count, stage.leaf_count, 1)
                classes, counts = _levels(old, known, {}, ascii=classes[:ASCII])
                fields |= counts | {"skip_leads": 0}
            starts = section[stage.starts_offset : stage.transitions_offset]
            transitions = section[stage.transitions_offset :][
                : 2 * stage.state_count << stage.row_shift
            ]
            for name, table in (
                ("classes", classes),
                ("starts", starts),
                ("transitions", transitions),
            ):
                fields[f"{name}_offset"] = tables_at + len(tables)
                tables += table + bytes(-len(table) % 4)
        entries += Stage.build(fields)
    return section[:entries_at] + entries + tables


def _levels(
    old: Levels, known: set[int], numbers: Mapping[int, int], ascii: bytes = b""
) -> tuple[bytes, dict[str, int]]:
    """A table of three levels with 0 for all other code points, and the numbers of its blocks."""
    values = np.zeros(0x110000, dtype=np.uint16)
    for c in known:
        values[c] = numbers.get(old.find(c), old.find(c))
    table = class_table(values)
    counts = {"middle_count": len(table.middle), "leaf_count": len(table.leaves)}
    return ascii + levels(table, "<u2" if old.width == 2 else "u1"), counts
