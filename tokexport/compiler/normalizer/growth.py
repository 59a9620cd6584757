"""How much a text may grow: from before the first operation to after each one.

The character that grows most in one operation rarely grows most in the next: U+FDFA becomes 33
bytes under NFKC, which then stay the same. So each character is traced through all operations, last
one first: its *weight* before an operation is that of what it becomes, an upper bound on the bytes
that each occurrence adds to the result.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport._core import give_back_memory
from tokexport.compiler.normalizer import rewriting
from tokexport.model import NormalForm, SpellBytes
from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.model.normalization.character_map import CharacterMapping
from tokexport.model.normalization.charsmap import keys
from tokexport.model.normalization.normal_forms import (
    HANGUL_SYLLABLES,
    HANGUL_TRAILING,
    HANGUL_VOWELS,
    normalization_tables,
)
from tokexport.patterns import MATCH_ENDS, SplitProgram
from tokexport.unicode.store import CODE_POINTS

# By code point, shape (0x110000,), at most MOST; 32 bits, since several are held at once.
Weights = npt.NDArray[np.uint32]
# Sums of weights of a content stay far below 2 ** 63.
Sums = npt.NDArray[np.int64]

MOST = (1 << 32) - 1
# The code points of one, two, three and four bytes in UTF-8.
_OF_WIDTH = (slice(0, 0x80), slice(0x80, 0x800), slice(0x800, 0x10000), slice(0x10000, CODE_POINTS))
_PART = 1 << 14
ASCII = 128
HANGUL_LEADING = range(0x1100, 0x1113)


def growths(ops: Sequence[rewriting.Op]) -> list[tuple[int, int]]:
    """(g, e) for each operation: n bytes before the first one are at most g * n + e after this one.

    >>> growths([rewriting.AffixOp("▁"), SpellBytes()])
    [(1, 3), (2, 6)]
    """
    if not ops:
        return []
    steps = [_step(op) for op in ops]
    weights: Weights = np.empty(CODE_POINTS, np.uint32)
    found = []
    for count in range(1, len(steps) + 1):
        give_back_memory()
        for width, points in enumerate(_OF_WIDTH, 1):
            weights[points] = width
        extra = 0
        for step in reversed(steps[:count]):
            extra = min(extra + step(weights), MOST)
        most = [int(weights[points].max()) for points in _OF_WIDTH]
        found.append((max(-(-weight // width) for width, weight in enumerate(most, 1)), extra))
    return found


# Turns the weights after an operation into those before it, in place, as they take 4 MB; returns
# what the operation adds to any text.
Step = Callable[[Weights], int]


def _step(op: rewriting.Op) -> Step:
    match op:
        case NormalForm():
            return _step_of_form(op)
        case CharacterMapping(numbers, outputs):
            texts = _Texts([output.before + output.after for output in outputs])
            keeps = np.array([output.keep for output in outputs], np.int64)
            changed = np.flatnonzero(numbers).astype(np.uint32)
            return lambda weights: _map(weights, texts.sums(weights), keeps, numbers, changed)
        case rewriting.ReplaceOp(program, content):
            return lambda weights: _replace(weights, program, content)
        case rewriting.CharsmapOp():
            return _step_of_charsmap(op)
        case rewriting.AffixOp(content):
            return lambda weights: _sum(weights, content)
        case SpellBytes():
            return _spell


def _map(
    weights: Weights, sums: Sums, keeps: Sums, numbers: npt.NDArray[Any], changed: npt.NDArray[Any]
) -> int:
    """Each character becomes text number ``numbers[character]``, with or without itself."""
    for start in range(0, len(changed), _PART):
        points = changed[start : start + _PART]
        rows = numbers[points]
        weights[points] = np.minimum(sums[rows] + keeps[rows] * weights[points], MOST)
    return 0


def _capped(weights: Sums) -> Weights:
    return np.clip(weights, 0, MOST).astype(np.uint32)


def _sum(weights: Weights, text: str) -> int:
    return min(int(weights[[ord(character) for character in text]].sum()), MOST)


class _Texts:
    """Many texts, whose weights are summed at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        self._bounds = np.cumsum([0, *map(len, texts)])

    def sums(self, weights: Weights) -> Sums:
        """The sum of the weights of each text, at most MOST."""
        sums = np.concatenate([[0], np.cumsum(weights[self._points], dtype=np.int64)])
        found: Sums = np.minimum(np.diff(sums[self._bounds]), MOST)
        return found


