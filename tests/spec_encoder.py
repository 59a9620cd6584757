"""Encoding as ``formats/tokexport/SPEC.md`` describes it, slow and plain: the other half of ``spec_reader.py``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import accumulate, pairwise

from spec_models import encode_with_trie, is_unknown_word
from spec_reader import (
    BPE,
    BY_CLUSTER,
    BYTES,
    CHARSMAP,
    COLLAPSE,
    FORM,
    MAP,
    NONE,
    REPLACE,
    UNIT_BYTE,
    WORDLEVEL,
    Op,
    RefusalError,
    SpecFile,
    Stage,
    is_utf8,
    read_class_table,
    require,
    u16,
    u32,
)

WHOLE_PIECE_FIRST, FUSE_UNKNOWN, SEARCH_ANEW, RESCAN_SPECIAL, UNKNOWN_STOPS = 1, 2, 4, 8, 32
RECORD_WHOLE = 8
ADDED_SPECIAL, SINGLE_WORD, LSTRIP, RSTRIP = 1, 2, 4, 8
CLASS_SPACE, CLASS_WORD = 1, 2
INVERT, ON_BYTES, REWRITE, EMPTY_MATCHES, FORWARD_LABELS, DOUBLES = 1, 2, 4, 8, 16, 32
APPEND, UNLESS_PRESENT, ONLY_FIRST, FIRST_SOURCE = 1, 2, 4, 16
MAP_OTHER = 0x80
MAP_LETTERS = 2
MAX_CLUSTER = 5
ACCEPT = 0x8000
ISOLATED, REMOVED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS = range(5)
COMPOSING_FORMS = (0, 2)  # NFC, NFKC


def encode(file: SpecFile, text: bytes, special: bool = False) -> list[int]:
    """The ids of a text; ``special``: all special tokens in it are found."""
    require(b"SPLT" in file.sections, "TKX_E_NO_ENCODER")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise RefusalError("TKX_E_UTF8", error.start) from None
    if any(op.flags & FIRST_SOURCE for op in file.ops):
        return [token for token, *_ in import_module("spec_spans").locate(file, text, special)]
    ids: list[int] = []
    at = 0
    for raw in find_added(file, text, special, normalized=False):
        if isinstance(raw, int):
            ids.append(raw)
            at = -1
            continue
        first = at == 0 and text.startswith(raw)
        at = -1
        rewritten = rewrite(file, raw, file.ops[: file.normalizer_count], first)
        for part in find_added(file, rewritten, special, normalized=True):
            ids += [part] if isinstance(part, int) else encode_stretch(file, part, first)
            first = False
    return ids


def encode_stretch(file: SpecFile, text: bytes, first: bool) -> list[int]:
    """The ids of a text without added tokens; ``first``: it begins where the input begins."""
    pieces = [(text, first)]
    for stage in file.stages:
        pieces = [part for piece, first in pieces for part in run_stage(file, stage, piece, first)]
    encoded = [encode_piece(file, piece) for piece, _ in pieces]
    if file.model == WORDLEVEL and file.flags & FUSE_UNKNOWN:
        unknown = [is_unknown_word(file, piece) for piece, _ in pieces]
        encoded = [ids for at, ids in enumerate(encoded) if at == 0 or not (unknown[at] and unknown[at - 1])]
    return [token for ids in encoded for token in ids]


def run_stage(file: SpecFile, stage: Stage, piece: bytes, first: bool) -> list[tuple[bytes, bool]]:
    """The pieces that a stage makes of a piece, and which of them begins where the input begins."""
    if stage.flags & REWRITE:
        rewritten = rewrite(file, piece, file.ops[stage.first_op : stage.first_op + stage.op_count], first)
        return [(rewritten, first)] if rewritten else []
    return [(piece[start:end], first and start == 0) for start, end in split(stage, piece)]


def encode_piece(file: SpecFile, piece: bytes) -> list[int]:
    """The ids of one piece."""
    if file.model != BPE:
        return encode_with_trie(file, piece)
    if len(piece) <= file.max_token_bytes:
        whole = file.token_id(piece)
        if whole is not None and (file.flags & WHOLE_PIECE_FIRST or file.record(whole)[2] & RECORD_WHOLE):
            return [whole]
    symbols = unit_symbols(file, piece) if b"CHRS" in file.sections else byte_symbols(file, piece)
    return [part for symbol in merge(file, symbols) for part, _ in file.parts(symbol) or [(symbol, 0)]]


def byte_symbols(file: SpecFile, piece: bytes) -> list[int]:
    """The symbols that merging begins with."""
    symbols: list[int] = []
    unknown_before = False
    for byte in piece:
        token = u32(file.sections[b"BIDS"], 4 * byte)
        require(token == NONE or token < file.id_count, "TKX_E_CORRUPT")
        require(token != NONE or not file.flags & UNKNOWN_STOPS, "TKX_E_UNKNOWN_TEXT")
        if token != NONE:
            symbols.append(token)
        elif file.unknown_id != NONE and not (unknown_before and file.flags & FUSE_UNKNOWN):
            symbols.append(file.unknown_id)
        unknown_before = token == NONE
    return symbols


def unit_symbols(file: SpecFile, piece: bytes) -> list[int]:
    """The same where the units have symbols of their own."""
    of_bytes = u32(file.sections[b"CHRS"], 0) == UNIT_BYTE
    units = [piece[i : i + 1] for i in range(len(piece))] if of_bytes else [c.encode() for c in piece.decode()]
    symbols: list[int] = []
    waits = False
    for position, unit in enumerate(units):
        place = (position > 0) + 2 * (position + 1 == len(units))
        symbol = file.symbol(unit[0] if of_bytes else ord(unit.decode()), place)
        in_bytes = [u32(file.sections[b"BIDS"], 4 * byte) for byte in unit]
        if symbol != NONE:
            symbols += [file.unknown_id, symbol] if waits else [symbol]
            waits = False
        elif not of_bytes and NONE not in in_bytes:
            require(max(in_bytes) < file.id_count, "TKX_E_CORRUPT")
            symbols += in_bytes
        elif file.flags & UNKNOWN_STOPS:
            raise RefusalError("TKX_E_UNKNOWN_TEXT")
        elif file.unknown_id != NONE:
            if waits and not file.flags & FUSE_UNKNOWN:
                symbols.append(file.unknown_id)
            waits = True
    return [*symbols, file.unknown_id] if waits else symbols


def merge(file: SpecFile, symbols: list[int]) -> list[int]:
    """Merge the pair of smallest rank, leftmost first, one at a time."""
    while True:
        products = [file.product(left, right) for left, right in pairwise(symbols)]
        candidates = [(file.rank(product), at, product) for at, product in enumerate(products) if product is not None]
        if not candidates:
            return symbols
        _, at, product = min(candidates)
        symbols[at : at + 2] = [product]


# ---- Added tokens -----------------------------------------------------------


def added_tokens(file: SpecFile) -> list[tuple[int, bytes, int]]:
    """Id, content and flags of each added token."""
    if b"ADDT" not in file.sections:
        return []
    added = file.sections[b"ADDT"]
    count, raw_nodes, raw_edges, nodes, edges, text_size = struct.unpack_from("<6I", added)
    text = added[96 + 16 * count + 8 * (raw_nodes + 1) + 4 * raw_edges + 8 * (nodes + 1) + 4 * edges :]
    tokens = []
    for at in range(96, 96 + 16 * count, 16):
        token, offset, length, flags = struct.unpack_from("<4I", added, at)
        require(token < file.id_count and offset + length <= text_size, "TKX_E_CORRUPT")
        tokens.append((token, text[offset : offset + length], flags))
    return tokens


def trie_contents(file: SpecFile, normalized: bool) -> dict[bytes, int]:
    """Every content that a trie spells, with the index of its token."""
    added = file.sections[b"ADDT"]
    count, raw_nodes, raw_edges, nodes, edges, _ = struct.unpack_from("<6I", added)
    at_nodes = 96 + 16 * count + (8 * (raw_nodes + 1) + 4 * raw_edges if normalized else 0)
    spelled = trie_spells(added, at_nodes, *((nodes, edges) if normalized else (raw_nodes, raw_edges)))
    require(all(token < count for token in spelled.values()), "TKX_E_CORRUPT")
    return spelled


def trie_spells(added: bytes, at_nodes: int, node_count: int, edge_count: int) -> dict[bytes, int]:
    """Every byte string that a trie spells, with its number."""
    at_edges = at_nodes + 8 * (node_count + 1)
    contents: dict[bytes, int] = {}
    waiting = [(0, b"")] if node_count else []
    while waiting:
        node, spelled = waiting.pop()
        require(len(spelled) <= node_count, "TKX_E_CORRUPT")  # a loop
        first, token, last = struct.unpack_from("<3I", added, at_nodes + 8 * node)
        require(first <= last <= edge_count, "TKX_E_CORRUPT")
        if token != NONE:
            contents[spelled] = token
        for edge in struct.unpack_from(f"<{last - first}I", added, at_edges + 4 * first):
            require(edge & 0xFFFFFF < node_count, "TKX_E_CORRUPT")
            waiting.append((edge & 0xFFFFFF, spelled + bytes([edge >> 24])))
    return contents


def find_added(file: SpecFile, text: bytes, special: bool, normalized: bool) -> Iterator[bytes | int]:
    """The ids of the added tokens found in a text, and the stretches between them that are not empty."""
    for start, stop, token in added_ranges(file, text, special, normalized):
        yield text[start:stop] if token is None else token


def added_ranges(file: SpecFile, text: bytes, special: bool, normalized: bool) -> Iterator[tuple[int, int, int | None]]:
    """Where the added tokens found in a text stand, with their ids, and where the stretches between them, with None."""
    contents = trie_contents(file, normalized) if b"ADDT" in file.sections else {}
    tokens = added_tokens(file)
    going_on = done = edge = 0
    anew = bool(file.flags & SEARCH_ANEW)
    while going_on < len(text):
        here = [content for content in contents if content and text.startswith(content, going_on)]
        if not here:
            going_on += 1
            continue
        content = max(here, key=len)
        start, stop = going_on, going_on + len(content)
        going_on = stop
        token, _, flags = tokens[contents[content]]
        if flags & ADDED_SPECIAL and not special:
            if file.flags & RESCAN_SPECIAL:
                going_on = start + len(text[start:].decode()[0].encode())
            edge = going_on if anew else 0
            continue
        before, behind = text[:start].decode(), text[stop:].decode()
        beside = (before[-1:] if start > edge else "", behind[:1])
        if flags & SINGLE_WORD and any(is_in(file, character, CLASS_WORD) for character in beside):
            if anew:
                going_on = edge = start + len(text[start:].decode()[0].encode())
            continue
        if flags & LSTRIP:
            while is_in(file, before[-1:], CLASS_SPACE):
                before = before[:-1]
            start = max(len(before.encode()), done)
        if flags & RSTRIP:
            while is_in(file, behind[:1], CLASS_SPACE):
                behind = behind[1:]
            stop = len(text) - len(behind.encode())
        if anew:
            going_on = edge = stop
        if start >= stop:
            continue  # white space that the token before has taken with it
        if done < start:
            yield done, start, None
        yield start, stop, token
        done = stop
    if done < len(text):
        yield done, len(text), None


def is_in(file: SpecFile, character: str, wanted: int) -> bool:
    """Whether there is a character, and it is in a class of ACLS."""
    section = file.sections[b"ACLS"]
    table = read_class_table(section, 8, u16(section, 0), u16(section, 2))
    return character != "" and bool(table[ord(character)] & wanted)


# ---- Normalization ----------------------------------------------------------


def rewrite(file: SpecFile, text: bytes, ops: Sequence[Op], first: bool) -> bytes:
    """What operations make of a text; ``first``: it begins where the input begins, with FIRST_SOURCE its source does."""
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
            text = b"".join(op.content if matched else text[start:end] for start, end, matched in spans)
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
    return chr(byte if byte in itself else 0x100 + [other for other in range(256) if other not in itself].index(byte))


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
    """(size, replacement) of each sequence of a CHARSMAP that a text begins with, shorter ones first."""
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
    """The code points of a text in a normalization form, and how many characters of the text each takes (5.9)."""
    form, middle_count, leaf_count, entry_count, point_count, composition_count = struct.unpack_from("<6I", norm)
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
        rows = struct.iter_unpack("<3I", norm[at_compositions : at_compositions + 12 * composition_count])
        points = compose(points, lambda c: entry(c)[2], {(first, second): both for first, second, both in rows})
    return points


def compose(
    points: Sequence[tuple[int, int]], class_of: Callable[[int], int], table: Mapping[tuple[int, int], int]
) -> list[tuple[int, int]]:
    """Canonical composition: a code point joins the last starter, unless something between them blocks it."""
    kept: list[tuple[int, int]] = []
    starter: int | None = None  # its index in `kept`
    for c, takes in points:
        own = class_of(c)
        if starter is not None and all(class_of(between) < own for between, _ in kept[starter + 1 :]):
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


# ---- Stages -----------------------------------------------------------------


def split(stage: Stage, piece: bytes) -> list[tuple[int, int]]:
    """The pieces that a stage makes of a piece, as byte offsets."""
    spans = [(start, end, matched != bool(stage.flags & INVERT)) for start, end, matched in scan(stage, piece)]
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
        if joins and not before == matched == gap:  # between two gaps there was a match of no symbols
            pieces[-1].append((start, end))
        else:
            pieces.append([(start, end)])
        before = matched
    joined = [(min(start for start, _ in part), max(end for _, end in part)) for part in pieces]
    return joined[::-1] if stage.behavior == MERGED_WITH_NEXT else joined


def scan(stage: Stage, piece: bytes) -> Iterator[tuple[int, int, bool]]:
    """Matches (True) and gaps (False) of a piece, as byte offsets."""
    symbols = [bytes([b]) for b in piece] if stage.flags & ON_BYTES else [c.encode() for c in piece.decode()]
    numbers = list(piece) if stage.flags & ON_BYTES else [ord(c) for c in piece.decode()]
    offsets = [0]
    for symbol in symbols:
        offsets.append(offsets[-1] + len(symbol))
    read = labelled(stage, numbers)
    gap = at = 0
    while at < len(read):
        end = match_end(stage, read, at)
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
    """What REPLACE replaces (True) and keeps of a text, as byte offsets; a match of no symbols too."""
    if not stage.flags & EMPTY_MATCHES:
        yield from scan(stage, text)
        return
    characters = text.decode()
    offsets = [0, *accumulate(len(character.encode()) for character in characters)]
    read = labelled(stage, [ord(character) for character in characters])
    kept, behind = 0, -1
    at = 0
    while at <= len(read):
        end = match_end(stage, read, at)
        if end is None or end == at == behind:
            at += 1
            continue
        yield offsets[kept], offsets[at], False
        yield offsets[at], offsets[end], True
        kept = at = behind = end
    yield offsets[kept], offsets[-1], False


def labelled(stage: Stage, symbols: Sequence[int]) -> Sequence[int]:
    """What the program reads: the labels of a piece, or its classes where there is no label table."""
    classes: Sequence[int] = [stage.classes[symbol] for symbol in symbols]
    if stage.flags & DOUBLES:
        half = stage.label_class_count // 2
        classes = [number + half * (at > 0 and symbols[at - 1] == symbols[at]) for at, number in enumerate(classes)]
    direction = 1 if stage.flags & FORWARD_LABELS else -1
    if stage.labels:
        classes = run_labels(stage.labels, stage.label_class_count, classes, direction)
    if stage.second_labels:
        classes = run_labels(stage.second_labels, stage.second_label_class_count, classes, -direction)
    return classes


def run_labels(table: Sequence[int], columns: int, symbols: Sequence[int], direction: int) -> Sequence[int]:
    """The labels that a table gives to symbols, from the first to the last (1) or the other way (-1)."""
    labels = []
    state = 0
    for number in symbols[::direction]:
        entry = table[state * columns + number]
        labels.append(entry & 0xFF)
        state = entry >> 8
    return labels[::direction]


def match_end(stage: Stage, read: Sequence[int], start: int) -> int | None:
    """Where the match at a position ends; None where there is none."""
    behind = [*read, stage.class_count]
    state = stage.starts[behind[start - 1]]  # for start 0 that is the last entry: the end of text
    end = None
    for at in range(start, len(behind)):
        if state == 0:
            break
        transition = int(stage.transitions[(state << stage.row_shift) + behind[at]])
        if transition & ACCEPT:
            end = at
        state = transition & ~ACCEPT
    return end


# ---- Templates and self test --------------------------------------------------------------


def templates(file: SpecFile) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The (kind, id) of each piece of the template for one text, and of that for two."""
    if b"POST" not in file.sections:
        return [(1, 0)], [(1, 0), (2, 0)]
    post = file.sections[b"POST"]
    single_count, pair_count = struct.unpack_from("<II", post)
    pieces = [struct.unpack_from("<II", post, 8 + 12 * index) for index in range(single_count + pair_count)]
    for kind, token in pieces:
        require(kind in (1, 2) or (kind == 0 and token < file.id_count), "TKX_E_CORRUPT")
    return pieces[:single_count], pieces[single_count:]


def self_test(file: SpecFile) -> int:
    """Run the cases of the file; the number of them."""
    require(b"TEST" in file.sections, "TKX_E_NOT_FOUND")
    test = file.sections[b"TEST"]
    case_count, id_count, text_size, _ = struct.unpack_from("<4I", test)
    ids = struct.unpack_from(f"<{id_count}I", test, 16 + 20 * case_count)
    texts = test[16 + 20 * case_count + 4 * id_count :]
    for case in range(case_count):
        offset, length, first, count, flags = struct.unpack_from("<5I", test, 16 + 20 * case)
        require(offset + length <= text_size and first + count <= id_count, "TKX_E_CORRUPT")
        if encode(file, texts[offset : offset + length], bool(flags & 1)) != list(ids[first : first + count]):
            raise RefusalError("TKX_E_SELF_TEST", case)
    return int(case_count)
