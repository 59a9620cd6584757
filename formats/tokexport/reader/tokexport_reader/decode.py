"""Decoding, from ids to bytes or text (SPEC 3.8)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from .data import characters, is_utf8, require, u16s, u32s
from .file import File

SPECIAL, FALLBACK = 4, 16  # RecordFlag
BYTE_FALLBACK, BY_CHARACTER, FIRST_BY_CONTENT, FIRST_BY_TEXT = 1, 2, 8, 16
DECODER_FLAGS = 27
READS_TOKENS = 1
KEEPS = 0x8000
REPLACEMENT = "\ufffd"


@dataclass(frozen=True)
class Part:
    """The output of an id, or of a run of ids; ``in_run``: the ids have FALLBACK."""

    data: bytes
    in_run: bool


@dataclass(frozen=True)
class Rules:
    """DECO: its flags, and the byte to drop at the start, if any."""

    flags: int = 0
    strip_left: bytes = b""


def decode_bytes(file: File, ids: Sequence[int], skip_special: bool = False) -> bytes:
    """The bytes of ids."""
    return b"".join(decode_tokens(file, ids, skip_special))


def decode_tokens(file: File, ids: Sequence[int], skip_special: bool = False) -> list[bytes]:
    """The bytes of each id that is not skipped."""
    rules = read_rules(file)
    return edited(file, rules, given(file, rules, listed(file, ids, skip_special)))


def decode_text(file: File, ids: Sequence[int], skip_special: bool = False) -> str:
    """The text of ids."""
    rules = read_rules(file)
    parts = texts(rules, given(file, rules, listed(file, ids, skip_special)))
    return replaced(b"".join(edited(file, rules, parts)))


def read_rules(file: File) -> Rules:
    """The rules of a file."""
    if b"DECO" not in file.sections:
        return Rules()
    flags, strip_left = u32s(file.sections[b"DECO"], 0, 2)
    require(flags & ~DECODER_FLAGS == 0 and strip_left < 128, "TKX_E_CORRUPT")
    require(not flags & BY_CHARACTER or bool(flags & BYTE_FALLBACK), "TKX_E_CORRUPT")
    require(not (flags & FIRST_BY_CONTENT and flags & FIRST_BY_TEXT), "TKX_E_CORRUPT")
    return Rules(flags, bytes([strip_left] * (strip_left > 0)))


def listed(file: File, ids: Sequence[int], skip_special: bool) -> list[int]:
    """The ids that are not skipped."""
    flags = {id: file.record(id)[2] for id in ids}
    return [id for id in ids if not (skip_special and flags[id] & SPECIAL)]


def given(file: File, rules: Rules, ids: Sequence[int]) -> list[Part]:
    """The output of each id: its surface form."""
    by_content = bool(rules.flags & FIRST_BY_CONTENT)
    counted = [at for at, id in enumerate(ids) if not (by_content and file.record(id)[1] == 0)]
    parts: list[Part] = []
    for at, id in enumerate(ids):
        if rules.flags & BYTE_FALLBACK and file.record(id)[2] & FALLBACK:
            parts.append(Part(file.token_bytes(id), in_run=True))
        else:
            is_first, is_last = [at] == counted[:1], [at] == counted[-1:]
            if rules.flags & FIRST_BY_TEXT:
                is_first = not any(part.data for part in parts)
            parts.append(Part(form(file, id, is_first, is_last), in_run=False))
    return parts


def form(file: File, token: int, is_first: bool, is_last: bool) -> bytes:
    """The surface form of an id."""
    offset, length, flags = file.record(token)
    first_skip, first_more, last_skip = flags >> 5 & 31, flags >> 10 & 3, flags >> 12 & 3
    start, end = offset, offset + length
    if is_first:
        require(first_skip <= length and first_more <= offset, "TKX_E_CORRUPT")
        start += first_skip - first_more
    if is_last:
        require(last_skip <= end - start, "TKX_E_CORRUPT")
        end -= last_skip
    return file.sections[b"BYTS"][start:end]


def texts(rules: Rules, parts: Sequence[Part]) -> Iterator[Part]:
    """The text of the output of ids, as UTF-8, before EDIT and strip_left change it."""
    if not rules.flags & BYTE_FALLBACK:
        yield Part(replaced(b"".join(part.data for part in parts)).encode(), in_run=False)
        return
    by_character = bool(rules.flags & BY_CHARACTER)
    for in_run, group in groupby(parts, key=lambda part: part.in_run):
        data = [part.data for part in group]
        for one in [b"".join(data)] if in_run else data:
            if by_character:
                text = by_characters(one)
            elif not in_run:
                text = replaced(one)
            else:
                text = one.decode() if is_utf8(one) else REPLACEMENT * len(one)
            yield Part(text.encode(), in_run)


def edited(file: File, rules: Rules, parts: Iterable[Part]) -> list[bytes]:
    """The final text of each part: EDIT changes it, or strip_left is dropped at the start."""
    if b"EDIT" in file.sections:
        return Edits(file, rules).run(list(parts))
    data = [part.data for part in parts]
    start = next((at for at, one in enumerate(data) if one), 0)
    data[start : start + 1] = [
        one.removeprefix(rules.strip_left) for one in data[start : start + 1]
    ]
    return data


class Edits:
    """EDIT: a machine that reads a text byte by byte."""

    def __init__(self, file: File, rules: Rules) -> None:
        self.section = file.sections[b"EDIT"]
        self.states, self.class_count = u16s(self.section, 0, 2)
        self.flags, self.text_size, reserved = u32s(self.section, 4, 3)
        byte_classes = self.class_count - (self.flags & READS_TOKENS)
        require(self.states >= 1 and 1 <= byte_classes <= 256, "TKX_E_CORRUPT")
        require(self.flags & ~READS_TOKENS == reserved == 0, "TKX_E_CORRUPT")
        require(not self.flags or rules.flags == BYTE_FALLBACK, "TKX_E_CORRUPT")
        require(not rules.strip_left and max(self.section[16:272]) < byte_classes, "TKX_E_CORRUPT")

    def step(self, number: int, byte: bytes = b"") -> tuple[int, bytes]:
        """The next state according to an entry, and what it appends."""
        following, length, offset = struct.unpack_from("<HHI", self.section, 272 + 8 * number)
        size = length & ~KEEPS
        require(following < self.states and offset + size <= self.text_size, "TKX_E_CORRUPT")
        text = self.section[len(self.section) - self.text_size :][offset : offset + size]
        return following, text + byte * bool(length & KEEPS)

    def run(self, parts: Sequence[Part]) -> list[bytes]:
        """The output for each part; the last one also gets the output at the end of the text."""
        made, state = [], 0
        for part in parts:
            output = b""
            if self.flags & READS_TOKENS and not part.in_run:
                state, output = self.step(state * self.class_count + self.class_count - 1)
            for at, byte in enumerate(part.data):
                number = state * self.class_count + self.section[16 + byte]
                state, more = self.step(number, part.data[at : at + 1])
                output += more
            made.append(output)
        end = self.step(self.states * self.class_count + state)[1]
        return [*made[:-1], made[-1] + end] if made else []


def replaced(data: bytes) -> str:
    """Bytes with U+FFFD for each maximal part that is not a character, as in Python's decoder."""
    return data.decode(errors="replace")


def by_characters(data: bytes) -> str:
    """Bytes with U+FFFD for each byte that is not part of a character."""
    text = ""
    while data:
        size = next((size for size in (1, 2, 3, 4) if is_character(data[:size])), 0)
        text += data[:size].decode() or REPLACEMENT
        data = data[max(size, 1) :]
    return text


def is_character(data: bytes) -> bool:
    """Whether bytes are one character."""
    return is_utf8(data) and len(characters(data)) == 1
