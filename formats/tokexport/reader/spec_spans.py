"""Spans as ``formats/tokexport/SPEC.md`` describes them (5.9), slow and plain: each byte of a text
carries its source along.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from spec_added import CLASS_SPACE, added_ranges, is_in, trie_spells
from spec_models import FUSE_UNKNOWN, RECORD_WHOLE, UNKNOWN_STOPS, WHOLE_PIECE_FIRST, encode_piece
from spec_normalizer import (
    APPEND,
    FIRST_SOURCE,
    charsmap_parts,
    normalized_points,
    rewrite,
    sequences_replaced,
)
from spec_reader import (
    BPE,
    BY_CLUSTER,
    BYTES,
    CHARSMAP,
    FORM,
    MAP,
    NONE,
    REPLACE,
    REWRITE,
    UNIT_BYTE,
    UNIT_CHARACTER,
    Op,
    RefusalError,
    SpecFile,
    Stage,
    require,
    u32,
)
from spec_stages import replaced_spans, split

Source = tuple[int, int]  # a range of bytes of the input
KEEP_FIRST = 2
PREFIX, SUFFIX, COLLAPSE = 1, 2, 4
SPACES = {" ", "\u2581"}


def encode_spans(
    file: SpecFile, text: bytes, special: bool = False, characters: bool = True
) -> list[tuple[int, Source]]:
    """Each id of a text with its span."""
    passes, exceptions = read_trimming(file)
    found: list[tuple[int, Source]] = []
    for token, source, counts in locate(file, text, special):
        leading, trailing = counts or exceptions.get(token) or spaces(file.token_bytes(token))
        start, end = (
            character_span(text, source, b"ALGN" in file.sections) if characters else source
        )
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
    return pairs[: pairs.index(0)], {
        token: (leading, trailing) for token, leading, trailing in rows
    }


def spaces(name: bytes) -> tuple[int, int]:
    """The spaces at both ends."""
    return len(name) - len(name.lstrip(b" ")), len(name) - len(name.rstrip(b" "))


def character_span(text: bytes, source: Source, at_end: bool) -> Source:
    """A span of bytes as one of characters; ``at_end``: one that begins at the end of the text,
    too.
    """
    start, end = source
    if start == len(text) and not at_end:
        return source
    return len(text[:start].decode()), len(text[:end].decode())


def locate(
    file: SpecFile, text: bytes, special: bool
) -> Iterator[tuple[int, Source, tuple[int, int] | None]]:
    """Ids with their source and, for added tokens, the white space at the ends of their text."""
    sources = [
        (start, end)
        for start, end in pairwise(
            [0, *accumulate(len(character.encode()) for character in text.decode())]
        )
        for _ in range(start, end)
    ]
    for start, stop, token in added_ranges(file, text, special, normalized=False):
        part, part_sources, first = text[start:stop], sources[start:stop], start == 0
        if token is not None:
            yield token, joined(part_sources), white_space(file, part)
            continue
        ops = file.ops[: file.normalizer_count]
        if b"ALGN" in file.sections:
            given, part = part, rewrite(part, ops, first)
            part_sources = aligned(file, given, part_sources, part)
        else:
            part, part_sources = rewrite_located(file, part, part_sources, ops, first)
        for inner_start, inner_stop, inner in added_ranges(file, part, special, normalized=True):
            piece, piece_sources = (
                part[inner_start:inner_stop],
                part_sources[inner_start:inner_stop],
            )
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
        text = rewrite(text, [op], sources[0][0] == 0 if op.flags & FIRST_SOURCE else first)
        if op.kind == FORM:
            sources = form_sources(op, before, before_sources)
        elif op.kind in (MAP, BYTES):
            at, sources = 0, []
            for character in before.decode():
                made = rewrite(character.encode(), [op], first)
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
                [*before_sources, *[beside] * added]
                if op.flags & APPEND
                else [*[beside] * added, *before_sources]
            )
    return text, sources


def aligned(file: SpecFile, text: bytes, sources: list[Source], normalized: bytes) -> list[Source]:
    """The sources of a normalized text, as ALGN says."""
    if not normalized:
        return []
    flags, reserved = u32(file.sections[b"ALGN"], 0), u32(file.sections[b"ALGN"], 12)
    require(flags & ~(PREFIX | SUFFIX | COLLAPSE) == 0 and reserved == 0, "TKX_E_CORRUPT")
    starts: list[int] = []  # where in the input each byte of the normalized text comes from
    left = [*normalized.decode()]  # what has no source yet
    kept_behind = left.pop() if flags & SUFFIX else ""
    dropped: int | None = None  # where the first space that is missing at the end comes from

    def take(characters: str, start: int) -> None:
        nonlocal dropped
        for character in characters:
            if not left:
                require(bool(flags & COLLAPSE) and character in SPACES, "TKX_E_CORRUPT")
                dropped = start if dropped is None else dropped
                continue
            found = left.pop(0)
            require(found == character or {found, character} <= SPACES, "TKX_E_CORRUPT")
            starts.extend([start] * len(found.encode()))

    rules = [*enumerate(chunks(file, text))]
    places = [*accumulate((len(old) for _, (old, _) in rules), initial=0)]
    begins = [*(sources[place][0] for place in places[:-1]), sources[-1][1]]
    while flags & COLLAPSE and rules and rules[0][1][1] == b" ":
        rules.pop(0)
    if flags & PREFIX:
        take(" ", begins[rules[0][0]] if rules else begins[-1])
    behind_space = bool(flags & COLLAPSE)
    for number, (_, new) in rules:
        kept = new.lstrip(b" ") if behind_space else new
        take(kept.decode(), begins[number])
        if kept:
            behind_space = bool(flags & COLLAPSE) and kept.endswith(b" ")
    end = begins[-1] if dropped is None else dropped
    starts.extend([end] * len(kept_behind.encode()))
    require(not left, "TKX_E_CORRUPT")
    return [*pairwise([*starts, end])]


def chunks(file: SpecFile, text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a text that sentencepiece takes together, and what its rules make of each."""
    for op in file.ops[: file.normalizer_count]:
        if op.kind == CHARSMAP and not op.flags & BY_CLUSTER:
            yield from sequences_replaced(op, text)
            return
    section = file.sections[b"ALGN"]
    protected = trie_spells(section, 16, u32(section, 4), u32(section, 8))
    while text:
        kept = [content for content in protected if text.startswith(content)]
        part = max([*kept, text.decode()[0].encode()], key=len)
        yield part, part
        text = text[len(part) :]


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
    characters = [
        sources[start] for start in accumulate([0, *(len(c.encode()) for c in text.decode()[:-1])])
    ]
    found: list[Source] = []
    taken = 0
    for size, takes in made:
        found += [characters[taken if takes else taken - 1]] * size
        taken += takes
    return found


