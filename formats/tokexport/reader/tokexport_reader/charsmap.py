"""CHARSMAP: sequences of bytes become their replacements (SPEC 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from .data import characters, is_utf8, require, u32, u32s
from .stages import ISOLATED, STAGE_SIZE, Stage, read_stage
from .tables import ByteTrie

BY_CLUSTER = 8
HEADER_SIZE, MAX_CLUSTER = 24, 5

Parts = Iterator[tuple[bytes, bytes]]  # the old text, and what it becomes


@dataclass(frozen=True)
class Charsmap:
    """The table of a CHARSMAP."""

    table: bytes
    flags: int

    def __post_init__(self) -> None:
        require(len(self.table) >= HEADER_SIZE, "TKX_E_SPLITS")
        units, nodes, _, program_size, text_size, first_plain = u32s(self.table, 0, 6)
        size = HEADER_SIZE + 4 * units + self.protected.size + program_size + text_size
        require(size == len(self.table) and units >= 1, "TKX_E_SPLITS")
        if not self.flags & BY_CLUSTER:
            require(program_size == first_plain == 0, "TKX_E_SPLITS")
            return
        require(program_size >= STAGE_SIZE and nodes == 0, "TKX_E_SPLITS")
        program = self._clusters
        require(program.behavior == ISOLATED and program.flags == 0, "TKX_E_SPLITS")
        require(program.memo_count == 0, "TKX_E_SPLITS")
        require(first_plain <= program.class_count, "TKX_E_SPLITS")

    @property
    def protected(self) -> ByteTrie:
        """The texts that are not changed."""
        units, nodes, edges = u32s(self.table, 0, 3)
        return ByteTrie(self.table, HEADER_SIZE + 4 * units, nodes, edges)

    @cached_property
    def _clusters(self) -> Stage:
        program_size, text_size = u32s(self.table, 12, 2)
        end = len(self.table) - text_size
        return read_stage(self.table[end - program_size : end], 0)

    @cached_property
    def _units(self) -> tuple[int, ...]:
        return u32s(self.table, HEADER_SIZE, u32(self.table, 0))

    @cached_property
    def _texts(self) -> bytes:
        return self.table[len(self.table) - u32(self.table, 16) :]

    def sequences(self, text: bytes) -> list[tuple[int, bytes]]:
        """Size and replacement of each sequence that a text begins with, shorter ones first."""
        units = self._units
        found = []
        node = _offset(units[0])
        for size, byte in enumerate(text, 1):
            if byte == 0 or node ^ byte >= len(units) or units[node ^ byte] & 0x800000FF != byte:
                break
            unit = units[node ^ byte]
            node ^= byte ^ _offset(unit)
            if unit & 0x100:
                require(node < len(units), "TKX_E_CORRUPT")
                start = units[node] & 0x7FFFFFFF
                require(start <= len(self._texts), "TKX_E_CORRUPT")
                replacement = self._texts[start:].split(b"\0")[0]
                require(is_utf8(replacement), "TKX_E_CORRUPT")
                found.append((size, replacement))
        return found

    def parts(self, text: bytes) -> Parts:
        """The parts of a text, and what each becomes."""
        return self._by_cluster(text) if self.flags & BY_CLUSTER else self.longest_first(text)

    def longest_first(self, text: bytes) -> Parts:
        """Without BY_CLUSTER."""
        at = 0
        while at < len(text):
            end, _ = self.protected.longest(text, at)
            new = text[at:end]
            if end == at:
                character = text[at:].decode()[0].encode()
                size, new = (self.sequences(text[at:]) or [(len(character), character)])[-1]
                end = at + size
            require(end == len(text) or text[end] & 0xC0 != 0x80, "TKX_E_CORRUPT")
            yield text[at:end], new
            at = end

    def _by_cluster(self, text: bytes) -> Parts:
        for start, end, matched in self._clusters.divide(text):
            for cluster in [text[start:end]] if matched else characters(text[start:end]):
                whole = self.sequences(cluster) if len(cluster) <= MAX_CLUSTER else []
                if whole:
                    yield cluster, whole[0][1]
                    continue
                for character in characters(cluster):
                    alone = self.sequences(character)
                    yield character, alone[0][1] if alone else character

    def run(self, text: bytes) -> list[tuple[bytes, int]]:
        """The characters of the result, each with the offset of the character it comes from."""
        offsets = [*accumulate(map(len, characters(text)), initial=0)]
        takes: list[tuple[bytes, int]] = []  # characters, and how many of the text each takes
        for old, new in self.parts(text):
            left = len(old.decode())
            for character in characters(new):
                takes.append((character, int(left > 0)))
                left = max(left - 1, 0)
            if takes:  # the last character so far takes the remaining ones
                takes[-1] = takes[-1][0], takes[-1][1] + left
        made = []
        taken = 0
        for character, count in takes:
            made.append((character, offsets[taken if count else taken - 1]))
            taken += count
        return made


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)
