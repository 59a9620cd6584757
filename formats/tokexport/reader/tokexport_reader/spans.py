"""Spans: the part of the input that each id stands for (SPEC, annex A)."""

from __future__ import annotations

from collections.abc import Container, Iterator

from .added_tokens import SPACE, is_in
from .data import NONE, characters, require, u32s
from .encode import Found, Source, locate
from .file import File

END, ALL, KEEP_FIRST = 0, 1, 2


def encode_spans(
    file: File, data: bytes, allowed: Container[int] = (), *, in_characters: bool = True
) -> list[tuple[int, Source]]:
    """The ids of a text, each with its span, in characters or bytes."""
    passes, exceptions = read_trimming(file)
    spans: list[tuple[int, Source]] = []
    for found in locate(file, data, allowed, follow=True):
        start, end = found.source
        if in_characters and (start < len(data) or b"ALGN" in file.sections):
            start, end = len(data[:start].decode()), len(data[:end].decode())
        leading, trailing = white_space(file, found, exceptions)
        for one in passes:
            keeps = one == KEEP_FIRST and leading == 1 and (not spans or start == 0)
            if leading and not keeps:
                start = min(start + leading, end)
            if 0 < trailing <= end:
                end = max(end - trailing, start)
        spans.append((found.id, (start, end)))
    return spans


def read_trimming(file: File) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """The passes of TRIM, and the exceptions: leading and trailing white space by id."""
    if b"TRIM" not in file.sections:
        return [], {}
    section = file.sections[b"TRIM"]
    passes, count = u32s(section, 0, 2)
    require(passes != NONE, "TKX_E_NO_SPANS")
    rows = (u32s(section, 8 + 8 * row, 2) for row in range(count))
    exceptions = {token: (counts & 0xFFFF, counts >> 16) for token, counts in rows}
    return [*_until_end(passes)], exceptions


def _until_end(passes: int) -> Iterator[int]:
    while passes & 3 != END:
        yield passes & 3
        passes >>= 2


def white_space(
    file: File, found: Found, exceptions: dict[int, tuple[int, int]]
) -> tuple[int, int]:
    """The number of white space characters at each end of a token's name."""
    if found.added is None:
        if found.id in exceptions:
            return exceptions[found.id]
        spaces = [byte == 0x20 for byte in file.token_bytes(found.id)]
    else:
        spaces = [
            character == "\u0120".encode() or is_in(file, character, SPACE)
            for character in characters(found.added)
        ]
    return _leading(spaces), _leading(spaces[::-1])


def _leading(spaces: list[bool]) -> int:
    return next((at for at, is_space in enumerate(spaces) if not is_space), len(spaces))
