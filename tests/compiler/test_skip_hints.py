"""The hints of a file skip only characters that do not concern its programs and maps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unicode_tables.charsmap import charsmap_of

from tokexport.compiler.splits.compile_split import compile_split
from tokexport.compiler.splits.skip_hints import leads_of, leads_without_match, with_plain_classes
from tokexport.model import Split
from tokexport.model.normalization.charsmap import read_charsmap
from tokexport.model.normalization.graphemes import grapheme_program
from tokexport.patterns import spans

CHARACTERS = [chr(point) for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]
PATTERNS = [
    *(" ", "▁", r"\p{L}+", r"\p{Han}", r"[^\p{Cyrillic}]", "[가-힣]|\U0001f600", r"\d{1,3}"),
    *(r"(?!a)\w",),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_begin_with_exactly_the_first_bytes_that_are_not_skipped(pattern: str) -> None:
    program = compile_split(Split(pattern))
    bits = leads_without_match(program)
    first = {
        number
        for number, target in enumerate(program.transitions[program.starts[0]].tolist())
        if target & 0x7FFF
    }
    classes = program.classes.array().tolist()
    begins = {character.encode()[0] for character in CHARACTERS if classes[ord(character)] in first}
    leads = {character.encode()[0] for character in CHARACTERS}
    assert {lead for lead in leads if not bits >> (lead - 0xC0) & 1} == begins


@pytest.mark.parametrize("pattern", [r"(?<=a)b", r"x*", r"a+(?=b+c)"])
def test_nothing_is_skipped_if_a_match_depends_on_more_than_the_character(pattern: str) -> None:
    assert leads_without_match(compile_split(Split(pattern))) == 0


@given(st.sets(st.sampled_from(CHARACTERS), max_size=4))
def test_a_first_byte_is_skipped_if_all_its_characters_are_members(excluded: set[str]) -> None:
    members = np.ones(0x110000, np.bool_)
    members[[ord(character) for character in excluded]] = False
    leads = {character.encode()[0] for character in excluded}
    assert leads_of(members) == (1 << 64) - 1 - sum(1 << (lead - 0xC0) for lead in leads)


def test_two_plain_characters_side_by_side_are_two_clusters_and_so_is_ascii_after_one() -> None:
    program, first = with_plain_classes(grapheme_program(), np.ones(0x110000, np.bool_))
    sample = {int(program.classes[ord(character)]): character for character in reversed(CHARACTERS)}
    plain = [character for number, character in sample.items() if number >= first]
    assert len(plain) > 3
    start = int(program.starts[0])
    for left in plain:
        after = int(program.transitions[start, program.classes[ord(left)]])
        followers = [*plain, *(chr(point) for point in range(128))]
        for right in followers:
            assert program.transitions[after, program.classes[ord(right)]] == 0x8000


@given(st.text(st.sampled_from("aé漢か゛が가ำก\r\n\u0301\u200d👍ſﬁ\u1100\u1161क्ष"), max_size=12))
def test_characters_in_classes_of_their_own_change_no_cluster(text: str) -> None:
    untouched = ~read_charsmap(
        charsmap_of({"ﬁ": "fi", "が": "か", "漢": "", "a\u0301": "á", "가": "나"})
    ).characters()
    assert {chr(point) for point in np.flatnonzero(~untouched)} == set("ﬁが漢가")
    program, _ = with_plain_classes(grapheme_program(), untouched)
    assert spans(program, text) == spans(grapheme_program(), text)


def test_clusters_do_not_depend_on_the_text_before() -> None:
    """Plain classes would be wrong for a program with other start states after some characters."""
    starts = grapheme_program().starts
    assert (starts == starts[0]).all()
