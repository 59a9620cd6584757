"""Stages of the pre-tokenizer: how a text is divided (SPEC 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from .data import characters, require, u16, u16s, u32, u32s
from .tables import ClassTable, class_table

INVERT, ON_BYTES, REWRITE, EMPTY_MATCHES, SEARCH_STARTS = 1, 2, 4, 8, 16
STAGE_FLAGS = INVERT | ON_BYTES | EMPTY_MATCHES | SEARCH_STARTS
BEHAVIORS = ISOLATED, REMOVED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS = range(5)
ACCEPT = 0x8000
STAGE_SIZE, LABEL_TABLE_SIZE = 36, 8
MAX_WORK = 12_288  # states of all stages, and 512 for each with labels
NOWHERE = -1
MAX_STAGES, MAX_CLASSES, MAX_STATES = 16, 254, 4096

Range = tuple[int, int]  # bytes from, up to


@dataclass(frozen=True)
class Labels:
    """A label table: states by classes."""

    class_count: int = 0
    entries: Sequence[int] = ()


@dataclass(frozen=True)
class Stage:
    """One stage. ``operations``: with REWRITE, which operations of NORM it runs."""

    behavior: int = 0
    flags: int = 0
    class_count: int = 0
    memo_count: int = 0
    row_shift: int = 0
    classes: ClassTable | None = None
    starts: Sequence[int] = ()
    transitions: Sequence[int] = ()
    labels: Labels | None = None
    operations: range = range(0)

    def read(self, text: bytes) -> tuple[list[int], list[int]]:
        """The input classes of a text, and the offsets where its characters begin and it ends."""
        assert self.classes is not None
        if self.flags & ON_BYTES:
            offsets = list(range(len(text) + 1))
            classes = [self.classes[byte] for byte in text]
        else:
            offsets = [*accumulate(map(len, characters(text)), initial=0)]
            classes = [self.classes[ord(character)] for character in text.decode()]
        if self.labels is None:
            return classes, offsets
        read, state = [], 0
        for number in reversed(classes):
            entry = self.labels.entries[state * self.labels.class_count + number]
            read.append(entry & 0xFF)
            state = entry >> 8
        return read[::-1], offsets

    def match(self, read: Sequence[int], start: int, searched: int) -> int | None:
        """Where the match at a character ends, or None; ``searched``: where the search began."""
        column = read[start - 1] if start else self.class_count
        if self.flags & SEARCH_STARTS and start == searched:
            column += self.class_count + 1
        state = self.starts[column]
        end = None
        for at in range(start, len(read) + 1):
            if state == 0:
                break
            column = read[at] if at < len(read) else self.class_count
            transition = self.transitions[(state << self.row_shift) + column]
            if transition & ACCEPT:
                end = at
            state = transition & ~ACCEPT
        return None if end == start and not self.flags & EMPTY_MATCHES else end

    def divide(self, text: bytes) -> Iterator[tuple[int, int, bool]]:
        """The matches (True) and gaps of a text."""
        read, offsets = self.read(text)
        at = gap = searched = 0
        while at < len(read):
            end = self.match(read, at, searched)
            if end is None:
                at += 1
                continue
            if gap < at:
                yield offsets[gap], offsets[at], False
            if end > at:
                yield offsets[at], offsets[end], True
                at = gap = searched = end
            else:  # an empty match divides the gap
                gap = at
                at += 1
        if gap < len(read):
            yield offsets[gap], offsets[-1], False

    def replaced(self, text: bytes) -> Iterator[Range]:
        """What REPLACE replaces in a text: matches, with EMPTY_MATCHES also empty ones."""
        read, offsets = self.read(text)
        at, last_end = 0, -1
        while at < len(read) + bool(self.flags & EMPTY_MATCHES):
            end = self.match(read, at, NOWHERE)
            if end is None or end == at == last_end:
                at += 1
            else:
                yield offsets[at], offsets[end]
                at = last_end = end

    def split(self, text: bytes) -> list[Range]:
        """The parts into which the stage divides a text."""
        invert = bool(self.flags & INVERT)
        parts = [(start, end, matched != invert) for start, end, matched in self.divide(text)]
        if self.behavior == ISOLATED:
            return [(start, end) for start, end, _ in parts]
        if self.behavior == REMOVED:
            return [(start, end) for start, end, matched in parts if not matched]
        if self.behavior == MERGED_WITH_NEXT:
            return _joined(parts[::-1], self.behavior, invert)[::-1]
        return _joined(parts, self.behavior, invert)


def _joined(parts: list[tuple[int, int, bool]], behavior: int, invert: bool) -> list[Range]:
    """Parts, each joined to the previous one if the behavior says so."""
    joined: list[Range] = []
    before: bool | None = None
    for start, end, matched in parts:
        joins = matched and before is False
        if behavior == CONTIGUOUS:  # except two adjacent gaps, which an empty match divides
            joins = before == matched != invert
        if joins:
            start, end = min(start, joined[-1][0]), max(end, joined.pop()[1])
        joined.append((start, end))
        before = matched
    return joined


def read_stages(section: bytes, labels: bytes, op_count: int, of_characters: bool) -> list[Stage]:
    """The stages of SPLT and LABL, after the checks of SPEC 3.4; ``of_characters``: the model
    requires whole characters.
    """
    count, reserved = u32s(section, 0, 2)
    table_count, labels_reserved = u32s(labels, 0, 2)
    require(count <= MAX_STAGES and reserved == labels_reserved == 0, "TKX_E_SPLITS")
    tables_at = range(8, 8 + LABEL_TABLE_SIZE * table_count, LABEL_TABLE_SIZE)
    table_at = {labels[at]: at for at in tables_at}
    numbers = [labels[at] for at in tables_at]
    require(numbers == sorted(table_at) and max(numbers, default=-1) < count, "TKX_E_SPLITS")
    stages, work = [], 0
    for number in range(count):
        at = 8 + STAGE_SIZE * number
        if section[at + 1] & REWRITE:
            require(number not in table_at, "TKX_E_SPLITS")
            stages.append(read_rewriting_stage(section[at : at + STAGE_SIZE], op_count))
            continue
        table = read_labels(labels, table_at[number]) if number in table_at else None
        stages.append(read_stage(section, at, table))
        work += u16(section, at + 4) + 512 * (number in table_at)
    require(work <= MAX_WORK, "TKX_E_SPLITS")
    for before, stage in pairwise(stages):
        require(stage.flags & ON_BYTES >= before.flags & ON_BYTES, "TKX_E_SPLITS")
    require(not (of_characters and any(s.flags & ON_BYTES for s in stages)), "TKX_E_SPLITS")
    return stages


def read_labels(section: bytes, at: int) -> Labels:
    """A label table; its labels are checked together with its stage."""
    class_count, state_count, offset = section[at + 1], u16(section, at + 2), u32(section, at + 4)
    require(1 <= class_count <= MAX_CLASSES, "TKX_E_SPLITS")
    require(1 <= state_count <= MAX_STATES, "TKX_E_SPLITS")
    require(offset % 4 == 0, "TKX_E_SPLITS")
    require(offset + 4 * state_count * class_count <= len(section), "TKX_E_SPLITS")
    entries = u32s(section, offset, state_count * class_count)
    require(max(entry >> 8 for entry in entries) < state_count, "TKX_E_SPLITS")
    return Labels(class_count, entries)


def read_rewriting_stage(entry: bytes, op_count: int) -> Stage:
    """A stage with REWRITE."""
    first, count = entry[24], entry[25]
    others = entry[:1] + entry[2:24] + entry[26:]
    require(entry[1] == REWRITE and not any(others), "TKX_E_SPLITS")
    require(first + count <= op_count, "TKX_E_SPLITS")
    return Stage(flags=REWRITE, operations=range(first, first + count))


def read_stage(section: bytes, at: int, labels: Labels | None = None) -> Stage:
    """A stage with a program, whose tables are in ``section``."""
    behavior, flags, class_count, row_shift = section[at : at + 4]
    state_count, memo_count, middle, leaves = u16s(section, at + 4, 4)
    classes_at, starts_at, transitions_at, others = u32s(section, at + 12, 4)
    require(behavior in BEHAVIORS and flags & ~STAGE_FLAGS == 0, "TKX_E_SPLITS")
    require(
        flags & (EMPTY_MATCHES | SEARCH_STARTS) != EMPTY_MATCHES | SEARCH_STARTS, "TKX_E_SPLITS"
    )
    require(others == 0, "TKX_E_SPLITS")  # first_op, op_count, reserved
    require(1 <= class_count <= MAX_CLASSES and 1 <= state_count <= MAX_STATES, "TKX_E_SPLITS")
    require(memo_count < state_count, "TKX_E_SPLITS")
    require(row_shift <= 8 and 1 << row_shift > class_count, "TKX_E_SPLITS")
    require(classes_at % 4 == starts_at % 4 == transitions_at % 4 == 0, "TKX_E_SPLITS")
    start_count = (class_count + 1) * (2 if flags & SEARCH_STARTS else 1)
    require(starts_at + 2 * start_count <= len(section), "TKX_E_SPLITS")
    require(transitions_at + 2 * (state_count << row_shift) <= len(section), "TKX_E_SPLITS")
    starts = u16s(section, starts_at, start_count)
    transitions = u16s(section, transitions_at, state_count << row_shift)
    bound = class_count
    if labels is not None:
        require(max(entry & 0xFF for entry in labels.entries) < class_count, "TKX_E_SPLITS")
        bound = labels.class_count
    classes = read_classes(section, classes_at, flags, middle, leaves, bound)
    require(max(starts) < state_count, "TKX_E_SPLITS")
    require(max(t & ~ACCEPT for t in transitions) < state_count, "TKX_E_SPLITS")
    shape = (behavior, flags, class_count, memo_count, row_shift)
    return Stage(*shape, classes, starts, transitions, labels)


def read_classes(
    section: bytes, at: int, flags: int, middle: int, leaves: int, bound: int
) -> ClassTable:
    """The class table of a stage; classes are below ``bound``."""
    if flags & ON_BYTES:
        require(middle == leaves == 0 and at + 256 <= len(section), "TKX_E_SPLITS")
        table = ClassTable(section[at : at + 256], None)
        require(max(table.low) < bound, "TKX_E_SPLITS")
        return table
    table = class_table(section, at, middle, leaves)
    assert table.levels is not None
    end = at + 128 + table.levels.size
    require(end <= len(section), "TKX_E_SPLITS")
    top, blocks = u16s(section, at + 128, 272), u16s(section, at + 672, 64 * middle)
    require(max(top) < middle and max(blocks, default=0) < leaves, "TKX_E_SPLITS")
    require(max(table.low + section[end - 64 * leaves : end]) < bound, "TKX_E_SPLITS")
    return table
