"""A file with unchanged sections passes; a file with one changed bit does not."""

import random

import pytest
from damage import Sections
from golden_files import rebuilt
from hypothesis import given
from hypothesis import strategies as st

from tokexport._core import Core
from tokexport.errors import FormatError
from tokexport.file.layout import Tag

NAME = "added"


def with_chat(size: int, seed: int) -> bytes:
    """A file with an optional section of `size` random bytes."""
    return rebuilt(NAME, {Tag.CHAT_TEMPLATE: random.Random(seed).randbytes(size)})


@pytest.mark.parametrize("size", [*range(1, 300), 1023, 1024, 1025, 4096, 70_001])
def test_sections_of_every_size_pass(size: int) -> None:
    Core(with_chat(size, size), NAME).check(whole=False)


@given(
    size=st.integers(1, 2_000), seed=st.integers(0, 2**32), share=st.floats(0, 1, exclude_max=True)
)
def test_a_bit_that_differs_is_found(size: int, seed: int, share: float) -> None:
    data = bytearray(with_chat(size, seed))
    bit = int(share * 8 * size)
    Sections(data).view(Tag.CHAT_TEMPLATE)[bit // 8] ^= 1 << bit % 8
    with pytest.raises(FormatError, match="checksum"):
        Core(bytes(data), NAME).check(whole=False)
