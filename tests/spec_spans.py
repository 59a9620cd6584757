"""Spans as ``formats/tokexport/SPEC.md`` describes them (5.9), slow and plain: each byte of a text carries its source along."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from spec_encoder import (
    APPEND,
    CLASS_SPACE,
    FIRST_SOURCE,
    FUSE_UNKNOWN,
    RECORD_WHOLE,
    REWRITE,
    WHOLE_PIECE_FIRST,
    added_ranges,
    charsmap_parts,
    encode_piece,
    is_in,
    normalized_points,
    replaced_spans,
    rewrite,
    split,
)
from spec_reader import (
    BPE,
    BYTES,
    CHARSMAP,
    FORM,
    MAP,
    NONE,
    REPLACE,
    UNIT_BYTE,
    UNIT_CHARACTER,
    Op,
    RefusalError,
    SpecFile,
    Stage,
    u32,
)

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
    pairs = [passes >> shift & 3 for shift in range(0, 34, 2)]
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
        part, part_sources, first = text[start:stop], sources[start:stop], start == 0
        if token is not None:
            yield token, joined(part_sources), white_space(file, part)
            continue
        part, part_sources = rewrite_located(file, part, part_sources, file.ops[: file.normalizer_count], first)
        for inner_start, inner_stop, inner in added_ranges(file, part, special, normalized=True):
            piece, piece_sources = part[inner_start:inner_stop], part_sources[inner_start:inner_stop]
            if inner is not None:
                yield inner, joined(piece_sources), white_space(file, piece)
            else:
                for id, source in locate_stretch(file, piece, piece_sources, first):
                    yield id, source, None
            first = False


def rewrite_located(
    file: SpecFile, text: bytes, sources: list[Source], ops: Sequence[Op], first: bool
) -> tuple[bytes, list[Source]]:
    """What operations make of a text, and the source of each byte of that."""
    for op in ops:
        if not text:
            break
        before, before_sources = text, sources
        text = rewrite(file, text, [op], sources[0][0] == 0 if op.flags & FIRST_SOURCE else first)
        if op.kind == FORM:
            sources = form_sources(op, before, before_sources)
        elif op.kind in (MAP, BYTES):
            at, sources = 0, []
            for character in before.decode():
                made = rewrite(file, character.encode(), [op], first)
                sources += [before_sources[at]] * len(made)
                at += len(character.encode())
        elif op.kind == REPLACE:
            assert op.program is not None
            sources = []
            for start, end, matched in replaced_spans(op.program, before):
                source = before_sources[end - 1] if end else (before_sources[0][0],) * 2
                sources += [source] * len(op.content) if matched else before_sources[start:end]
        elif op.kind == CHARSMAP:
            sources = charsmap_sources(op, before, before_sources)
        elif len(text) > len(before):
            added = len(text) - len(before)
            beside = before_sources[-1 if op.flags & APPEND else 0]
            sources = (
                [*before_sources, *[beside] * added] if op.flags & APPEND else [*[beside] * added, *before_sources]
            )
    return text, sources


def charsmap_sources(op: Op, text: bytes, sources: list[Source]) -> list[Source]:
    """The sources of what a CHARSMAP makes of a text."""
    parts = [*charsmap_parts(op, text)]
    if all(old == new for old, new in parts):
        return sources
    made: list[list[int]] = []  # of each character its bytes, and how many characters it takes
    for old, new in parts:
        left = len(old.decode())
        for character in new.decode():
            made.append([len(character.encode()), int(left > 0)])
            left = max(left - 1, 0)
        if made:
            made[-1][1] += left
    characters = [sources[start] for start in accumulate([0, *(len(c.encode()) for c in text.decode()[:-1])])]
    found: list[Source] = []
    taken = 0
    for size, takes in made:
        found += [characters[taken if takes else taken - 1]] * size
        taken += takes
    return found


def form_sources(op: Op, text: bytes, sources: list[Source]) -> list[Source]:
    """The sources of a text in a normalization form."""
    characters = [sources[start] for start in accumulate([0, *(len(c.encode()) for c in text.decode()[:-1])])]
    found: list[Source] = []
    taken = 0
    for c, takes in normalized_points(op.table, text):
        found += [characters[taken if takes else taken - 1]] * len(chr(c).encode())
        taken += takes
    return found


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


def locate_stretch(file: SpecFile, text: bytes, sources: list[Source], first: bool) -> Iterator[tuple[int, Source]]:
    """Ids of a text without added tokens; ``first``: it begins where the input begins."""
    pieces = [(text, sources, first)]
    for stage in file.stages:
        pieces = [part for piece in pieces for part in run_stage_located(file, stage, *piece)]
    for text, sources, _ in pieces:
        yield from locate_piece(file, text, sources)


def run_stage_located(
    file: SpecFile, stage: Stage, text: bytes, sources: list[Source], first: bool
) -> list[tuple[bytes, list[Source], bool]]:
    """The pieces that a stage makes of a piece."""
    if stage.flags & REWRITE:
        ops = file.ops[stage.first_op : stage.first_op + stage.op_count]
        text, sources = rewrite_located(file, text, sources, ops, first)
        return [(text, sources, first)] if text else []
    return [(text[start:end], sources[start:end], first and start == 0) for start, end in split(stage, text)]


def locate_piece(file: SpecFile, piece: bytes, sources: list[Source]) -> Iterator[tuple[int, Source]]:
    """Ids of one piece. Of other models than BPE this knows no sources but that of the piece."""
    if file.model != BPE:
        yield from ((token, joined(sources)) for token in encode_piece(file, piece))
        return
    if len(piece) <= file.max_token_bytes:
        whole = file.token_id(piece)
        if whole is not None and (file.flags & WHOLE_PIECE_FIRST or file.record(whole)[2] & RECORD_WHOLE):
            yield whole, joined(sources)
            return
    of_characters = b"CHRS" in file.sections and u32(file.sections[b"CHRS"], 0) == UNIT_CHARACTER
    widths = [1 if of_characters else spelled_length(byte) for byte in piece]
    spelled = [source for width, source in zip(widths, sources, strict=True) for _ in range(width)]
    symbols = unit_symbols(file, piece) if b"CHRS" in file.sections else byte_symbols(file, piece)
    at = 0
    for token, length in merge_lengths(file, symbols):
        yield token, joined(spelled[at : at + length])
        at += length


def spelled_length(byte: int) -> int:
    """How long a byte is in UTF-8 in GPT-2's alphabet."""
    return 1 if 0x21 <= byte <= 0x7E else 2


