"""Normalization as ``formats/tokexport/SPEC.md`` describes it: a part of ``spec_encoder.py``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from spec_added import trie_spells
from spec_reader import (
    BY_CLUSTER,
    BYTES,
    CHARSMAP,
    COLLAPSE,
    FORM,
    MAP,
    REPLACE,
    Op,
    is_utf8,
    require,
    u16,
    u32,
)
from spec_stages import replaced_spans, scan

APPEND, UNLESS_PRESENT, ONLY_FIRST, FIRST_SOURCE = 1, 2, 4, 16
MAP_OTHER = 0x80
MAP_LETTERS = 2
MAX_CLUSTER = 5
COMPOSING_FORMS = (0, 2)  # NFC, NFKC


def rewrite(text: bytes, ops: Sequence[Op], first: bool) -> bytes:
    """What operations make of a text; ``first``: it begins where the input begins, with
    FIRST_SOURCE its source does.
    """
    for op in ops:
        if not text:
            break
        if op.kind == FORM:
            text = normalize(op.table, text)
        elif op.kind == MAP:
            text = b"".join(mapped(op.table, character) for character in text.decode())
        elif op.kind == REPLACE:
            assert op.program is not None
            spans = replaced_spans(op.program, text)
            text = b"".join(
                op.content if matched else text[start:end] for start, end, matched in spans
            )
        elif op.kind == CHARSMAP:
            text = b"".join(new for _, new in charsmap_parts(op, text))
        elif op.kind == BYTES:
            text = "".join(map(spelled, text)).encode()
        elif (op.flags & (ONLY_FIRST | FIRST_SOURCE) and not first) or (
            op.flags & UNLESS_PRESENT and text.startswith(op.content)
        ):
            continue
        else:
            text = text + op.content if op.flags & APPEND else op.content + text
    return text


def spelled(byte: int) -> str:
    """What BYTES makes of a byte."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return chr(
        byte
        if byte in itself
        else 0x100 + [other for other in range(256) if other not in itself].index(byte)
    )


def mapped(table: bytes, character: str) -> bytes:
    """What a MAP makes of one character."""
    middle_count, leaf_count, entry_count, text_size = struct.unpack_from("<4I", table)
    c = ord(character)
    if c < 128 and table[24 + c] < MAP_OTHER:
        return table[24 + c : 25 + c]
    at_top = 24 + 128
    at_middle = at_top + 2 * 272
    at_leaves = at_middle + 128 * middle_count
    at_entries = at_leaves + 128 * leaf_count
    block = u16(table, at_top + 2 * (c >> 12))
    require(block < middle_count, "TKX_E_CORRUPT")
    block = u16(table, at_middle + 2 * (block * 64 + (c >> 6 & 63)))
    require(block < leaf_count, "TKX_E_CORRUPT")
    number = u16(table, at_leaves + 2 * (block * 64 + (c & 63)))
    require(number < entry_count, "TKX_E_CORRUPT")
    if number == 0:
        return character.encode()
    start, before, after, keep = struct.unpack_from("<IBBB", table, at_entries + 8 * number)
    require(start + before + after <= text_size, "TKX_E_CORRUPT")
    text = table[at_entries + 8 * entry_count + start :][: before + after]
    require(is_utf8(text[:before]) and is_utf8(text[before:]), "TKX_E_CORRUPT")
    require(keep != MAP_LETTERS or 0xAC00 <= c <= 0xD7A3, "TKX_E_CORRUPT")
    itself = "".join(map(chr, hangul_letters(c))) if keep == MAP_LETTERS else character * bool(keep)
    return text[:before] + itself.encode() + text[before:]


