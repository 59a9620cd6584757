"""Normalizes short strings during conversion, slowly, with the tables that go into the file.

The Unicode version of Python's own ``unicodedata`` depends on the Python version.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from tokexport.errors import UnsupportedError
from tokexport.limits import MAX_CLUSTER
from tokexport.model import (
    Append,
    CharacterMap,
    Charsmap,
    Dialect,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Split,
    Strip,
)
from tokexport.model.byte_alphabet import to_characters
from tokexport.model.normalization.character_map import named_mapping
from tokexport.model.normalization.charsmap import CharacterSequences, read_charsmap, rules_of
from tokexport.model.normalization.graphemes import grapheme_program
from tokexport.model.normalization.normal_forms import (
    HANGUL_SYLLABLES,
    HANGUL_TRAILING,
    HANGUL_VOWELS,
    NormalizationTables,
    letters_of,
    normalization_tables,
)
from tokexport.patterns import PatternError, SplitProgram, compile_pattern, spans


def normalize(text: str, steps: tuple[NormalizerStep, ...]) -> str:
    """The text after a normalizer, exactly as in the reference.

    >>> normalize(" E\\u0301", (NormalForm.NFC, CharacterMap.LOWERCASE, Prepend("_")))
    '_ é'
    """
    for step in steps:
        text = _rewritten(text, step) if text else text  # no step changes an empty text
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
            for program in compile_strip(step):
                text = replace_matches(program, text, "")
            return text
        case Charsmap():
            assert step.by_grapheme  # SentencePiece's added tokens are verbatim
            return _clusters_replaced(text, read_charsmap(step.data, step.path))
        case SpellBytes():
            return to_characters(text.encode())
        case Prepend(content):
            return text if step.unless_present and text.startswith(content) else content + text
        case Append(content):
            return text + content


@functools.cache
def compile_replace(step: Replace) -> SplitProgram:
    """The program of what is replaced, whose empty matches matter only with a content.

    Raises UnsupportedError as ``compile_split`` does, and for constructs allowed only in splits.
    """
    try:
        pattern = re.escape(step.pattern) if step.literal else step.pattern
        program = compile_pattern(pattern, step.dialect)
        if program.search_starts is not None:
            raise PatternError(0, r"the anchor \G in a replacement", r"\G is supported in splits")
        if program.labels is not None:
            hint = "lookahead over the next character is supported, and any in splits"
            raise PatternError(0, "a lookahead over more than one character in a replacement", hint)
    except PatternError as error:
        if step.literal:
            problem = f"a text of {len(step.pattern):,} characters to replace is too long"
            raise UnsupportedError(step.path, problem, "replace a shorter text") from None
        raise refusal(step, error) from None
    return program if step.content else replace(program, may_be_empty=False)


@functools.cache
def compile_strip(step: Strip) -> list[SplitProgram]:
    """Programs that match white space (Rust's ``char::is_whitespace``) at the ends of a text."""
    patterns = [r"\A\p{White_Space}+"] * step.left + [r"\p{White_Space}+\z"] * step.right
    return [compile_pattern(pattern, Dialect.ONIGURUMA) for pattern in patterns]


def refusal(step: Replace | Split, error: PatternError) -> UnsupportedError:
    problem = f"the {step.dialect.value} pattern {step.pattern!r} has {error.problem}"
    return UnsupportedError(step.path, problem, error.hint)


def replace_matches(program: SplitProgram, text: str, content: str) -> str:
    """The text with ``content`` in place of each match.

    An empty match counts, but not immediately after another match, or in an empty text.

    >>> replace_matches(compile_replace(Replace("a*", "-", literal=False)), "baac", "-")
    '-b-c-'
    """
    parts = []
    start = position = 0
    last_end = -1  # of the last match
    read = program.read(text)
    while text and position <= len(text):
        end = program.match_end(read, position)
        if end is None or end == position == last_end:
            position += 1
            continue
        parts += [text[start:position], content]
        start = position = last_end = end
    return "".join([*parts, text[start:]])


def _clusters_replaced(text: str, sequences: CharacterSequences) -> str:
    rules = rules_of(sequences)

    def replaced(part: bytes) -> bytes | None:
        """The replacement of the shortest sequence that is a prefix of the part."""
        starts = (part[:size] for size in range(1, len(part) + 1))
        return next((rules[start] for start in starts if start in rules), None)

    parts: list[bytes] = []
    for cluster in spans(grapheme_program(), text):
        data = cluster.encode()
        whole = replaced(data) if len(data) <= MAX_CLUSTER else None
        for part in map(str.encode, cluster) if whole is None else ():
            found = replaced(part)
            parts.append(part if found is None else found)
        parts.append(whole or b"")
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
    last_class = -1  # of the last mark left after the starter; -1: there is none
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
