"""The stages of a pre-tokenizer as ``formats/tokexport/SPEC.md`` describes them: a part of
``spec_encoder.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from spec_reader import EMPTY_MATCHES, ON_BYTES, SEARCH_STARTS, Stage

INVERT = 1
ACCEPT = 0x8000
ISOLATED, REMOVED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS = range(5)


def split(stage: Stage, piece: bytes) -> list[tuple[int, int]]:
    """The pieces that a stage makes of a piece, as byte offsets."""
    spans = [
        (start, end, matched != bool(stage.flags & INVERT))
        for start, end, matched in scan(stage, piece)
    ]
    if stage.behavior == ISOLATED:
        return [(start, end) for start, end, _ in spans]
    if stage.behavior == REMOVED:
        return [(start, end) for start, end, matched in spans if not matched]
    if stage.behavior == MERGED_WITH_NEXT:
        spans.reverse()
    pieces: list[list[tuple[int, int]]] = []
    before: bool | None = None
    gap = bool(stage.flags & INVERT)
    for start, end, matched in spans:
        joins = before == matched if stage.behavior == CONTIGUOUS else matched and before is False
        if (
            joins and not before == matched == gap
        ):  # between two gaps there was a match of no symbols
            pieces[-1].append((start, end))
        else:
            pieces.append([(start, end)])
        before = matched
    joined = [(min(start for start, _ in part), max(end for _, end in part)) for part in pieces]
    return joined[::-1] if stage.behavior == MERGED_WITH_NEXT else joined


def scan(stage: Stage, piece: bytes) -> Iterator[tuple[int, int, bool]]:
    """Matches (True) and gaps (False) of a piece, as byte offsets."""
    symbols = (
        [bytes([b]) for b in piece]
        if stage.flags & ON_BYTES
        else [c.encode() for c in piece.decode()]
    )
    numbers = list(piece) if stage.flags & ON_BYTES else [ord(c) for c in piece.decode()]
    offsets = [0]
    for symbol in symbols:
        offsets.append(offsets[-1] + len(symbol))
    read = labelled(stage, numbers)
    gap = at = 0
    while at < len(read):
        end = match_end(stage, read, at, gap)
        if end == at and stage.flags & EMPTY_MATCHES and gap < at:
            yield offsets[gap], offsets[at], False
            gap = at
        if end is None or end == at:
            at += 1
            continue
        if gap < at:
            yield offsets[gap], offsets[at], False
        yield offsets[at], offsets[end], True
        gap = at = end
    if gap < len(read):
        yield offsets[gap], offsets[-1], False


def replaced_spans(stage: Stage, text: bytes) -> Iterator[tuple[int, int, bool]]:
    """What REPLACE replaces (True) and keeps of a text, as byte offsets; an empty match too."""
    if not stage.flags & EMPTY_MATCHES:
        yield from scan(stage, text)
        return
    characters = text.decode()
    offsets = [0, *accumulate(len(character.encode()) for character in characters)]
    read = labelled(stage, [ord(character) for character in characters])
    kept, behind = 0, -1
    at = 0
    while at <= len(read):
        end = match_end(stage, read, at, kept)
        if end is None or end == at == behind:
            at += 1
            continue
        yield offsets[kept], offsets[at], False
        yield offsets[at], offsets[end], True
        kept = at = behind = end
    yield offsets[kept], offsets[-1], False


def labelled(stage: Stage, symbols: Sequence[int]) -> Sequence[int]:
    """What the program reads: the labels of symbols, or their classes where there is no label
    table.
    """
    classes: Sequence[int] = [stage.classes[symbol] for symbol in symbols]
    if not stage.labels:
        return classes
    labels = []
    state = 0
    for number in reversed(classes):
        entry = stage.labels[state * stage.label_class_count + number]
        labels.append(entry & 0xFF)
        state = entry >> 8
    return labels[::-1]


def match_end(stage: Stage, read: Sequence[int], start: int, searched: int) -> int | None:
    """Where the match at a position ends, where the search began at another; None: there is none."""
    behind = [*read, stage.class_count]
    row = 0
    if stage.flags & SEARCH_STARTS and start == searched:
        row = stage.class_count + 1
    state = stage.starts[row + behind[start - 1]]  # for start 0 the last: the end of text
    end = None
    for at in range(start, len(behind)):
        if state == 0:
            break
        transition = int(stage.transitions[(state << stage.row_shift) + behind[at]])
        if transition & ACCEPT:
            end = at
        state = transition & ~ACCEPT
    return end