def byte_symbols(file: SpecFile, piece: bytes) -> list[tuple[int, int]]:
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


def unit_symbols(file: SpecFile, piece: bytes) -> list[tuple[int, int]]:
    """The same where the units have symbols of their own."""
    of_bytes = u32(file.sections[b"CHRS"], 0) == UNIT_BYTE
    units = [piece[i : i + 1] for i in range(len(piece))] if of_bytes else [c.encode() for c in piece.decode()]
    symbols: list[tuple[int, int]] = []
    waiting = 0
    for position, unit in enumerate(units):
        place = (position > 0) + 2 * (position + 1 == len(units))
        symbol = file.symbol(unit[0] if of_bytes else ord(unit.decode()), place)
        in_bytes = [u32(file.sections[b"BIDS"], 4 * byte) for byte in unit]
        length = spelled_length(unit[0]) if of_bytes else len(unit)
        if symbol != NONE:
            symbols += [(file.unknown_id, waiting), (symbol, length)] if waiting else [(symbol, length)]
            waiting = 0
        elif not of_bytes and NONE not in in_bytes:
            symbols += [(token, 1) for token in in_bytes]
        elif file.unknown_id != NONE:
            if waiting and not file.flags & FUSE_UNKNOWN:
                symbols.append((file.unknown_id, waiting))
                waiting = 0
            waiting += length
    return [*symbols, (file.unknown_id, waiting)] if waiting else symbols


def merge_lengths(file: SpecFile, symbols: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges the pair of smallest rank, leftmost first, one at a time."""
    while True:
        products = [file.product(left, right) for (left, _), (right, _) in pairwise(symbols)]
        candidates = [(file.rank(product), at, product) for at, product in enumerate(products) if product is not None]
        if not candidates:
            return symbols
        _, at, product = min(candidates)
        symbols[at : at + 2] = [(product, symbols[at][1] + symbols[at + 1][1])]
