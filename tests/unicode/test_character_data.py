"""The shipped maps of characters equal those of the reference, and two maps become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unicode_tables.characters import library_normalizers
from unicode_tables.engines import every_scalar_value

from tokexport.model import CharacterMap
from tokexport.model.normalization.character_map import joined, mapping_of, named_mapping

SMALL_MAPS = st.dictionaries(st.sampled_from("abcd"), st.text("abcde", max_size=3), max_size=4)


@pytest.mark.parametrize(
    "kind", [kind for kind in CharacterMap if kind is not CharacterMap.BERT_STRIP_ACCENTS]
)
def test_every_scalar_value_is_converted_like_in_the_library(kind: CharacterMap) -> None:
    text = every_scalar_value()
    assert named_mapping(kind).apply(text) == library_normalizers()[kind].normalize_str(text)


def test_accents_are_stripped_from_decomposed_text_as_in_the_library() -> None:
    from tokenizers import normalizers

    kind = CharacterMap.BERT_STRIP_ACCENTS
    decomposed = normalizers.NFD().normalize_str(every_scalar_value())
    expected = library_normalizers()[kind].normalize_str(every_scalar_value())
    assert named_mapping(kind).apply(decomposed) == expected


@given(first=SMALL_MAPS, second=SMALL_MAPS, text=st.text("abcdef", max_size=10))
def test_two_maps_become_one(first: dict[str, str], second: dict[str, str], text: str) -> None:
    left, right = mapping_of(first), mapping_of(second)
    assert joined(left, right).apply(text) == right.apply(left.apply(text))
    assert left.apply(text) == "".join(first.get(character, character) for character in text)
