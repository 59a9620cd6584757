"""Spans as ``formats/tokexport/SPEC.md`` describes them (5.9), slow and plain: each byte of a text carries its source along."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import accumulate, pairwise

from spec_encoder import (
    ADD_PREFIX_SPACE,
    CLASS_SPACE,
    FUSE_UNKNOWN,
    RECORD_WHOLE,
    WHOLE_PIECE_FIRST,
    added_ranges,
    is_in,
    normalize,
    split_ranges,
)
from spec_reader import NONE, RefusalError, SpecFile, u32

Source = tuple[int, int]  # a range of bytes of the input
KEEP_FIRST = 2


def encode_spans(
    file: SpecFile, text: bytes, special: bool = False, characters: bool = True
) -> list[tuple[int, Source]]:
    """Each id of a text with its span."""
    passes, exceptions = read_trimming(file)
    found: list[tuple[int, Source]] = []
    for token, source, counts in locate(file, text, special):
        leading, trailing = counts or exceptions.get(token) or spaces(file.token_bytes(token))
        start, end = character_span(text, source) if characters else source
        for one_pass in passes:
            keeps = one_pass == KEEP_FIRST and leading == 1 and (not found or start == 0)
            if leading and not keeps:
                start = min(start + leading, end)
            if trailing and trailing <= end:
                end = max(end - trailing, start)
        found.append((token, (start, end)))
    return found


def read_trimming(file: SpecFile) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """The passes of TRIM, and its exceptions."""
    if b"TRIM" not in file.sections:
        return [], {}
    trim = file.sections[b"TRIM"]
    passes, count = struct.unpack_from("<II", trim)
    if passes == NONE:
        raise RefusalError("TKX_E_NO_SPANS")
    rows = [struct.unpack_from("<IHH", trim, 8 + 8 * row) for row in range(count)]
    pairs = [passes >> shift & 3 for shift in range(0, 32, 2)]
    return pairs[: pairs.index(0)], {token: (leading, trailing) for token, leading, trailing in rows}


def spaces(name: bytes) -> tuple[int, int]:
    """The spaces at both ends."""
    return len(name) - len(name.lstrip(b" ")), len(name) - len(name.rstrip(b" "))


def character_span(text: bytes, source: Source) -> Source:
    """A span of bytes as one of characters."""
    start, end = source
    if start == len(text):
        return source
    return len(text[:start].decode()), len(text[:end].decode())


def locate(file: SpecFile, text: bytes, special: bool) -> Iterator[tuple[int, Source, tuple[int, int] | None]]:
    """Ids with their source and, for added tokens, the white space at the ends of their text."""
    sources = [
        (start, end)
        for start, end in pairwise([0, *accumulate(len(character.encode()) for character in text.decode())])
        for _ in range(start, end)
    ]
    for start, stop, token in added_ranges(file, text, special, normalized=False):
        part, part_sources = text[start:stop], sources[start:stop]
        if token is not None:
            yield token, joined(part_sources), white_space(file, part)
            continue
        if normalize(file, part) != part:
            raise NotImplementedError("sources of normalized text")
        for first, behind, inner in added_ranges(file, part, special, normalized=True):
            piece, piece_sources = part[first:behind], part_sources[first:behind]
            if inner is not None:
                yield inner, joined(piece_sources), white_space(file, piece)
                continue
            for id, source in locate_stretch(file, piece, piece_sources):
                yield id, source, None


def joined(sources: list[Source]) -> Source:
    """From the start of the first to the end of the last."""
    return sources[0][0], sources[-1][1]


def white_space(file: SpecFile, text: bytes) -> tuple[int, int]:
    """White space at both ends of a text, in characters; U+0120 is some."""
    known = b"ACLS" in file.sections
    flags = [c == "\u0120" or (known and is_in(file, c, CLASS_SPACE)) for c in text.decode()]
    leading = next((at for at, is_space in enumerate(flags) if not is_space), len(flags))
    trailing = next((at for at, is_space in enumerate(reversed(flags)) if not is_space), len(flags))
    return leading, trailing


def locate_stretch(file: SpecFile, text: bytes, sources: list[Source]) -> Iterator[tuple[int, Source]]:
    """Ids of a text without added tokens."""
    if file.flags & ADD_PREFIX_SPACE and not text.startswith(b" "):
        text, sources = b" " + text, [sources[0], *sources]
    pieces = [(0, len(text))]
    for stage in file.stages:
        pieces = [(at + start, at + end) for at, stop in pieces for start, end in split_ranges(stage, text[at:stop])]
    for start, end in pieces:
        yield from locate_piece(file, text[start:end], sources[start:end])


def locate_piece(file: SpecFile, piece: bytes, sources: list[Source]) -> Iterator[tuple[int, Source]]:
    """Ids of one piece."""
    if len(piece) <= file.max_token_bytes:
        whole = file.token_id(piece)
        if whole is not None and (file.flags & WHOLE_PIECE_FIRST or file.record(whole)[2] & RECORD_WHOLE):
            yield whole, joined(sources)
            return
    spelled = [source for byte, source in zip(piece, sources, strict=True) for _ in range(spelled_length(byte))]
    at = 0
    for token, length in merge_lengths(file, first_symbols(file, piece)):
        yield token, joined(spelled[at : at + length])
        at += length


def spelled_length(byte: int) -> int:
    """How long a byte is in UTF-8 in GPT-2's alphabet."""
    return 1 if 0x21 <= byte <= 0x7E else 2


def first_symbols(file: SpecFile, piece: bytes) -> list[tuple[int, int]]:
    """The symbols that merging begins with, and their lengths."""
    symbols: list[tuple[int, int]] = []
    unknown_before = False
    for byte in piece:
        token, length = u32(file.sections[b"BIDS"], 4 * byte), spelled_length(byte)
        if token != NONE:
            symbols.append((token, length))
        elif file.unknown_id != NONE and unknown_before and file.flags & FUSE_UNKNOWN:
            symbols[-1] = file.unknown_id, symbols[-1][1] + length
        elif file.unknown_id != NONE:
            symbols.append((file.unknown_id, length))
        unknown_before = token == NONE
    return symbols


def merge_lengths(file: SpecFile, symbols: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges the pair of smallest rank, leftmost first, one at a time."""
    while True:
        products = [file.product(left, right) for (left, _), (right, _) in pairwise(symbols)]
        candidates = [(file.rank(product), at, product) for at, product in enumerate(products) if product is not None]
        if not candidates:
            return symbols
        _, at, product = min(candidates)
        symbols[at : at + 2] = [(product, symbols[at][1] + symbols[at + 1][1])]
