"""Normalizes short strings at convert time, slowly, with the tables that go into the file.

Python's own ``unicodedata`` is of another Unicode version on every Python, so it would not give the
same bytes everywhere.
"""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Sequence

import numpy as np

from tokexport.limits import MAX_CLUSTER
from tokexport.model import (
    Append,
    CharacterMap,
    CharacterTest,
    Charsmap,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Strip,
)
from tokexport.normalization.character_map import named_mapping
from tokexport.normalization.graphemes import grapheme_program
from tokexport.normalization.normal_forms import (
    HANGUL_SYLLABLES,
    HANGUL_TRAILING,
    HANGUL_VOWELS,
    NormalizationTables,
    letters_of,
    normalization_tables,
)
from tokexport.normalization.replacing import compile_replace, match_end, replace_matches
from tokexport.unicode import character_test_set
from tokexport.unicode.byte_alphabet import to_characters
from tokexport.unicode.charsmap import CharacterSequences, read_charsmap


def normalize(text: str, steps: tuple[NormalizerStep, ...]) -> str:
    """What a normalizer makes of a text, as the reference does.

    >>> normalize(" E\\u0301", (NormalForm.NFC, CharacterMap.LOWERCASE, Prepend("_")))
    '_ é'
    """
    for step in steps:
        text = _rewritten(text, step) if text else text  # no step makes something of nothing
    return text


def _rewritten(text: str, step: NormalizerStep) -> str:
    match step:
        case NormalForm():
            return normal_form(text, step)
        case CharacterMap():
            return named_mapping(step).apply(text)
        case Replace(literal=True):
            return text.replace(step.pattern, step.content)
        case Replace():
            return replace_matches(compile_replace(step), text, step.content)
        case Strip():
            text = text.lstrip(_white_space()) if step.left else text
            return text.rstrip(_white_space()) if step.right else text
        case Charsmap(by_grapheme=True):
            return _clusters_replaced(text, read_charsmap(step.data, step.path))
        case Charsmap():
            return _sequences_replaced(text, step)
        case SpellBytes():
            return to_characters(text.encode())
        case Prepend(content):
            return text if step.unless_present and text.startswith(content) else content + text
        case Append(content):
            return text + content


@functools.cache
def _white_space() -> str:
    return "".join(map(chr, np.flatnonzero(character_test_set(CharacterTest.WHITESPACE))))


def _clusters_replaced(text: str, sequences: CharacterSequences) -> str:
    program = grapheme_program()
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


def _sequences_replaced(text: str, step: Charsmap) -> str:
    sequences = read_charsmap(step.data, step.path)
    parts: list[bytes] = []
    rest = text.encode()
    contents = sorted(
        (content.encode() for content in step.protected if content), key=len, reverse=True
    )
    after_space = step.collapses
    while rest:
        whole = next((content for content in contents if rest.startswith(content)), None)
        found = sequences.longest(rest)
        if whole is None and found is None:
            whole = rest.decode()[0].encode()
        size, part = (len(whole), whole) if whole is not None else found or (0, b"")
        part = part.lstrip(b" ") if after_space else part
        if part:
            parts.append(part)
            after_space = step.collapses and part.endswith(b" ")
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
    decomposed = [point for character in text for point in _decomposed(character, tables)]
    for _, run in itertools.groupby(decomposed, classes.__contains__):
        points += sorted(run, key=lambda point: classes.get(point, 0))
    if form.composes:
        points = _composed(points, tables)
    return "".join(map(chr, points))


def _decomposed(character: str, tables: NormalizationTables) -> Sequence[int]:
    if ord(character) in HANGUL_SYLLABLES:
        return [*map(ord, letters_of(character))]
    return tables.decompositions.get(ord(character), (ord(character),))


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
