"""A normal form and a step that drops its marks become one map with the effect of both."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers
from unicode_tables.engines import every_scalar_value

from tokexport.compiler.normalizer.rewriting import compile_steps, decomposition_map, without_marks
from tokexport.model import CharacterMap, NormalForm
from tokexport.model.normalization.character_map import CharacterMapping, named_mapping

SCALARS = every_scalar_value()
DECOMPOSING = {NormalForm.NFD: normalizers.NFD(), NormalForm.NFKD: normalizers.NFKD()}
MARKS = st.sampled_from("\u0301\u0323\u0345\u3099\u0f73\u0344\u1d165\u0903")


@functools.cache
def stripping(normal_form: NormalForm) -> CharacterMapping:
    mapping = without_marks(normal_form, named_mapping(CharacterMap.STRIP_ACCENTS))
    assert mapping is not None
    return mapping


def assert_same(
    mapping: CharacterMapping, library: normalizers.Normalizer, characters: str
) -> None:
    wrong = [c for c in characters if mapping.apply(c) != library.normalize_str(c)]
    assert not wrong, ascii(wrong[:10])


@pytest.mark.parametrize("normal_form", DECOMPOSING)
def test_every_scalar_value_is_normalized_as_in_the_library(normal_form: NormalForm) -> None:
    library = normalizers.Sequence([DECOMPOSING[normal_form], normalizers.StripAccents()])
    assert_same(stripping(normal_form), library, SCALARS)


@pytest.mark.parametrize("normal_form", DECOMPOSING)
@given(text=st.lists(st.characters(exclude_categories=["Cs"]) | MARKS, max_size=20).map("".join))
def test_marks_in_any_order(normal_form: NormalForm, text: str) -> None:
    library = normalizers.Sequence([DECOMPOSING[normal_form], normalizers.StripAccents()])
    assert stripping(normal_form).apply(text) == library.normalize_str(text)


def test_a_normal_form_and_stripping_of_its_marks_become_one_operation() -> None:
    lowercase = CharacterMap.LOWERCASE
    steps = (lowercase, NormalForm.NFKD, lowercase, CharacterMap.STRIP_ACCENTS)
    (op,) = compile_steps(steps)
    assert isinstance(op, CharacterMapping)
    assert op.apply("Ａ\u0327\u0301ﬁ각") == "afi\u1100\u1161\u11a8"


@pytest.mark.parametrize("normal_form", [NormalForm.NFC, NormalForm.NFKC])
def test_a_normal_form_that_composes_is_kept(normal_form: NormalForm) -> None:
    steps = (normal_form, CharacterMap.STRIP_ACCENTS)
    assert [type(op) for op in compile_steps(steps)] == [NormalForm, CharacterMapping]


def test_a_normal_form_is_kept_if_marks_that_it_sorts_remain() -> None:
    """BERT drops nonspacing marks only; U+1D165 and U+1D16D are spacing marks, and are sorted."""
    steps = (NormalForm.NFD, CharacterMap.BERT_STRIP_ACCENTS)
    assert [type(op) for op in compile_steps(steps)] == [NormalForm, CharacterMapping]


def test_a_decomposition_alone_equals_that_of_the_library() -> None:
    for normal_form, library in DECOMPOSING.items():
        assert_same(decomposition_map(normal_form), library, SCALARS[:0x12000])