def form_sources(op: Op, text: bytes, sources: list[Source]) -> list[Source]:
    """The sources of a text in a normalization form."""
    characters = [
        sources[start] for start in accumulate([0, *(len(c.encode()) for c in text.decode()[:-1])])
    ]
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


def locate_stretch(
    file: SpecFile, text: bytes, sources: list[Source], first: bool
) -> Iterator[tuple[int, Source]]:
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
    return [
        (text[start:end], sources[start:end], first and start == 0)
        for start, end in split(stage, text)
    ]


def locate_piece(
    file: SpecFile, piece: bytes, sources: list[Source]
) -> Iterator[tuple[int, Source]]:
    """Ids of one piece. Of other models than BPE this knows no sources but that of the piece."""
    if file.model != BPE:
        yield from ((token, joined(sources)) for token in encode_piece(file, piece))
        return
    if len(piece) <= file.max_token_bytes:
        whole = file.token_id(piece)
        if whole is not None and (
            file.flags & WHOLE_PIECE_FIRST or file.record(whole)[2] & RECORD_WHOLE
        ):
            yield whole, joined(sources)
            return
    of_characters = b"CHRS" in file.sections and u32(file.sections[b"CHRS"], 0) == UNIT_CHARACTER
    widths = [1 if of_characters else spelled_length(byte) for byte in piece]
    spelled = [source for width, source in zip(widths, sources, strict=True) for _ in range(width)]
    symbols = unit_symbols(file, piece) if b"CHRS" in file.sections else byte_symbols(file, piece)
    at = 0
    for symbol, length in merge_lengths(file, symbols):
        yield symbol, joined(spelled[at : at + length])
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
        require(token != NONE or not file.flags & UNKNOWN_STOPS, "TKX_E_UNKNOWN_TEXT")
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
    units = (
        [piece[i : i + 1] for i in range(len(piece))]
        if of_bytes
        else [c.encode() for c in piece.decode()]
    )
    symbols: list[tuple[int, int]] = []
    waiting = 0
    for position, unit in enumerate(units):
        place = (position > 0) + 2 * (position + 1 == len(units))
        symbol = file.symbol(unit[0] if of_bytes else ord(unit.decode()), place)
        in_bytes = [u32(file.sections[b"BIDS"], 4 * byte) for byte in unit]
        length = spelled_length(unit[0]) if of_bytes else len(unit)
        if symbol != NONE:
            symbols += (
                [(file.unknown_id, waiting), (symbol, length)] if waiting else [(symbol, length)]
            )
            waiting = 0
        elif not of_bytes and NONE not in in_bytes:
            symbols += [(token, 1) for token in in_bytes]
        elif file.flags & UNKNOWN_STOPS:
            raise RefusalError("TKX_E_UNKNOWN_TEXT")
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
        candidates = [
            (file.rank(product), at, product)
            for at, product in enumerate(products)
            if product is not None
        ]
        if not candidates:
            return symbols
        _, at, product = min(candidates)
        symbols[at : at + 2] = [(product, symbols[at][1] + symbols[at + 1][1])]
