"""Damage in a tokexport file that its checksums do not reveal."""

import zlib
from collections.abc import Callable

import numpy as np

from tokexport.file import layout
from tokexport.file.layout import Header, Section, Tag


class Sections:
    """The sections of a tokexport file, to be changed in place; ``seal`` fixes the checksums."""

    def __init__(self, file: bytearray) -> None:
        self.file = file
        self.count = Header.parse(file).section_count
        self.table = {}
        for number in range(self.count):
            at = Header.sizeof() + number * Section.sizeof()
            section = Section.parse(file[at : at + Section.sizeof()])
            self.table[section.tag] = (at, section.offset, section.size)

    def view(self, tag: bytes) -> memoryview:
        _, offset, size = self.table[tag]
        return memoryview(self.file)[offset : offset + size]

    def array(self, tag: bytes, dtype: np.dtype, offset: int = 0, count: int = -1) -> np.ndarray:
        return np.frombuffer(self.view(tag), dtype, count, offset)

    def seal(self) -> None:
        """Recomputes every checksum."""
        for at, offset, size in self.table.values():
            crc = zlib.crc32(self.file[offset : offset + size])
            self.file[at + 24 : at + 28] = crc.to_bytes(4, "little")
        end = Header.sizeof()
        crc = zlib.crc32(
            self.file[end : end + self.count * Section.sizeof()], zlib.crc32(self.file[: end - 4])
        )
        self.file[end - 4 : end] = crc.to_bytes(4, "little")


def damaged(data: bytes, change: Callable[[Sections], None]) -> bytes:
    """The file after a change in its sections, which must change it, with correct checksums."""
    sections = Sections(bytearray(data))
    change(sections)
    sections.seal()
    assert sections.file != data
    return bytes(sections.file)


def byte_ids(sections: Sections) -> np.ndarray:
    return sections.array(Tag.BYTE_IDS, layout.BYTE_ID)


def swap_two_byte_ids(sections: Sections) -> None:
    both = [ord("q"), ord("z")]
    byte_ids(sections)[both] = byte_ids(sections)[both[::-1]]


def pair_slots(sections: Sections) -> np.ndarray:
    header = layout.PairIndexHeader.parse(sections.view(Tag.PAIR_INDEX))
    first = layout.PairIndexHeader.sizeof()
    return sections.array(Tag.PAIR_INDEX, layout.PAIR_SLOT, first, header.slot_count)
