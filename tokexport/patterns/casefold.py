r"""What ``(?i)`` adds: to one character its case variants, and in Oniguruma to some sequences
single characters, and the reverse.

``(?i:ss)`` matches ß in Oniguruma, and ``(?i:ß)`` matches ss. It reads a literal from left to
right: three characters that spell a folding, else two, else one. fancy-regex folds one character at
a time.
"""

from __future__ import annotations

import functools
from itertools import product

import numpy as np

from tokexport.model import Dialect
from tokexport.patterns.tree import Characters, Choice, Node, Sequence, members_of
from tokexport.unicode import CODE_POINTS, CodePoints, case_variants, multi_character_folds


def variants_of(code_point: int, dialect: Dialect) -> CodePoints:
    """The characters that match one character under ``(?i)``.

    >>> [hex(variant) for variant in variants_of(ord("k"), Dialect.FANCY_REGEX).nonzero()[0]]
    ['0x4b', '0x6b', '0x212a']
    """
    return members_of(*((variant, variant) for variant in case_variants(code_point, dialect)))


def closure(members: CodePoints, dialect: Dialect) -> CodePoints:
    """A set with all case variants of its members."""
    closed: CodePoints = members.copy()
    few = np.count_nonzero(members) < 1000
    for code_point in np.flatnonzero(members).tolist() if few else _cased(dialect):
        if members[code_point]:
            closed[list(case_variants(code_point, dialect))] = True
    return closed


@functools.cache
def _cased(dialect: Dialect) -> tuple[int, ...]:
    """The code points that have case variants: it takes a moment to ask for all."""
    return tuple(
        code_point
        for code_point in range(CODE_POINTS)
        if len(case_variants(code_point, dialect)) > 1
    )


def folded_literal(code_points: tuple[int, ...]) -> Node:
    """What a literal matches under ``(?i)`` in Oniguruma.

    >>> type(folded_literal((ord("s"), ord("s")))).__name__  # ss in any case, or a single sharp s
    'Choice'
    """
    spellings, singles = _spellings(), _singles()
    parts: list[Node] = []
    position = 0
    while position < len(code_points):
        for length in (3, 2):
            sequence = spellings.get(code_points[position : position + length])
            if sequence is not None:
                break
        else:
            length, sequence = 1, singles.get(code_points[position])
        if sequence is None:
            parts.append(_variants(code_points[position]))
        else:
            parts.append(_folding(sequence))
        position += length
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def folded_set(members: CodePoints) -> Node:
    """What a positive bracket expression matches under ``(?i)`` in Oniguruma: one character, or the
    folding of one in the set.
    """
    closed = closure(members, Dialect.ONIGURUMA)
    sequences = [sequence for sequence, singles in _folds().items() if closed[list(singles)].any()]
    if not sequences:
        return Characters(closed)
    spelled = [
        Sequence(tuple(_variants(part) for part in sequence))
        for sequence in sorted(sequences, key=_by_length)
    ]
    return Choice((Characters(closed), *spelled))


def _by_length(sequence: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(sequence), sequence


@functools.cache
def _folds() -> dict[tuple[int, ...], tuple[int, ...]]:
    return multi_character_folds(Dialect.ONIGURUMA)


@functools.cache
def _spellings() -> dict[tuple[int, ...], tuple[int, ...]]:
    """Every spelling of a folded sequence, in any case, and the sequence."""
    return {
        spelling: sequence
        for sequence in _folds()
        for spelling in product(*(case_variants(part, Dialect.ONIGURUMA) for part in sequence))
    }


@functools.cache
def _singles() -> dict[int, tuple[int, ...]]:
    """Every character that folds to a sequence, and the sequence."""
    return {single: sequence for sequence, singles in _folds().items() for single in singles}


def _folding(sequence: tuple[int, ...]) -> Node:
    singles = members_of(*((single, single) for single in _folds()[sequence]))
    return Choice((Characters(singles), Sequence(tuple(_variants(part) for part in sequence))))


def _variants(code_point: int) -> Characters:
    return Characters(variants_of(code_point, Dialect.ONIGURUMA))
