"""Every code point, in contexts that show its input class in each stage of the pre-tokenizer.

Only ids count: a code point in the wrong class that changes no id in any context is no difference.
In these contexts the published patterns treat letters, marks, digits, white space, line ends and
apostrophes differently, and normalization reorders marks.
"""

from collections.abc import Sequence
from typing import Final

from tokexport.sources.reference import Mode
from tokexport.verification.comparison import Comparison

CLASSES: Final = "code points in context"
EVERYWHERE: Final = ("  {0}'s",)
# In planes with assigned characters; in all other planes, all code points are alike.
ASSIGNED: Final = ("{0}1234 \n{0}\n \n", "e{0}\u0301\u0323'{0} {0}{0}.", "x{0}Ab{0}({0}/\n中{0}文")
ASSIGNED_PLANES: Final = (0, 1, 2, 3, 14)
TOGETHER: Final = 64  # code points in one text


def all_groups() -> list[range]:
    """All 1,112,064 scalar values, in groups that share one text."""
    first = range(0, 0x110000, TOGETHER)
    return [range(point, point + TOGETHER) for point in first if not 0xD800 <= point < 0xE000]


def groups_of(point: int) -> list[range]:
    """The group of a code point, and each member of that group alone; none of a surrogate."""
    groups = [group for group in all_groups() if point in group]
    return [*groups, *(range(each, each + 1) for group in groups for each in group)]


def check_classes(comparison: Comparison, items: Sequence[range]) -> None:
    """Compares groups of code points, one text per group. Counts each point in each context."""
    cases = (
        (f"class:{group[0]:X}", "".join(context.format(chr(point)) for point in group))
        for group in items
        for context in _contexts(group)
    )
    comparison.texts(CLASSES, cases, (Mode.TEXT,))
    more = sum((len(group) - 1) * len(_contexts(group)) for group in items)
    comparison.found.counts[CLASSES] += more


def _contexts(group: range) -> tuple[str, ...]:
    return EVERYWHERE + ASSIGNED if group[0] >> 16 in ASSIGNED_PLANES else EVERYWHERE