def hangul_letters(c: int) -> list[int]:
    """The letters of a Hangul syllable: 5.4."""
    i = c - 0xAC00
    return [0x1100 + i // 588, 0x1161 + i % 588 // 28] + [0x11A7 + i % 28] * (i % 28 != 0)


def sequences_at(table: bytes, text: bytes) -> list[tuple[int, bytes]]:
    """(size, replacement) of each sequence of a CHARSMAP that a text begins with, shorter ones
    first.
    """
    unit_count, text_size = u32(table, 0), u32(table, 16)
    units = struct.unpack_from(f"<{unit_count}I", table, 24)
    texts = table[len(table) - text_size :]

    def offset(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)

    found = []
    node = offset(units[0])
    for index, byte in enumerate(text):
        if byte == 0 or node ^ byte >= unit_count or units[node ^ byte] & 0x800000FF != byte:
            break
        unit = units[node ^ byte]
        node ^= byte ^ offset(unit)
        if unit & 0x100:
            require(node < unit_count and units[node] & 0x7FFFFFFF <= text_size, "TKX_E_CORRUPT")
            replacement = texts[units[node] & 0x7FFFFFFF :].split(b"\0")[0]
            require(is_utf8(replacement), "TKX_E_CORRUPT")
            found.append((index + 1, replacement))
    return found


def charsmap_parts(op: Op, text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a text, and what a CHARSMAP makes of each."""
    parts = clusters_replaced(op, text) if op.flags & BY_CLUSTER else sequences_replaced(op, text)
    return collapsed(parts) if op.flags & COLLAPSE else parts


def collapsed(parts: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """What COLLAPSE leaves of each part."""
    result = b" "
    for old, new in parts:
        kept = new.lstrip(b" ") if result.endswith(b" ") else new
        yield old, kept
        result += kept


def clusters_replaced(op: Op, text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """CHARSMAP with BY_CLUSTER."""
    assert op.program is not None
    for start, end, matched in scan(op.program, text):
        clusters = [text[start:end]] if matched else [c.encode() for c in text[start:end].decode()]
        for cluster in clusters:
            whole = sequences_at(op.table, cluster) if len(cluster) <= MAX_CLUSTER else []
            if whole:
                yield cluster, whole[0][1]
                continue
            for character in cluster.decode():
                alone = sequences_at(op.table, character.encode())
                yield character.encode(), alone[0][1] if alone else character.encode()


def sequences_replaced(op: Op, text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """CHARSMAP without BY_CLUSTER."""
    units, nodes, edges = struct.unpack_from("<3I", op.table)
    protected = trie_spells(op.table, 24 + 4 * units, nodes, edges)
    while text:
        kept = [content for content in protected if text.startswith(content)]
        found = sequences_at(op.table, text)
        size, part = len(text.decode()[0].encode()), text.decode()[0].encode()
        if kept:
            part = max(kept, key=len)
            size = len(part)
        elif found:
            size, part = found[-1]
        yield text[:size], part
        text = text[size:]
        require(is_utf8(text), "TKX_E_CORRUPT")


def normalize(norm: bytes, text: bytes) -> bytes:
    """A text in the normalization form of a FORM table."""
    return "".join(chr(c) for c, _ in normalized_points(norm, text)).encode()


def normalized_points(norm: bytes, text: bytes) -> list[tuple[int, int]]:
    """The code points of a text in a normalization form, and how many characters of the text each
    takes (5.9).
    """
    form, middle_count, leaf_count, entry_count, point_count, composition_count = (
        struct.unpack_from("<6I", norm)
    )
    at_middle = 32 + 2 * 272
    at_leaves = at_middle + 128 * middle_count
    at_entries = at_leaves + 128 * leaf_count
    at_points = at_entries + 8 * entry_count
    at_compositions = at_points + 4 * point_count

    def entry(c: int) -> tuple[int, int, int]:
        block = u16(norm, at_middle + 2 * (u16(norm, 32 + 2 * (c >> 12)) * 64 + (c >> 6 & 63)))
        number = u16(norm, at_leaves + 2 * (block * 64 + (c & 63)))
        start, length, combining_class = struct.unpack_from("<IBB", norm, at_entries + 8 * number)
        return start, length, combining_class

    points: list[tuple[int, int]] = []
    for c in map(ord, text.decode()):
        start, length, _ = entry(c)
        decomposed = [c]
        if 0xAC00 <= c <= 0xD7A3:
            decomposed = hangul_letters(c)
        elif length:
            decomposed = list(struct.unpack_from(f"<{length}I", norm, at_points + 4 * start))
        points += [(point, int(number == 0)) for number, point in enumerate(decomposed)]
    at = 0
    while at < len(points):
        end = at
        while end < len(points) and entry(points[end][0])[2]:
            end += 1
        points[at:end] = sorted(points[at:end], key=lambda point: entry(point[0])[2])
        at = end + 1
    if form in COMPOSING_FORMS:
        rows = struct.iter_unpack(
            "<3I", norm[at_compositions : at_compositions + 12 * composition_count]
        )
        points = compose(
            points, lambda c: entry(c)[2], {(first, second): both for first, second, both in rows}
        )
    return points


def compose(
    points: Sequence[tuple[int, int]],
    class_of: Callable[[int], int],
    table: Mapping[tuple[int, int], int],
) -> list[tuple[int, int]]:
    """Canonical composition: a code point joins the last starter, unless something between them
    blocks it.
    """
    kept: list[tuple[int, int]] = []
    starter: int | None = None  # its index in `kept`
    for c, takes in points:
        own = class_of(c)
        if starter is not None and all(
            class_of(between) < own for between, _ in kept[starter + 1 :]
        ):
            both = compose_pair(kept[starter][0], c, table)
            if both is not None:
                kept[starter] = both, kept[starter][1] + takes
                continue
        if own == 0:
            starter = len(kept)
        kept.append((c, takes))
    return kept


def compose_pair(first: int, second: int, table: Mapping[tuple[int, int], int]) -> int | None:
    """What two code points compose to: Hangul by arithmetic, the rest by the table."""
    if 0x1100 <= first <= 0x1112 and 0x1161 <= second <= 0x1175:
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    if 0xAC00 <= first <= 0xD7A3 and (first - 0xAC00) % 28 == 0 and 0x11A8 <= second <= 0x11C2:
        return first + second - 0x11A7
    return table.get((first, second))
