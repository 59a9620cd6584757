"""Character maps are read and looked up as their tries say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from unicode_tables.charsmap import charsmap_of, darts_units

from tokexport.unicode.charsmap import read_charsmap
from tokexport.unicode.darts import keys, prefixes

WORDS = st.text("abcdéか\U0001f600", min_size=1, max_size=5)


@given(st.sets(WORDS, min_size=1, max_size=40), WORDS)
def test_a_trie_holds_its_keys_and_finds_those_that_a_text_begins_with(
    words: set[str], text: str
) -> None:
    values = {word.encode(): number for number, word in enumerate(sorted(words))}
    units = darts_units(values)
    found = {
        text.tobytes(): int(value)
        for texts, numbers in keys(units)
        for text, value in zip(texts, numbers, strict=True)
    }
    assert found == values
    encoded = text.encode()
    assert list(prefixes(units, encoded)) == [
        (size, values[encoded[:size]])
        for size in range(1, len(encoded) + 1)
        if encoded[:size] in values
    ]


@given(st.dictionaries(WORDS, st.text("xyzé", max_size=4), min_size=1, max_size=30), WORDS)
def test_the_shortest_and_the_longest_sequence_are_found(
    replacements: dict[str, str], text: str
) -> None:
    charsmap = read_charsmap(charsmap_of(replacements))
    assert {key.decode(): value.decode() for key, value in charsmap.rules()} == replacements
    of_one = charsmap.characters()
    assert {word for word in replacements if len(word) == 1} == {*map(chr, of_one.nonzero()[0])}
    found = [text[:size] for size in range(1, len(text) + 1) if text[:size] in replacements]
    assert charsmap.shortest(text.encode()) == (replacements[found[0]].encode() if found else None)
    longest = (len(found[-1].encode()), replacements[found[-1]].encode()) if found else None
    assert charsmap.longest(text.encode()) == longest
