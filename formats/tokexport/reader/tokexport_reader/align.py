"""ALGN: where the bytes of a normalized segment come from (SPEC, annex A)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .charsmap import BY_CLUSTER, Charsmap
from .data import characters, require, u32s
from .file import File
from .tables import ByteTrie

PREFIX, SUFFIX, COLLAPSE = 1, 2, 4
SPACES = {b" ", "\u2581".encode()}

Source = tuple[int, int]


def align(file: File, segment: bytes, sources: Sequence[Source], normalized: bytes) -> list[Source]:
    """The source of each byte of a normalized segment that is not empty."""
    flags, _, _, reserved = u32s(file.sections[b"ALGN"], 0, 4)
    require(flags & ~(PREFIX | SUFFIX | COLLAPSE) == 0 and reserved == 0, "TKX_E_CORRUPT")
    collapse = bool(flags & COLLAPSE)
    left = characters(normalized)  # characters without a source yet
    apart = left.pop() if flags & SUFFIX else b""
    starts: list[int] = []
    missing: int | None = None

    def take(character: bytes, start: int) -> None:
        nonlocal missing
        if not left:
            require(character in SPACES and collapse, "TKX_E_CORRUPT")
            missing = start if missing is None else missing
            return
        expected = left.pop(0)
        require(expected == character or {expected, character} <= SPACES, "TKX_E_CORRUPT")
        starts.extend([start] * len(expected))

    pending = [(sources[at][0], new) for at, new in chunks(file, segment)]
    end = sources[-1][1]
    while collapse and pending and pending[0][1] == b" ":
        pending.pop(0)
    if flags & PREFIX:
        take(b" ", pending[0][0] if pending else end)
    spaced = collapse
    for start, new in pending:
        kept = new.lstrip(b" ") if spaced else new
        for character in characters(kept):
            take(character, start)
        if kept:
            spaced = collapse and kept.endswith(b" ")
    require(not left, "TKX_E_CORRUPT")
    end = end if missing is None else missing
    starts.extend([end] * len(apart))
    return [*pairwise([*starts, end])]


def chunks(file: File, segment: bytes) -> Iterator[tuple[int, bytes]]:
    """The chunks of a segment: where each begins, and what it becomes."""
    at = 0
    for old, new in _parts(file, segment):
        yield at, new
        at += len(old)


def _parts(file: File, segment: bytes) -> Iterator[tuple[bytes, bytes]]:
    for operation in file.normalizer:
        if isinstance(operation, Charsmap) and not operation.flags & BY_CLUSTER:
            yield from operation.longest_first(segment)
            return
    section = file.sections[b"ALGN"]
    protected = ByteTrie(section, 16, *u32s(section, 4, 2))
    at = 0
    while at < len(segment):
        end, _ = protected.longest(segment, at)
        if end == at:
            end += len(segment[at:].decode()[0].encode())
        require(end == len(segment) or segment[end] & 0xC0 != 0x80, "TKX_E_CORRUPT")
        yield segment[at:end], segment[at:end]
        at = end
