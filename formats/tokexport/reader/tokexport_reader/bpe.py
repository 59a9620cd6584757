"""BPE: first symbols, and merging them (SPEC 3.5; lengths: annex A)."""

from __future__ import annotations

from itertools import pairwise

from .container import FUSE_UNKNOWN, UNKNOWN_STOPS, WHOLE_FIRST
from .data import NONE, TokexportError, characters, require, u32, u32s
from .file import UNIT_BYTE, File
from .lookup import merged_id, token_id
from .tables import TOP, Levels

WHOLE = 8  # RecordFlag

Symbol = tuple[int, int]  # an id and its length
Found = tuple[int, int, int]  # an id, and the bytes of the pre-token that it stands for


def encode_pre_token(file: File, text: bytes) -> list[Found]:
    """The ids of a pre-token."""
    if len(text) <= file.header.max_token_bytes:
        whole = token_id(file, text)
        if whole is not None and (file.header.flags & WHOLE_FIRST or file.record(whole)[2] & WHOLE):
            return [(whole, 0, len(text))]
    symbols = merge(file, first_symbols(file, text))
    covering = [at for at, byte in enumerate(text) for _ in range(byte_length(file, byte))]
    found = []
    at = 0
    for symbol, length in symbols:
        found.append((symbol, covering[at], covering[at + length - 1] + 1))
        at += length
    return found


def merge(file: File, symbols: list[Symbol]) -> list[Symbol]:
    """Merges the pair of smallest rank, the leftmost of equals, one at a time."""
    while True:
        merged = [merged_id(file, left, right) for (left, _), (right, _) in pairwise(symbols)]
        ranks = [(rank(file, id), at) for at, id in enumerate(merged) if id is not None]
        if not ranks:
            return symbols
        _, at = min(ranks)
        id = merged[at]
        assert id is not None
        symbols[at : at + 2] = [(id, symbols[at][1] + symbols[at + 1][1])]


def rank(file: File, merged: int) -> int:
    """The rank of the merges that make an id."""
    return u32(file.sections[b"RANK"], 4 * merged) if b"RANK" in file.sections else merged


def first_symbols(file: File, text: bytes) -> list[Symbol]:
    """The symbols that merging starts from."""
    flags, unknown_id = file.header.flags, file.header.unknown_id
    of_bytes = file.unit == UNIT_BYTE
    units = [text[at : at + 1] for at in range(len(text))] if of_bytes else characters(text)
    symbols: list[Symbol] = []
    pending = 0  # the length of an unknown_id that is not in the list yet, or 0
    for position, unit in enumerate(units):
        place = (position > 0) + 2 * (position + 1 == len(units))
        length = sum(byte_length(file, byte) for byte in unit)
        symbol = symbol_of(file, unit, place)
        bytes_of_unit = [] if of_bytes else [file.byte_id(byte) for byte in unit]
        if symbol != NONE:
            symbols += [(unknown_id, pending)] * bool(pending) + [(symbol, length)]
            pending = 0
        elif bytes_of_unit and NONE not in bytes_of_unit:
            symbols += [(id, 1) for id in bytes_of_unit]
        elif flags & UNKNOWN_STOPS:
            raise TokexportError("TKX_E_UNKNOWN_TEXT")
        elif unknown_id != NONE:
            if pending and not flags & FUSE_UNKNOWN:
                symbols.append((unknown_id, pending))
                pending = 0
            pending += length
    return symbols + [(unknown_id, pending)] * bool(pending)


def byte_length(file: File, byte: int) -> int:
    """The length of a byte: of the UTF-8 of the character for it in GPT-2's alphabet."""
    return 1 if file.unit != UNIT_BYTE or 0x21 <= byte <= 0x7E else 2


def symbol_of(file: File, unit: bytes, place: int) -> int:
    """The symbol of a unit at a place, or NONE."""
    if b"CHRS" not in file.sections:
        return file.byte_id(unit[0])
    section = file.sections[b"CHRS"]
    kind, place_count, middle_count, leaf_count = u32s(section, 0, 4)
    place = place if place_count > 1 else 0
    if kind == UNIT_BYTE:
        symbol = u32(section, 16 + 4 * (256 * place + unit[0]))
    else:
        levels = Levels(section, 16, middle_count, leaf_count, 4, place_count)
        assert levels.at + 2 * TOP * place_count <= len(section)
        symbol = levels.find(ord(unit.decode()), place)
    require(symbol < file.header.id_count or symbol == NONE, "TKX_E_CORRUPT")
    return symbol
