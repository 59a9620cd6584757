"""A three-level table returns the value of every code point."""

import numpy as np

from tokexport.compiler.splits.class_table import class_table
from tokexport.unicode import CODE_POINTS


def test_every_code_point_except_surrogates_keeps_its_value() -> None:
    rng = np.random.default_rng(0)
    values = np.zeros(CODE_POINTS, np.uint8)
    for _ in range(300):
        start = int(rng.integers(0, CODE_POINTS))
        values[start : start + int(rng.integers(1, 3000))] = rng.integers(0, 200)
    table = class_table(values)
    points = np.concatenate([np.arange(0xD800), np.arange(0xE000, CODE_POINTS)])
    middle = table.middle[table.top[points >> 12], points >> 6 & 63]
    assert (table.leaves[middle, points & 63] == values[points]).all()


def test_surrogates_need_no_block() -> None:
    values = np.zeros(CODE_POINTS, np.uint8)
    values[0xD800:0xE000] = np.arange(0x800) % 7
    assert len(class_table(values).leaves) == 1
