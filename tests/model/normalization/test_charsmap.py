"""Character maps are read from their tries."""

from hypothesis import given
from hypothesis import strategies as st
from unicode_tables.charsmap import charsmap_of, darts_units

from tokexport.model.normalization.charsmap import keys, read_charsmap, rules_of

WORDS = st.text("abcdéか\U0001f600", min_size=1, max_size=5)


@given(st.sets(WORDS, min_size=1, max_size=40))
def test_a_trie_holds_its_keys(words: set[str]) -> None:
    values = {word.encode(): number for number, word in enumerate(sorted(words))}
    units = darts_units(values)
    stored = {
        text.tobytes(): int(value)
        for texts, numbers in keys(units)
        for text, value in zip(texts, numbers, strict=True)
    }
    assert stored == values


@given(st.dictionaries(WORDS, st.text("xyzé", max_size=4), min_size=1, max_size=30))
def test_a_map_has_its_rules_and_knows_those_of_one_character(replacements: dict[str, str]) -> None:
    charsmap = read_charsmap(charsmap_of(replacements))
    rules = {key.decode(): value.decode() for key, value in rules_of(charsmap).items()}
    assert rules == replacements
    of_one = charsmap.characters()
    assert {word for word in replacements if len(word) == 1} == {*map(chr, of_one.nonzero()[0])}
