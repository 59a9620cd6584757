"""The first bytes of a character tell its class, and no fewer do."""

from __future__ import annotations

import numpy as np
import pytest

from tokexport.compiler.decoder.utf8_classes import bytes_behind, utf8_classes

EDGES = (
    0,
    0x40,
    0x7F,
    0x80,
    0xBF,
    0xC0,
    0x7FF,
    0x800,
    0xFFF,
    0x1000,
    0xD7FF,
    0xE000,
    0xFFFF,
    0x10000,
    0x3FFFF,
    0x40000,
)


@pytest.mark.parametrize("free", [None, 0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_exactly_one_beginning_of_a_character_tells_its_class(free: int | None, seed: int) -> None:
    dice = np.random.default_rng(seed)
    classes = np.zeros(0x110000, np.uint8)
    ends = np.sort(dice.choice([*EDGES, *dice.integers(0, 0x110000, 16)], 24))
    for start, end in zip(ends[::2], ends[1::2], strict=True):
        classes[start:end] = dice.integers(0, 3)
    found = utf8_classes(classes, free)
    for point in (
        *EDGES,
        *range(0, 0x110000, 331),
        *(end for end in ends.tolist() if not 0xD800 <= end < 0xE000),
    ):
        if 0xD800 <= point < 0xE000:
            continue
        data = chr(point).encode()
        beginnings = [data[:size] for size in range(1, len(data) + 1)]
        telling = [beginning for beginning in beginnings if beginning in found.known]
        if classes[point] == free:
            assert not telling
            continue
        assert [found.known[beginning] for beginning in telling] == [classes[point]]
        size = len(telling[0])
        assert found.unknown.issuperset(beginnings[: size - 1])
        assert bytes_behind(telling[0]) == len(data) - size
        # One byte less does not tell it: it begins characters of other classes too.
        if size > 1:
            bits = 6 * (len(data) - size + 1)
            block = classes[point >> bits << bits : (point >> bits) + 1 << bits]
            assert block.min() != block.max()