def _replace(weights: Weights, program: SplitProgram, content: str) -> int:
    """A match holds at least one of the characters that occur in matches; an empty match may be
    before each character, and at the end.
    """
    added = _sum(weights, content)
    is_inside = (program.transitions[:, :-1] & ~np.uint16(MATCH_ENDS)).any(0)
    np.maximum(weights, added, out=weights, where=program.classes.array(is_inside))
    if not program.may_be_empty:
        return 0
    np.minimum(weights, MOST - added, out=weights)
    weights += np.uint32(added)
    return added


def _spell(weights: Weights) -> int:
    letters = weights[[ord(letter) for letter in CHARACTERS]]
    most = min(int(letters[ASCII:].max()), MOST // 4)
    for width, points in enumerate(_OF_WIDTH, 1):
        weights[points] = width * most
    weights[:ASCII] = letters[:ASCII]
    return 0


def _step_of_form(form: NormalForm) -> Step:
    tables = normalization_tables(form)
    points = np.array([*tables.decompositions])
    texts = _Texts(["".join(map(chr, parts)) for parts in tables.decompositions.values()])
    composites = sorted({*tables.compositions.values()} & {*tables.decompositions})
    rows = np.searchsorted(points, composites)
    lasts = np.array([tables.decompositions[point][-1] for point in composites], np.int64)
    syllables = np.array(HANGUL_SYLLABLES)

    def step(weights: Weights) -> int:
        if form.composes:
            # A composite must weigh no more than its parts: the last part makes up the difference.
            missing = weights[composites] - texts.sums(weights)[rows]
            vowel = max(int(weights[syllables].max()) - int(weights[HANGUL_LEADING].min()), 0)
            np.maximum.at(weights, lasts, _capped(weights[lasts] + missing))
            weights[HANGUL_VOWELS] = np.maximum(weights[HANGUL_VOWELS], np.uint32(vowel))
        pairs = int(weights[HANGUL_LEADING].max()) + int(weights[HANGUL_VOWELS].max())
        triples = pairs + int(weights[HANGUL_TRAILING].max())
        weights[points] = texts.sums(weights)
        weights[syllables] = min(pairs, MOST)
        of_three = syllables[(syllables - syllables[0]) % 28 != 0]
        weights[of_three] = min(triples, MOST)
        return 0

    return step


def _step_of_charsmap(op: rewriting.CharsmapOp) -> Step:
    """Each character of a sequence adds its share of the replacement, by bytes."""
    whole = op.sequences.text.decode()
    # Each replacement is a range of characters that begins at its place.
    starts = np.flatnonzero(np.frombuffer(op.sequences.text + b"\0", np.uint8) & 0xC0 != 0x80)
    text = np.frombuffer(whole.encode("utf-32-le"), np.uint32)
    is_end = np.append(text, 0) == 0
    ends = np.flatnonzero(is_end)[np.cumsum(is_end) - is_end]
    found = []
    for sequences, places in keys(op.sequences.units):
        points = np.frombuffer(sequences.tobytes().decode().encode("utf-32-le"), np.uint32)
        found.append((_small(points), sequences.shape[1], _small(np.searchsorted(starts, places))))

    def step(weights: Weights) -> int:
        sums = np.concatenate([[0], np.cumsum(weights[text], dtype=np.int64)])
        replacements = np.minimum(sums[ends] - sums, MOST)
        for points, size, places in found:
            widths = 1 + sum((points >= some.start).view(np.uint8) for some in _OF_WIDTH[1:])
            of_sequence = (np.cumsum(widths) - 1) // size
            added = replacements[places[of_sequence]]
            added *= widths
            added += size - 1
            np.maximum.at(weights, points, _capped(added // size))
        return 0

    return step


def _small(numbers: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.unsignedinteger[Any]]:
    """The numbers in the smallest type that holds the largest: there may be a million."""
    return numbers.astype(np.min_scalar_type(numbers.max()))
