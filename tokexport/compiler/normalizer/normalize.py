"""Normalizes short strings at convert time, slowly, with the tables that go into the file.

Python's own ``unicodedata`` is of another Unicode version on every Python, so it would not give the
same bytes everywhere.
"""

from __future__ import annotations

import itertools
import unicodedata

from tokexport.compiler.normalizer.normalization import (
    HANGUL_TRAILING,
    HANGUL_VOWELS,
    NormalizationTables,
    normalization_tables,
)
from tokexport.compiler.normalizer.replacing import match_end, replace_matches
from tokexport.compiler.normalizer.rewriting import (
    AffixOp,
    BytesOp,
    CharsmapOp,
    FormOp,
    MapOp,
    Op,
    ReplaceOp,
    compile_steps,
)
from tokexport.compiler.passes.fuse_decomposition import decomposition_map
from tokexport.limits import MAX_CLUSTER
from tokexport.model import NormalForm, NormalizerStep
from tokexport.patterns import SplitProgram
from tokexport.unicode.byte_alphabet import to_characters
from tokexport.unicode.charsmap import CharacterSequences


def normalize(text: str, steps: tuple[NormalizerStep, ...]) -> str:
    """What a normalizer makes of a text, as the reference does.

    >>> from tokexport.model import CharacterMap, Prepend
    >>> normalize(" E\\u0301", (NormalForm.NFC, CharacterMap.LOWERCASE, Prepend("_")))
    '_ é'
    """
    for op in compile_steps(steps):
        text = _rewritten(text, op)
    return text


def _rewritten(text: str, op: Op) -> str:
    match op:
        case FormOp(form):
            return normal_form(text, form)
        case MapOp(mapping):
            return mapping.apply(text)
        case ReplaceOp(program, content):
            return replace_matches(program, text, content)
        case CharsmapOp(_, None):
            return _sequences_replaced(text, op)
        case CharsmapOp(sequences, program):
            assert program is not None
            return _clusters_replaced(text, sequences, program)
        case BytesOp():
            return to_characters(text.encode())
        case AffixOp(content, append, unless_present):
            if not text or (unless_present and text.startswith(content)):
                return text
            return text + content if append else content + text


def _clusters_replaced(text: str, sequences: CharacterSequences, program: SplitProgram) -> str:
    parts: list[bytes] = []
    start = 0
    read = program.read(text)
    while start < len(text):
        end = match_end(program, read, start) or start + 1
        cluster = text[start:end].encode()
        whole = sequences.shortest(cluster) if len(cluster) <= MAX_CLUSTER else None
        for part in [cluster] if whole is not None else map(str.encode, text[start:end]):
            found = sequences.shortest(part)
            parts.append(part if found is None else found)
        start = end
    return b"".join(parts).decode()


def _sequences_replaced(text: str, op: CharsmapOp) -> str:
    parts: list[bytes] = []
    rest = text.encode()
    contents = sorted(
        (content.encode() for content in op.protected if content), key=len, reverse=True
    )
    after_space = op.collapses
    while rest:
        whole = next((content for content in contents if rest.startswith(content)), None)
        found = op.sequences.longest(rest)
        if whole is None and found is None:
            whole = rest.decode()[0].encode()
        size, part = (len(whole), whole) if whole is not None else found or (0, b"")
        part = part.lstrip(b" ") if after_space else part
        if part:
            parts.append(part)
            after_space = op.collapses and part.endswith(b" ")
        rest = rest[size:]
    return b"".join(parts).decode()


def normal_form(text: str, form: NormalForm) -> str:
    """The normal form of a text, as the reference computes it.

    >>> normal_form("e\\u0301", NormalForm.NFC)
    'é'
    """
    if text.isascii():
        return text
    tables = normalization_tables(form)
    classes = tables.combining_classes
    points: list[int] = []
    decomposed = map(ord, decomposition_map(form).apply(text))
    for _, run in itertools.groupby(decomposed, classes.__contains__):
        points += sorted(run, key=lambda point: classes.get(point, 0))
    if form.composes:
        points = _composed(points, tables)
    return "".join(map(chr, points))


def _composed(points: list[int], tables: NormalizationTables) -> list[int]:
    result: list[int] = []
    starter = -1
    last_class = -1  # of the last mark left after the starter; -1: nothing stands between
    for point in points:
        combining_class = tables.combining_classes.get(point, 0)
        if starter >= 0 and last_class < combining_class:
            composite = _composite(result[starter], point, tables)
            if composite is not None:
                result[starter] = composite
                continue
        if combining_class == 0:
            starter, last_class = len(result), -1
        else:
            last_class = combining_class
        result.append(point)
    return result


def _composite(first: int, second: int, tables: NormalizationTables) -> int | None:
    if second in HANGUL_VOWELS or second in HANGUL_TRAILING:  # the same in all versions of Unicode
        both = unicodedata.normalize("NFC", chr(first) + chr(second))
        return ord(both) if len(both) == 1 else None
    return tables.compositions.get((first, second))
