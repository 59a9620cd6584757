"""Strings normalized at convert time have the form that the reference library gives them."""

from __future__ import annotations

import random

import pytest
from tokenizers import normalizers

from tokexport.model import NormalForm
from tokexport.normalization.normalize import normalize

# Those of `tokenizers` 0.23.
FORMS = [form for form in NormalForm if not form.is_of_unicode_17]
POINTS = [
    *range(0x300, 0x370),
    *range(0x1100, 0x1200),
    *range(0xAC00, 0xAC40),
    *map(ord, "aeiouAEIOUnsyk "),
]
POINTS += [
    *(0x344, 0x958, 0x1E9B, 0x2126, 0xFB2C, 0xFDFA, 0x11935, 0x11930, 0x1D15E, 0x2F800),
    *(0x16121, 0x3099, 0x304B),
]


@pytest.mark.parametrize("form", FORMS)
def test_random_marks_and_letters_come_out_as_in_the_reference(form: NormalForm) -> None:
    reference = getattr(normalizers, form.value)()
    rng = random.Random(form.value)
    for _ in range(4000):
        text = "".join(map(chr, rng.choices(POINTS, k=rng.randrange(1, 9))))
        assert normalize(text, (form,)) == reference.normalize_str(text), ascii(text)


@pytest.mark.parametrize("form", FORMS)
def test_single_characters_come_out_as_in_the_reference(form: NormalForm) -> None:
    reference = getattr(normalizers, form.value)()
    points = [*range(0x80, 0x3400), *range(0xA640, 0xAC00), *range(0xF900, 0x12000)]
    for point in points:
        assert normalize(chr(point), (form,)) == reference.normalize_str(chr(point)), hex(point)


def test_no_step_leaves_a_text_as_it_is() -> None:
    assert normalize("e\u0301", ()) == "e\u0301"
