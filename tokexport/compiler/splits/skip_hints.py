"""Characters at which a program has nothing to do: a runtime skips them."""

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from tokexport.compiler.splits.class_table import SURROGATES
from tokexport.patterns import MATCH_ENDS, SplitProgram
from tokexport.unicode.store import CODE_POINTS, Intervals

# The first code point of each first byte from 0xC2 to 0xF4.
FIRST_OF_LEADS = [
    *range(0x80, 0x800, 1 << 6),
    *(0x800, *range(1 << 12, 0x10000, 1 << 12)),
    *(0x10000, *range(1 << 18, CODE_POINTS, 1 << 18)),
]


def leads_without_match(program: SplitProgram) -> int:
    """Bit b - 0xC0: no match begins with a non-ASCII character whose first byte in UTF-8 is b.

    No bit is set where the character alone does not decide: for a program over bytes or labels, one
    whose matches may be empty, or one that depends on what precedes.

    >>> from tokexport.compiler.splits.compile_split import compile_split
    >>> from tokexport.model import Split
    >>> hex(leads_without_match(compile_split(Split("[\u4e00-\u9fa5]"))))  # E4 to E9
    '0xfffffc0fffffffff'
    """
    starts_vary = (program.starts != program.starts[0]).any() or program.search_starts is not None
    varies = program.labels is not None or program.may_be_empty or starts_vary
    if varies or len(program.classes) != CODE_POINTS:
        return 0
    begins = (program.transitions[program.starts[0]] & (MATCH_ENDS - 1)) != 0
    return leads_of(program.classes.array(~begins))


def leads_of(members: npt.NDArray[np.bool_]) -> int:
    """Bit b - 0xC0: all characters whose first byte is b are among ``members``, (0x110000,).

    >>> leads_of(np.ones(0x110000, bool)) == (1 << 64) - 1
    True
    """
    members = members.copy()
    members[SURROGATES] = True  # never in UTF-8
    holds = np.ones(64, np.bool_)  # of bytes that UTF-8 does not use, too
    holds[2 : 2 + len(FIRST_OF_LEADS)] = np.logical_and.reduceat(members, FIRST_OF_LEADS)
    return int.from_bytes(np.packbits(holds, bitorder="little").tobytes(), "little")


def with_plain_classes(
    clusters: SplitProgram, untouched: npt.NDArray[np.bool_]
) -> tuple[SplitProgram, int]:
    """The program of clusters, which has one start state, with the ``untouched`` characters, shape
    (0x110000,), in classes of their own, and the first of these classes. Only where no two
    characters of such classes, side by side, are in one cluster.

    >>> from tokexport.model.normalization.graphemes import grapheme_program
    >>> with_plain_classes(grapheme_program(), np.ones(0x110000, bool))[1]
    17
    """
    plain: list[int] = []
    for symbol in range(clusters.n_classes):
        pairs = product([*plain, symbol], repeat=2)
        if all(_parted(clusters, *pair) for pair in pairs):
            plain.append(symbol)
    classes = clusters.classes.array()
    for number, symbol in enumerate(plain, clusters.n_classes):
        classes[untouched & (classes == symbol)] = number
    columns = [*range(clusters.n_classes), *plain]
    program = replace(
        clusters,
        classes=Intervals.of(classes),
        n_classes=len(columns),
        transitions=clusters.transitions[:, [*columns, clusters.n_classes]],
        starts=clusters.starts[[*columns, clusters.n_classes]],
    )
    return program, clusters.n_classes


def _parted(clusters: SplitProgram, first: int, second: int) -> bool:
    """Whether a cluster that begins with a character of ``first`` ends before one of ``second``."""
    after = int(clusters.transitions[clusters.starts[0], first])
    return 0 < after < MATCH_ENDS and int(clusters.transitions[after, second]) == MATCH_ENDS
