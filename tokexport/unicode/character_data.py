"""What ``characters.dat`` holds: what the reference's normalizers say of single characters."""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from tokexport.unicode.store import CodePoints, Reader


@functools.cache
def character_data() -> Reader:
    """The file."""
    return Reader(resources.files("tokexport.unicode").joinpath("characters.dat").read_bytes())


def grapheme_sets() -> dict[str, CodePoints]:
    """What the rules for grapheme clusters ask about a character, by name."""
    data = character_data()
    return {name: data.members(number) for name, number in data.header["graphemes"].items()}


def script_sets() -> list[CodePoints]:
    """The characters of no script, then those of each script, as UnicodeScripts tells them apart.

    >>> none, *scripts = script_sets()
    >>> bool(none[ord(" ")]), len([script for script in scripts if script[ord("a")]])
    (True, 1)
    """
    data = character_data()
    counts, numbers = np.reshape(data.sequence(data.header["scripts"]), (-1, 2)).T
    scripts = np.repeat(numbers, counts)
    return [scripts == script for script in range(int(scripts.max()) + 1)]
