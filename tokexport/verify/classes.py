"""Every code point in contexts that show which class each stage of the pre-tokenizer puts it into.

Ids decide, not classes: a code point of the wrong class that changes no id in any context is no difference. The
contexts are those in which the published patterns treat letters, marks, digits, white space, line ends, apostrophes
and the rest differently, and in which normalization puts marks in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokexport.references.protocol import Mode
from tokexport.verify.comparison import Comparison

CLASSES: Final = "code points in context"
EVERYWHERE: Final = ("  {0}'s",)
# In the planes where characters are assigned. The others hold code points that are unassigned or for private use, all
# alike.
ASSIGNED: Final = ("{0}1234 \n{0}\n \n", "e{0}\u0301\u0323'{0} {0}{0}.", "x{0}Ab{0}({0}/\n中{0}文")
ASSIGNED_PLANES: Final = (0, 1, 2, 3, 14)
TOGETHER: Final = 64  # code points in one text


def check_classes(comparison: Comparison, only: int | None = None) -> None:
    """All 1,112,064 scalar values."""
    total = (0x110000 - 0x800 + len(ASSIGNED) * len(ASSIGNED_PLANES) * 0x10000) // TOGETHER
    cases = _together() if only is None else _alone(only)
    comparison.texts(CLASSES, cases, (Mode.TEXT,), total)


def _together() -> Iterator[tuple[str, str]]:
    for first in range(0, 0x110000, TOGETHER):
        if 0xD800 <= first < 0xE000:
            continue
        points = "".join(map(chr, range(first, first + TOGETHER)))
        for context in _contexts(first):
            yield f"class:{first:X}", "".join(context.format(point) for point in points)


def _alone(point: int) -> Iterator[tuple[str, str]]:
    for context in _contexts(point):
        yield f"class:{point:X}", context.format(chr(point))


def _contexts(point: int) -> tuple[str, ...]:
    return EVERYWHERE + ASSIGNED if point >> 16 in ASSIGNED_PLANES else EVERYWHERE
