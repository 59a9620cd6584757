"""A str of any characters has the ids of its UTF-8, with each vector width."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import document, reference
from repository import SLOW

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.sources import read

# The first and the last characters of one, two, three and four bytes, and some in between.
ENDS = "\0A\x7f\x80\u00e9\u00ff\u0100\u07ff\u0800\u4e2d\ud7ff\ue000\uffff\U00010000\U0010ffff"
SURROGATES = "\ud800\udbff\udc00\udfff"
BLOCK = 4096  # characters converted at a time


@cache
def cores() -> list[Core]:
    data = file_bytes(read(reference(document())))
    return [Core(data, "bytes", None, width) for width in split_widths()]


def assert_same(text: str) -> None:
    expected = cores()[0].encode_bytes(text.encode(), (), False)
    assert len(expected) == len(text.encode())  # each token is a byte
    for core in cores():
        # A new str each time, for which Python has no cached UTF-8.
        copies = [text[:-1] + text[-1:] for _ in range(3)]
        assert core.encode(copies[0], (), False) == expected
        assert core.encode_batch(copies[1:], (), False, 1) == [expected] * 2
        copies[0].encode()
        assert core.encode(copies[0], (), False) == expected


@settings(max_examples=1_000 if SLOW else 200)
@given(
    parts=st.lists(
        st.builds(lambda text, count: text * count,
                  st.text(st.sampled_from(ENDS) | st.characters(codec="utf-8"), max_size=4),
                  st.integers(0, 40)),
        max_size=8,
    )
)  # fmt: skip
def test_random_texts(parts: list[str]) -> None:
    assert_same("".join(parts))


@pytest.mark.parametrize("character", ENDS)
def test_each_length_at_each_position_of_a_vector(character: str) -> None:
    for size in range(130):
        assert_same("a" * size + character + "b" * (size % 17) + character * (size % 19))


@pytest.mark.parametrize("character", ENDS)
def test_a_text_of_many_blocks_that_needs_more_memory_at_its_end(character: str) -> None:
    for size in (BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK):
        assert_same("a" * size + character * size)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_a_surrogate_anywhere_is_an_error_with_its_position(surrogate: str) -> None:
    for size in (0, 1, 15, 16, 63, 64, 100, BLOCK, 2 * BLOCK + 7):
        for text in ("a" * size + surrogate, "\u4e2d" * size + surrogate + "b" * 70):
            for core in cores():
                with pytest.raises(UnicodeEncodeError, match=f"position {size}: surrogates"):
                    core.encode(text, (), False)
