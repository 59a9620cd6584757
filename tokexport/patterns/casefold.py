r"""The characters that ``(?i)`` adds to a set: the case variants of its members.

Oniguruma also lets some sequences match single characters, and the reverse: ``(?i:ss)`` matches ß,
and ``(?i:ß)`` matches ss. No pattern in use has such a sequence, so detecting it is enough.
"""

import functools
from itertools import product

from tokexport.unicode import CodePoints, Dialect, case_groups, case_variants, multi_character_folds


def closure(members: CodePoints, dialect: Dialect) -> CodePoints:
    """A set with all case variants of its members."""
    closed: CodePoints = members.copy()
    for code_point, group in case_groups(dialect).items():
        if members[code_point]:
            closed[[*group]] = True
    return closed


def folds_to_several(code_points: tuple[int, ...]) -> bool:
    """Whether up to three characters end in a text that Oniguruma folds to fewer or more of them.

    >>> [folds_to_several(tuple(map(ord, text))) for text in ("as", "aSs", "ß")]
    [False, True, True]
    """
    ends = (code_points[start:] for start in range(len(code_points)))
    return any(end in _spellings() for end in ends) or code_points[-1] in _singles()


def has_long_folds(members: CodePoints) -> bool:
    """Whether a set has a character that matches several under Oniguruma's ``(?i)``."""
    return bool(members[list(_singles())].any())


@functools.cache
def _spellings() -> frozenset[tuple[int, ...]]:
    """Every spelling of a sequence that a single character matches, in any case."""
    return frozenset(
        spelling
        for sequence in multi_character_folds()
        for spelling in product(*(case_variants(part, Dialect.ONIGURUMA) for part in sequence))
    )


@functools.cache
def _singles() -> frozenset[int]:
    """Every character that folds to a sequence."""
    return frozenset(single for found in multi_character_folds().values() for single in found)
