"""The models as ``formats/tokexport/SPEC.md`` describes them: a part of ``spec_encoder.py``."""

from __future__ import annotations

import struct
from itertools import groupby, pairwise

from spec_reader import (
    BPE,
    GREEDY,
    NONE,
    UNIGRAM,
    UNIT_BYTE,
    WORDLEVEL,
    WORDPIECE,
    RefusalError,
    SpecFile,
    require,
    u32,
    u64,
)

WHOLE_PIECE_FIRST, FUSE_UNKNOWN, UNKNOWN_STOPS = 1, 2, 32
RECORD_WHOLE = 8
NO_TOKEN = 0x1FFFFF
SINGLE_PRECISION, BYTES = 1, 2
TRIE_FLAGS = 3
LARGEST_SUM = 100_000


def encode_piece(file: SpecFile, piece: bytes) -> list[int]:
    """The ids of one piece."""
    if file.model != BPE:
        return encode_with_trie(file, piece)
    if len(piece) <= file.max_token_bytes:
        whole = file.token_id(piece)
        if whole is not None and (
            file.flags & WHOLE_PIECE_FIRST or file.record(whole)[2] & RECORD_WHOLE
        ):
            return [whole]
    symbols = unit_symbols(file, piece) if b"CHRS" in file.sections else byte_symbols(file, piece)
    return merge(file, symbols)


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
    units = (
        [piece[i : i + 1] for i in range(len(piece))]
        if of_bytes
        else [c.encode() for c in piece.decode()]
    )
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
        candidates = [
            (file.rank(product), at, product)
            for at, product in enumerate(products)
            if product is not None
        ]
        if not candidates:
            return symbols
        _, at, product = min(candidates)
        symbols[at : at + 2] = [product]


def encode_with_trie(file: SpecFile, piece: bytes) -> list[int]:
    """The ids of one piece, with any model but BPE."""
    trie = file.sections[b"TRIE"]
    root, continuation, max_characters = struct.unpack_from("<3I", trie, 4)
    flags, reserved = struct.unpack_from("<2I", trie, 24)
    require(flags & ~TRIE_FLAGS == 0 and reserved == 0, "TKX_E_CORRUPT")
    if file.model == UNIGRAM:
        return unigram(file, piece, flags)
    if file.model == WORDPIECE:
        characters = len(piece) if flags & BYTES else len(piece.decode())
        if characters > max_characters:
            return unknown(file)
        ids = longest_first(file, piece, root, continuation)
        return unknown(file) if None in ids else [token for token in ids if token is not None]
    if file.model == WORDLEVEL:
        token = dict(prefixes(file, piece, root)).get(len(piece))
        return unknown(file) if token is None else [token]
    assert file.model == GREEDY
    return [
        token
        for found in longest_first(file, piece, root, root)
        for token in (unknown(file) if found is None else [found])
    ]


def is_unknown_word(file: SpecFile, piece: bytes) -> bool:
    """Whether the vocabulary lacks a piece."""
    return len(piece) not in dict(prefixes(file, piece, u32(file.sections[b"TRIE"], 4)))


def unknown(file: SpecFile) -> list[int]:
    """The unknown token."""
    require(file.unknown_id != NONE, "TKX_E_UNKNOWN_TEXT")
    return [file.unknown_id]


def prefixes(file: SpecFile, text: bytes, base: int) -> list[tuple[int, int]]:
    """Length and id of each token that a text begins with, looked up from a base on, shorter ones
    first.
    """
    trie = file.sections[b"TRIE"]
    found = []
    for length, byte in enumerate(text, 1):
        place = (base + byte) & 0xFFFFFFFF
        require(place < u32(trie, 0), "TKX_E_CORRUPT")
        unit = u64(trie, 32 + 8 * place)
        label, token, base = unit & 0x1FF, unit >> 9 & NO_TOKEN, unit >> 32
        require(label <= 256, "TKX_E_CORRUPT")
        if label != byte:
            break
        if token != NO_TOKEN:
            require(token < file.id_count, "TKX_E_CORRUPT")
            found.append((length, token))
    return found


def longest_first(file: SpecFile, text: bytes, base: int, next_base: int) -> list[int | None]:
    """The longest token at each place; None, and one byte further, where there is none."""
    ids: list[int | None] = []
    while text:
        length, token = max(prefixes(file, text, base), default=(1, None))
        ids.append(token)
        text = text[length:]
        base = next_base
    return ids


def single(value: float) -> float:
    """A double, rounded to a single."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def score(file: SpecFile, token: int) -> float:
    """The score of a token."""
    if b"SC64" in file.sections:
        return float(struct.unpack_from("<d", file.sections[b"SC64"], 8 * token)[0])
    return float(struct.unpack_from("<f", file.sections[b"SCOR"], 4 * token)[0])


def unigram(file: SpecFile, piece: bytes, flags: int) -> list[int]:
    """The best segmentation."""
    root = u32(file.sections[b"TRIE"], 4)
    unknown_score = float(struct.unpack_from("<d", file.sections[b"TRIE"], 16)[0])
    best: dict[
        int, tuple[float, int, int]
    ] = {}  # place: sum, start of the last token, the last token

    def candidate(place: int, value: float, start: int, token: int) -> None:
        value = single(value) if flags & SINGLE_PRECISION else value
        if place not in best or value > best[place][0]:
            require(token != NONE, "TKX_E_UNKNOWN_TEXT")
            best[place] = value, start, token

    start = 0
    while start < len(piece):
        here = best[start][0] if start else 0.0
        if flags & SINGLE_PRECISION and abs(here) > LARGEST_SUM:
            best |= {
                place: (single(way[0] - here), *way[1:])
                for place, way in best.items()
                if place >= start
            }
            here = 0.0
        character = 1 if flags & BYTES else len(piece[start:].decode()[0].encode())
        tokens = prefixes(file, piece[start:], root)
        for length, token in tokens:
            candidate(start + length, score(file, token) + here, start, token)
        if character not in dict(tokens):
            candidate(start + character, unknown_score + here, start, file.unknown_id)
        start += character
    way = []
    place = len(piece)
    while place > 0:
        _, start, token = best[place]
        way.append((token, piece[start:place]))
        place = start
    ids: list[int] = []
    for is_unknown, group in groupby(reversed(way), lambda step: step[0] == file.unknown_id):
        steps = list(group)
        ids += (
            unknown_text(file, b"".join(text for _, text in steps), flags)
            if is_unknown
            else [t for t, _ in steps]
        )
    return ids


def unknown_text(file: SpecFile, text: bytes, flags: int) -> list[int]:
    """The ids of a stretch of unknown text."""
    whole = dict(prefixes(file, text, u32(file.sections[b"TRIE"], 4))).get(len(text))
    if whole is not None and not flags & SINGLE_PRECISION:
        return [whole]
    if b"BIDS" in file.sections:
        tokens = [u32(file.sections[b"BIDS"], 4 * byte) for byte in text]
        if NONE not in tokens:
            require(all(token < file.id_count for token in tokens), "TKX_E_CORRUPT")
            return tokens
    return unknown(file)
