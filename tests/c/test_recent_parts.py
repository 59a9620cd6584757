"""A part that was merged before in a call gets the same ids, and no other part gets them."""

import random

import golden_files
import pytest
import tokexport_reader
from c_harness import COMPILERS, Library

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")

# Two pairs of them share an entry in the cache of characters.
LETTERS = ["a", "b", "ab", "c", "\u00e9", "\u0169", "\u4e2d", "\u4ead", "\U0001f600"]
DECOMPOSED = "e\u0301"


def words(chance: random.Random, letters: list[str], count: int, most: int) -> list[str]:
    """Random words."""
    return ["".join(chance.choices(letters, k=chance.randint(1, most))) for _ in range(count)]


@pytest.mark.parametrize(
    "name", ["byte-fallback", "bytes-stages", "normalized", "ranked", "rewriting", "spelled"]
)
def test_a_reader_without_caches_produces_the_same_ids(library: Library, name: str) -> None:
    chance = random.Random(name)
    assert library.open(golden_files.content(name)) == 0
    file = tokexport_reader.open_file(golden_files.content(name))
    for _ in range(20):
        few = [*words(chance, [*LETTERS, DECOMPOSED], 5, 8), " ", "  ", "\n"]
        text = "".join(chance.choices(few, k=20)).encode()
        assert library.encode(text) == (0, tokexport_reader.encode(file, text))


@pytest.mark.parametrize("name", ["added", "normalized"])
def test_segments_have_the_same_ids_as_separate_texts(library: Library, name: str) -> None:
    """Normalized segments are at the same address in work memory, one after the other."""
    chance = random.Random(name)
    assert library.open(golden_files.content(name)) == 0
    token = "</s>" if name == "added" else "\u212b"
    (between,) = library.encode(token.encode())[1]
    found = words(chance, LETTERS[:4], 300, 5) + words(chance, LETTERS, 100, 8)
    found += [DECOMPOSED + word for word in found] * 3
    chance.shuffle(found)
    alone = [library.encode(word.encode())[1] for word in found]
    expected = [number for ids in alone for number in (*ids, between)]
    assert library.encode("".join(word + token for word in found).encode()) == (0, expected)
