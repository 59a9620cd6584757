"""FORM: Unicode normalization (SPEC 3.3, and annex A for the source of each code point)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from .data import characters, require, u32, u32s
from .tables import Levels

NFC, NFD, NFKC, NFKD = range(4)
HEADER_SIZE = 32
SYLLABLES = range(0xAC00, 0xD7A4)


@dataclass(frozen=True)
class Form:
    """The table of a FORM."""

    table: bytes

    def __post_init__(self) -> None:
        require(len(self.table) >= HEADER_SIZE, "TKX_E_SPLITS")
        form, _, _, entries, points, compositions = u32s(self.table, 0, 6)
        size = HEADER_SIZE + self._levels.size + 8 * entries + 4 * points + 12 * compositions
        require(form <= NFKD and not any(self.table[24:32]), "TKX_E_SPLITS")
        require(size == len(self.table), "TKX_E_SPLITS")

    @property
    def _levels(self) -> Levels:
        return Levels(self.table, HEADER_SIZE, u32(self.table, 4), u32(self.table, 8), 2)

    @property
    def _points_at(self) -> int:
        return HEADER_SIZE + self._levels.size + 8 * u32(self.table, 12)

    def _entry(self, c: int) -> tuple[int, int, int]:
        """Start and length of the decomposition of a code point, and its combining class."""
        number = self._levels.find(c)
        require(number < u32(self.table, 12), "TKX_E_CORRUPT")
        at = HEADER_SIZE + self._levels.size + 8 * number
        return struct.unpack_from("<IBB", self.table, at)

    def _combining_class(self, c: int) -> int:
        return self._entry(c)[2]

    @cached_property
    def _compositions(self) -> dict[tuple[int, int], int]:
        at = self._points_at + 4 * u32(self.table, 16)
        return {(a, b): both for a, b, both in struct.iter_unpack("<3I", self.table[at:])}

    def _decomposed(self, c: int) -> list[int]:
        """Step 1."""
        if c in SYLLABLES:
            return letters(c)
        start, length, _ = self._entry(c)
        require(start + length <= u32(self.table, 16), "TKX_E_CORRUPT")
        return list(u32s(self.table, self._points_at + 4 * start, length)) or [c]

    def points(self, text: str) -> list[tuple[int, int]]:
        """The code points of the normal form, each with the number of characters of the text that
        it takes.
        """
        points = [
            (point, int(number == 0))
            for c in map(ord, text)
            for number, point in enumerate(self._decomposed(c))
        ]
        for point, _ in points:
            require(point < 0x110000 and not 0xD800 <= point < 0xE000, "TKX_E_CORRUPT")
        at = 0
        while at < len(points):  # step 2
            end = at
            while end < len(points) and self._combining_class(points[end][0]):
                end += 1
            points[at:end] = sorted(points[at:end], key=lambda p: self._combining_class(p[0]))
            at = end + 1
        return self._composed(points) if u32(self.table, 0) in (NFC, NFKC) else points

    def _composed(self, points: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Step 3: a code point joins the last starter, unless something between them blocks it."""
        kept: list[tuple[int, int]] = []
        starter: int | None = None  # its index in `kept`
        for c, takes in points:
            own = self._combining_class(c)
            if starter is not None:
                between = [self._combining_class(other) for other, _ in kept[starter + 1 :]]
                both = self._pair(kept[starter][0], c)
                if both is not None and all(other < own for other in between):
                    kept[starter] = both, kept[starter][1] + takes
                    continue
            if own == 0:
                starter = len(kept)
            kept.append((c, takes))
        return kept

    def _pair(self, a: int, b: int) -> int | None:
        """What two code points compose to, or None."""
        if 0x1100 <= a <= 0x1112 and 0x1161 <= b <= 0x1175:
            return 0xAC00 + ((a - 0x1100) * 21 + b - 0x1161) * 28
        if a in SYLLABLES and (a - 0xAC00) % 28 == 0 and 0x11A8 <= b <= 0x11C2:
            return a + b - 0x11A7
        return self._compositions.get((a, b))

    def run(self, text: bytes) -> list[tuple[bytes, int]]:
        """The characters of the normal form, each with the offset of the character that it comes
        from: the first one that it takes, or else the last one taken.
        """
        offsets = [*accumulate(map(len, characters(text)), initial=0)]
        made = []
        taken = 0
        for point, takes in self.points(text.decode()):
            made.append((chr(point).encode(), offsets[taken if takes else taken - 1]))
            taken += takes
        return made


def letters(c: int) -> list[int]:
    """The decomposition of a Hangul syllable."""
    i = c - 0xAC00
    return [0x1100 + i // 588, 0x1161 + i % 588 // 28] + [0x11A7 + i % 28] * (i % 28 != 0)
