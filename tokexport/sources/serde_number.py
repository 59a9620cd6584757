"""A decimal number as serde_json reads it, the parser of ``tokenizers``.

It is fast, not exact: about a quarter of the scores of a published Unigram model become a neighbour
of the nearest double, and ids depend on the last bit of sums of scores. So the steps are the same
here: the digits as an integer (dropping those that do not fit into 64 bits), multiplied or divided
by a power of ten. https://github.com/serde-rs/json, ``src/de.rs``, without the feature
``float_roundtrip``.
"""

import re
from typing import Final

_NUMBER: Final = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_LARGEST: Final = (1 << 64) - 1
_POWERS: Final = tuple(float(f"1e{exponent}") for exponent in range(309))


def serde_number(text: str) -> float:
    """The double for a JSON number. ValueError if the reference refuses it as too large.

    >>> serde_number("0.5"), serde_number("-13.510000228881837") == -13.510000228881837
    (0.5, False)
    """
    found = _NUMBER.fullmatch(text)
    assert found is not None
    sign, whole, fraction, exponent_digits = found.groups(default="")
    digits, of_whole = _kept(0, whole)
    digits, of_fraction = _kept(digits, fraction)
    exponent = int(exponent_digits or 0) + len(whole) - of_whole - of_fraction
    value = float(digits)
    while abs(exponent) > 308 and value != 0:
        if exponent > 0:
            raise ValueError(f"{text} is out of the range of numbers")
        value /= _POWERS[308]
        exponent += 308
    if value != 0:
        value = value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]
    if value == float("inf"):
        raise ValueError(f"{text} is out of the range of numbers")
    return -value if sign else value


def _kept(value: int, digits: str) -> tuple[int, int]:
    """A number with more digits appended as long as it fits, and how many of them do."""
    for place, digit in enumerate(digits):
        longer = 10 * value + int(digit)
        if longer > _LARGEST:
            return value, place
        value = longer
    return value, len(digits)
