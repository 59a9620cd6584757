"""A part that was merged before in a call gets the same ids, and no other part gets them."""

import random

import golden_files
import pytest
import tokexport_reader
from c_harness import Library

# Two pairs of them share an entry in the cache of characters.
LETTERS = ["a", "b", "ab", "c", "\u00e9", "\u0169", "\u4e2d", "\u4ead", "\U0001f600"]
DECOMPOSED = "e\u0301"


def words(rng: random.Random, letters: list[str], count: int, longest: int) -> list[str]:
    return ["".join(rng.choices(letters, k=rng.randint(1, longest))) for _ in range(count)]


@pytest.mark.parametrize(
    "name", ["byte-fallback", "bytes-stages", "normalized", "ranked", "rewriting", "spelled"]
)
def test_a_reader_without_caches_produces_the_same_ids(library: Library, name: str) -> None:
    rng = random.Random(name)
    assert library.open(golden_files.content(name)) == 0
    file = tokexport_reader.open_file(golden_files.content(name))
    for _ in range(20):
        pool = [*words(rng, [*LETTERS, DECOMPOSED], 5, 8), " ", "  ", "\n"]
        text = "".join(rng.choices(pool, k=20)).encode()
        assert library.encode(text) == (0, tokexport_reader.encode(file, text))


@pytest.mark.parametrize("name", ["added", "normalized"])
def test_segments_have_the_same_ids_as_separate_texts(library: Library, name: str) -> None:
    """Normalized segments are at the same address in work memory, one after the other."""
    rng = random.Random(name)
    assert library.open(golden_files.content(name)) == 0
    token = "</s>" if name == "added" else "\u212b"
    (separator,) = library.encode(token.encode())[1]
    segments = words(rng, LETTERS[:4], 300, 5) + words(rng, LETTERS, 100, 8)
    segments += [DECOMPOSED + word for word in segments] * 3
    rng.shuffle(segments)
    alone = [library.encode(word.encode())[1] for word in segments]
    expected = [number for ids in alone for number in (*ids, separator)]
    assert library.encode("".join(word + token for word in segments).encode()) == (0, expected)
