"""The normal forms of conversions, by tables and UAX #15, are those of ``tokenizers``."""

import itertools
import random
import unicodedata

import numpy as np
import pytest
from repository import SLOW
from slow_normalizer import JAMO, interesting
from tokenizers import normalizers

from tokexport.model import Dialect, NormalForm
from tokexport.model.normalization.normal_forms import (
    NormalizationTables,
    normalization_tables,
    quick_check_no_or_maybe,
)
from tokexport.model.normalization.normalize import normal_form
from tokexport.unicode import property_set

SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
# The normal forms of `tokenizers` 0.23.
FORMS = [form for form in NormalForm if not form.is_of_unicode_17]
COMPOSING = normalization_tables(NormalForm.NFC)


def reference(form: NormalForm, text: str) -> str:
    normalized: str = getattr(normalizers, form.value)().normalize_str(text)
    return normalized


def reference_of_each(form: NormalForm, texts: list[str]) -> list[str]:
    """The results of the reference. Texts are separated by line feeds, which do not compose."""
    answers = reference(form, "\n".join(texts)).split("\n")
    assert len(answers) == len(texts)
    return answers


def check(form: NormalForm, texts: list[str]) -> None:
    """Compares the normal form of each text."""
    assert [normal_form(text, form) for text in texts] == reference_of_each(form, texts)


def ordered(points: list[int], tables: NormalizationTables) -> str:
    """Runs of marks, sorted by class; the sort is stable."""
    classes = tables.combining_classes
    runs = itertools.groupby(points, key=classes.__contains__)
    parts = [sorted(run, key=classes.__getitem__) if marks else [*run] for marks, run in runs]
    return "".join(map(chr, itertools.chain(*parts)))


@pytest.mark.parametrize("form", FORMS)
def test_every_scalar_value_is_normalized_as_in_the_reference(form: NormalForm) -> None:
    alone = [chr(code_point) for code_point in SCALARS if code_point != 0x0A]
    tables = normalization_tables(form)
    # All others are unchanged.
    listed = {*tables.decompositions, *tables.combining_classes, *range(0xAC00, 0xD7A4)}
    actual = [normal_form(text, form) if ord(text) in listed else text for text in alone]
    assert actual == reference_of_each(form, alone)
    assert normal_form("\n", form) == reference(form, "\n") == "\n"


@pytest.mark.parametrize("form", FORMS)
def test_every_pair_that_might_compose_is_normalized_as_in_the_reference(form: NormalForm) -> None:
    firsts = sorted({first for first, _ in COMPOSING.compositions} | {*JAMO})
    seconds = sorted({second for _, second in COMPOSING.compositions} | {*JAMO})
    check(form, [chr(first) + chr(second) for first in firsts for second in seconds])


@pytest.mark.parametrize("form", FORMS)
def test_every_two_marks_are_sorted_as_in_the_reference(form: NormalForm) -> None:
    one_of_each = {number: mark for mark, number in reversed(COMPOSING.combining_classes.items())}
    marks = COMPOSING.combining_classes
    check(form, [f"a{chr(first)}{chr(last)}" for first in marks for last in one_of_each.values()])


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: compares 70 million pairs")
def test_no_other_code_point_composes_with_the_second_part_of_a_composition() -> None:
    changed = set(interesting()) | {*range(0xAC00, 0xD7A4), *range(0x1100, 0x1200)}
    for second in sorted({second for _, second in COMPOSING.compositions} | {0x1161, 0x11A8}):
        pairs = [chr(first) + chr(second) for first in SCALARS if first != 0x0A]
        expected = [
            normal_form(pair, NormalForm.NFC) if ord(pair[0]) in changed else pair for pair in pairs
        ]
        assert reference_of_each(NormalForm.NFC, pairs) == expected


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: compares millions of pairs")
@pytest.mark.parametrize("first", "aAΑαеाက\u1100가")
def test_no_other_code_point_composes_with_a_letter(first: str) -> None:
    check(NormalForm.NFC, [first + chr(second) for second in SCALARS if second != 0x0A])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_strings_of_marks_are_normalized_as_in_the_reference(form: NormalForm, seed: int) -> None:
    """Blocked and unblocked composition, reordering, marks without a starter."""
    rng = random.Random(seed)
    starters = sorted({first for first, _ in COMPOSING.compositions} | {0x61})
    seconds = sorted({second for _, second in COMPOSING.compositions})
    marks = sorted(COMPOSING.combining_classes)
    pools = ([ord(c) for c in "aou"], starters, seconds, marks, seconds, marks, interesting(), JAMO)
    texts = [
        "".join(chr(rng.choice(rng.choice(pools))) for _ in range(rng.randint(1, 9)))
        for _ in range(15_000 if SLOW else 5_000)
    ]
    check(form, texts)


@pytest.mark.parametrize("form", FORMS)
def test_hangul_is_normalized_as_in_the_reference(form: NormalForm) -> None:
    runs = itertools.product(map(chr, JAMO), repeat=4 if SLOW else 3)
    check(form, [*map("".join, runs)])
    syllables = [chr(syllable) for syllable in range(0xAC00, 0xD7A4)]
    check(form, reference_of_each(NormalForm.NFD, syllables))


@pytest.mark.parametrize("form", FORMS)
def test_a_string_that_passes_the_quick_check_is_unchanged(form: NormalForm) -> None:
    tables = normalization_tables(form)
    stops = quick_check_no_or_maybe(tables)
    safe = [code_point for code_point in SCALARS if code_point not in stops and code_point != 0x0A]
    risky = [code_point for code_point in interesting() if code_point not in stops]
    rng = random.Random(7)
    texts = []
    for _ in range(30_000 if SLOW else 10_000):
        pools = (rng.choice((risky, risky, risky, safe)) for _ in range(rng.randint(1, 8)))
        texts.append(ordered([rng.choice(pool) for pool in pools], tables))
    texts += [chr(code_point) for code_point in safe]
    assert reference_of_each(form, texts) == texts


@pytest.mark.parametrize("form", FORMS)
def test_the_quick_check_never_stops_without_need(form: NormalForm) -> None:
    """Alone, or after the first part of some composition, each code point changes a string."""
    tables = normalization_tables(form)
    firsts = {second: first for first, second in tables.compositions}
    for code_point in quick_check_no_or_maybe(tables):
        before = {
            0x1161 <= code_point <= 0x1175: 0x1100,
            0x11A8 <= code_point <= 0x11C2: 0xAC00,
        }.get(True)
        before = before or firsts.get(code_point)
        texts = [chr(code_point)] + ([chr(before) + chr(code_point)] if before else [])
        assert any(normal_form(text, form) != text for text in texts), hex(code_point)


def test_the_tables_match_unicode_9() -> None:
    """Normalization of an assigned character never changes, so any later database agrees on those
    of version 9.
    """
    known = [int(point) for point in np.flatnonzero(property_set("age=9.0", Dialect.FANCY_REGEX))]
    for form in (NormalForm.NFD, NormalForm.NFKD):
        becomes = {
            point: tuple(map(ord, unicodedata.normalize(form.value, chr(point)))) for point in known
        }
        assert normalization_tables(form).decompositions == {
            point: parts
            for point, parts in becomes.items()
            if parts != (point,) and not 0xAC00 <= point <= 0xD7A3
        }
    canonical = normalization_tables(NormalForm.NFD)
    assert canonical.combining_classes == {
        point: unicodedata.combining(chr(point))
        for point in known
        if unicodedata.combining(chr(point)) and point not in canonical.decompositions
    }
    for (first, second), composite in COMPOSING.compositions.items():
        assert unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(composite)
