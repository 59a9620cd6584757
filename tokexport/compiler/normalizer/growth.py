"""How much a text may grow: from the first operation to the end of each.

What grows most in one operation is rarely what grows most in the next: U+FDFA becomes 33 bytes
under NFKC, which then stay. So each character is followed through all of them, last one first: its
*weight* before an operation is that of what it becomes, which is at most how many bytes its every
occurrence adds to the result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tokexport.compiler.normalizer import rewriting
from tokexport.model import NormalForm
from tokexport.normalization.normal_forms import (
    HANGUL_SYLLABLES,
    HANGUL_TRAILING,
    HANGUL_VOWELS,
    normalization_tables,
)
from tokexport.patterns import MATCH_ENDS
from tokexport.unicode.byte_alphabet import CHARACTERS
from tokexport.unicode.darts import keys
from tokexport.unicode.store import CODE_POINTS

# By code point, shape (0x110000,).
Weights = npt.NDArray[np.int64]

# Sums of weights of a content stay far below 2 ** 63.
MOST = (1 << 32) - 1
ASCII = 128
HANGUL_LEADING = range(0x1100, 0x1113)


def growths(ops: Sequence[rewriting.Op]) -> list[tuple[int, int]]:
    """(g, e) for each operation: a text of n bytes before the first one has at most g * n + e bytes
    after it.

    >>> growths([rewriting.AffixOp("▁"), rewriting.BytesOp()])
    [(1, 3), (2, 6)]
    """
    steps = [_step(op) for op in ops]
    found = []
    for count in range(1, len(steps) + 1):
        weights, extra = utf8_widths(), 0
        for step in reversed(steps[:count]):
            weights, more = step(weights)
            extra = min(extra + more, MOST)
        found.append((max(1, int((-(-weights // utf8_widths())).max())), extra))
    return found


@functools.cache
def utf8_widths() -> Weights:
    """How many bytes each code point has in UTF-8, shape (0x110000,)."""
    points = np.arange(CODE_POINTS)
    return 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)


# From the weights after an operation to those before it, and what it adds to any text.
Step = Callable[[Weights], tuple[Weights, int]]


def _step(op: rewriting.Op) -> Step:
    match op:
        case rewriting.FormOp(form):
            return _step_of_form(form)
        case rewriting.MapOp(mapping):
            texts = _Texts([output.before + output.after for output in mapping.outputs])
            keeps = np.array([output.keep for output in mapping.outputs], np.int64)[mapping.numbers]
            return lambda after: (texts.sums(after)[mapping.numbers] + keeps * after, 0)
        case rewriting.ReplaceOp(program, content):
            inside = (program.transitions[:, :-1] & ~np.uint16(MATCH_ENDS)).any(0)[program.classes]
            return lambda after: _replaced(after, inside, content, program.may_be_empty)
        case rewriting.CharsmapOp():
            return _step_of_charsmap(op)
        case rewriting.AffixOp(content):
            return lambda after: (after, _sum(after, content))
        case rewriting.BytesOp():
            return lambda after: (_spelled(after), 0)


def _sum(weights: Weights, text: str) -> int:
    return min(int(weights[[ord(character) for character in text]].sum()), MOST)


class _Texts:
    """Many texts, whose weights are added up at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        self._ends = np.cumsum([len(text) for text in texts])

    def sums(self, weights: Weights) -> Weights:
        """The sum of the weights of each text, at most MOST."""
        sums = np.concatenate([[0], np.cumsum(weights[self._points])])
        found: Weights = np.minimum(
            sums[self._ends] - sums[np.concatenate([[0], self._ends[:-1]])], MOST
        )
        return found


def _replaced(
    after: Weights, inside: npt.NDArray[np.bool_], content: str, may_be_empty: bool
) -> tuple[Weights, int]:
    """A match has one character at least, of those that are ``inside`` of matches; an empty one may
    be before each character, and at the end.
    """
    added = _sum(after, content)
    before = np.where(inside, np.maximum(after, added), after)
    return (np.minimum(before + added, MOST), added) if may_be_empty else (before, 0)


def _spelled(after: Weights) -> Weights:
    letters = after[[ord(letter) for letter in CHARACTERS]]
    before: Weights = utf8_widths() * letters[ASCII:].max()
    before[:ASCII] = letters[:ASCII]
    return before


def _step_of_form(form: NormalForm) -> Step:
    tables = normalization_tables(form)
    points = np.array([*tables.decompositions])
    texts = _Texts(["".join(map(chr, parts)) for parts in tables.decompositions.values()])
    composites = sorted({*tables.compositions.values()} & {*tables.decompositions})
    rows = np.searchsorted(points, composites)
    lasts = np.array([tables.decompositions[point][-1] for point in composites], np.int64)
    syllables = np.array(HANGUL_SYLLABLES)

    def before(after: Weights) -> tuple[Weights, int]:
        parts = after.copy()
        if form.composes:
            # What is composed adds no more than its parts: the last one adds what is missing.
            missing = after[composites] - texts.sums(after)[rows]
            np.maximum.at(parts, lasts, after[lasts] + missing)
            missing = after[syllables].max() - after[HANGUL_LEADING].min()
            parts[HANGUL_VOWELS] = np.maximum(parts[HANGUL_VOWELS], missing)
        weights = parts.copy()
        weights[points] = texts.sums(parts)
        pairs = parts[HANGUL_LEADING].max() + parts[HANGUL_VOWELS].max()
        weights[syllables] = pairs
        weights[syllables[(syllables - syllables[0]) % 28 != 0]] += parts[HANGUL_TRAILING].max()
        return weights, 0

    return before


def _step_of_charsmap(op: rewriting.CharsmapOp) -> Step:
    """Of each sequence every character adds its share, by bytes."""
    whole = op.sequences.text.decode()
    # Of the replacement at each place: its characters, from one number up to another.
    starts = np.flatnonzero(np.frombuffer(op.sequences.text + b"\0", np.uint8) & 0xC0 != 0x80)
    text = np.frombuffer(whole.encode("utf-32-le"), np.uint32)
    ends = np.flatnonzero(np.append(text, 0) == 0)
    found = []
    for sequences, places in keys(op.sequences.units):
        first = np.searchsorted(starts, places)
        last = ends[np.searchsorted(ends, first)]
        points = np.frombuffer(sequences.tobytes().decode().encode("utf-32-le"), np.uint32).astype(
            np.int64
        )
        widths = utf8_widths()[points]
        of_sequence = (np.cumsum(widths) - 1) // max(sequences.shape[1], 1)
        found.append((points, widths, sequences.shape[1], first[of_sequence], last[of_sequence]))

    def before(after: Weights) -> tuple[Weights, int]:
        weights = after.copy()
        sums = np.concatenate([[0], np.cumsum(after[text])])
        for points, widths, size, first, last in found:
            added = np.minimum(sums[last] - sums[first], MOST)
            np.maximum.at(weights, points, -(-added * widths // size))
        return weights, 0

    return before
