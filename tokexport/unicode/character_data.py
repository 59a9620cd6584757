"""What ``characters.dat`` holds: what the reference library's normalizers and pre-tokenizers say of
single characters.
"""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from tokexport.unicode.store import CODE_POINTS, CodePoints, Reader, set_from_numbers


@functools.cache
def character_data() -> Reader:
    """The file."""
    return Reader(resources.files("tokexport.unicode").joinpath("characters.dat").read_bytes())


def grapheme_sets() -> dict[str, CodePoints]:
    """What the rules for grapheme clusters ask about a character, by name."""
    numbers = character_data().header["graphemes"]
    return {
        name: set_from_numbers(character_data().sequence(number))
        for name, number in numbers.items()
    }


def script_sets() -> list[CodePoints]:
    """The characters of no script, then those of each script, as UnicodeScripts tells them apart.

    >>> none, *scripts = script_sets()
    >>> bool(none[ord(" ")]), len([script for script in scripts if script[ord("a")]])
    (True, 1)
    """
    numbers = iter(character_data().sequence(character_data().header["scripts"]))
    scripts = np.zeros(CODE_POINTS, np.int64)
    place = 0
    for count in numbers:
        scripts[place : place + count] = next(numbers)
        place += count
    return [scripts == script for script in range(int(scripts.max()) + 1)]
