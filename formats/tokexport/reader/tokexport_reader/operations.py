"""Operations, which rewrite a text (SPEC 3.3).

An operation returns its result in parts, each with the offset of the byte of the old text that it
comes from. Ids do not depend on those offsets; spans do (SPEC, annex A).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from .charsmap import BY_CLUSTER, Charsmap
from .data import characters, is_utf8, require, u32s
from .normal_forms import SYLLABLES, Form, letters
from .stages import EMPTY_MATCHES, ISOLATED, STAGE_SIZE, Stage, read_stage
from .tables import Levels

FORM, MAP, REPLACE, CHARSMAP, AFFIX, BYTES = range(6)
APPEND, UNLESS_PRESENT, ONLY_FIRST, FIRST_SOURCE = 1, 2, 4, 16
FLAGS_OF_KIND = {
    FORM: 0,
    MAP: 0,
    REPLACE: 0,
    CHARSMAP: BY_CLUSTER,
    AFFIX: APPEND | UNLESS_PRESENT | ONLY_FIRST | FIRST_SOURCE,
    BYTES: 0,
}
MAP_OTHER, MAP_LETTERS = 0x80, 2
MAX_OPERATIONS, OPERATION_SIZE, MAX_CONTENT = 24, 32, 65_535
NOWHERE = -1  # instead of an offset: an empty source at the start of the text

Made = Iterable[tuple[bytes, int]]


class Operation(Protocol):
    """Rewrites a text."""

    def run(self, text: bytes) -> Made:
        """The result for a text that is not empty."""


@dataclass(frozen=True)
class Replace:
    """REPLACE: each match of a program becomes the content."""

    program: Stage
    content: bytes

    def run(self, text: bytes) -> Made:
        """The result for a text."""
        at = 0
        for start, end in self.program.replaced(text):
            yield from kept(text, at, start)
            yield self.content, end - 1 if end else NOWHERE
            at = end
        yield from kept(text, at, len(text))


@dataclass(frozen=True)
class Map:
    """MAP: each character becomes a text."""

    table: bytes

    def __post_init__(self) -> None:
        require(len(self.table) >= 24, "TKX_E_SPLITS")
        _, _, entry_count, text_size = u32s(self.table, 0, 4)
        size = 152 + self._levels.size + 8 * entry_count + text_size
        require(size == len(self.table), "TKX_E_SPLITS")

    @property
    def _levels(self) -> Levels:
        middle_count, leaf_count = u32s(self.table, 0, 2)
        return Levels(self.table, 152, middle_count, leaf_count, 2)

    def becomes(self, character: bytes) -> bytes:
        """The text for one character."""
        c = ord(character.decode())
        if c < 128 and self.table[24 + c] < MAP_OTHER:
            return self.table[24 + c : 25 + c]
        number = self._levels.find(c)
        entry_count, text_size = u32s(self.table, 8, 2)
        require(number < entry_count, "TKX_E_CORRUPT")
        if number == 0:
            return character
        entries_at = 152 + self._levels.size
        start, before, after, keep = struct.unpack_from(
            "<IBBB", self.table, entries_at + 8 * number
        )
        require(start + before + after <= text_size, "TKX_E_CORRUPT")
        start += entries_at + 8 * entry_count
        first = self.table[start : start + before]
        last = self.table[start + before : start + before + after]
        require(is_utf8(first) and is_utf8(last), "TKX_E_CORRUPT")
        require(keep != MAP_LETTERS or c in SYLLABLES, "TKX_E_CORRUPT")
        if keep == MAP_LETTERS:
            character = "".join(map(chr, letters(c))).encode()
        return first + character * bool(keep) + last

    def run(self, text: bytes) -> Made:
        """The result for a text."""
        at = 0
        for character in characters(text):
            yield self.becomes(character), at
            at += len(character)


@dataclass(frozen=True)
class Affix:
    """AFFIX: the content is put before the text, or after it. The caller checks ONLY_FIRST and
    FIRST_SOURCE.
    """

    content: bytes
    flags: int

    def run(self, text: bytes) -> Made:
        """The result for a text."""
        adds = not (self.flags & UNLESS_PRESENT and text.startswith(self.content))
        if adds and not self.flags & APPEND:
            yield self.content, 0
        yield from kept(text, 0, len(text))
        if adds and self.flags & APPEND:
            yield self.content, len(text) - 1


@dataclass(frozen=True)
class SpellBytes:
    """BYTES: each byte becomes a character of GPT-2's alphabet."""

    def run(self, text: bytes) -> Made:
        """The result for a text."""
        for at, byte in enumerate(text):
            yield ALPHABET[byte].encode(), at


def _alphabet() -> list[str]:
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in itself]
    return [chr(byte if byte in itself else 0x100 + others.index(byte)) for byte in range(256)]


ALPHABET = _alphabet()


def kept(text: bytes, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """A part of a text that is not changed: each byte is its own source."""
    return ((text[at : at + 1], at) for at in range(start, end))


def read_operations(section: bytes) -> list[Operation]:
    """The operations of NORM, after the checks of SPEC 3.3."""
    count, normalizer_count, *reserved = u32s(section, 0, 4)
    require(count <= MAX_OPERATIONS and normalizer_count <= count, "TKX_E_SPLITS")
    require(not any(reserved), "TKX_E_SPLITS")
    return [read_operation(section, 16 + OPERATION_SIZE * index) for index in range(count)]


def read_operation(section: bytes, at: int) -> Operation:
    """One operation, whose table and content are in ``section``."""
    kind, flags, reserved = struct.unpack_from("<BBH", section, at)
    table_at, table_size, content_at, content_size, reserved_2 = u32s(section, at + 12, 5)
    require(kind in FLAGS_OF_KIND and flags & ~FLAGS_OF_KIND[kind] == 0, "TKX_E_SPLITS")
    require(reserved == reserved_2 == 0, "TKX_E_SPLITS")
    require(table_at % 4 == content_at % 4 == 0 and content_size <= MAX_CONTENT, "TKX_E_SPLITS")
    require(table_at + table_size <= len(section), "TKX_E_SPLITS")
    require(content_at + content_size <= len(section), "TKX_E_SPLITS")
    table = section[table_at : table_at + table_size]
    content = section[content_at : content_at + content_size]
    require(is_utf8(content), "TKX_E_SPLITS")
    require(not content or kind in (REPLACE, AFFIX), "TKX_E_SPLITS")
    if kind == FORM:
        return Form(table)
    if kind == MAP:
        return Map(table)
    if kind == REPLACE:
        require(len(table) >= STAGE_SIZE, "TKX_E_SPLITS")
        program = read_stage(table, 0)
        require(program.behavior == ISOLATED, "TKX_E_SPLITS")
        require(program.flags & ~EMPTY_MATCHES == 0, "TKX_E_SPLITS")
        return Replace(program, content)
    if kind == CHARSMAP:
        return Charsmap(table, flags)
    require(not table, "TKX_E_SPLITS")
    return Affix(content, flags) if kind == AFFIX else SpellBytes()
