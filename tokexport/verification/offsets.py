"""Where in a text each id stands: random strings in every mode, in characters and in bytes, and
pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from tokexport.errors import FormatError
from tokexport.runtime.encoding import Encoding
from tokexport.runtime.tokenizer import Unit
from tokexport.sources.reference import Mode, ReferenceStopsError
from tokexport.verification.comparison import SHRINK_LIMIT, Comparison
from tokexport.verification.generators import Vocabulary, make
from tokexport.verification.report import Difference
from tokexport.verification.shrink import shrink

OFFSETS: Final = "offsets"
TRIMMING: Final = "TRIM"  # a section
NO_SPANS: Final = -13
NOTE: Final = "the file cannot say where ids stand in a text, so no offsets were compared"

UNITS: Final[tuple[Unit, ...]] = ("char", "byte")

_Spans: TypeAlias = list[tuple[int, int]]


def check_offsets(
    comparison: Comparison, vocabulary: Vocabulary, indexes: Sequence[int]
) -> str | None:
    """Mixed strings, in every mode. Returns a sentence if the file has no offsets to compare."""
    for index in indexes:
        text = make("mixed", vocabulary, comparison.seed, index)
        for mode in comparison.reference.modes():
            try:
                expected = comparison.reference.offsets(text, mode)
            except ReferenceStopsError:
                comparison.stopped += 1
                continue
            if expected is None:
                return None
            found = _found(comparison, text, mode)
            if found == NOTE:
                return NOTE
            comparison.counts[OFFSETS] += 1
            if found != expected:
                _differs(comparison, f"{OFFSETS}:{index}", text, mode, expected, found)
    return None


def _found(comparison: Comparison, text: str, mode: Mode) -> _Spans | str:
    """What the file says in characters, or a sentence if it does not say the same in bytes, or
    fails.
    """
    try:
        encodings = [_encoded(comparison, text, mode, unit) for unit in UNITS]
    except (
        Exception
    ) as error:  # any error is a difference, and its sentence is what the report shows
        if isinstance(error, FormatError) and error.code == NO_SPANS:
            return NOTE
        return f"{type(error).__name__}: {error}"
    characters, data = encodings[0].offsets, encodings[1].offsets
    places = [
        0,
        *accumulate(len(character.encode()) for character in text),
    ]  # of characters, in bytes
    trims = TRIMMING in comparison.sections  # by characters, in either unit
    if len(characters) != len(data):
        return f"{len(characters)} offsets in characters, {len(data)} in bytes"
    for (first, last), (start, end) in zip(characters, data, strict=True):
        same = last < len(places) and (start, end) == (places[first], places[last])
        if not same and not (trims and start <= end <= places[-1]):
            return f"from {first} to {last}, in bytes from {start} to {end}, which is another place"
    return characters


def _encoded(comparison: Comparison, text: str, mode: Mode, unit: Unit) -> Encoding:
    return comparison.tokenizer.encode_with_offsets(
        text,
        allowed_special=comparison.reference.allowed_special(mode),
        add_special_tokens=mode is Mode.TEMPLATE,
        unit=unit,
    )


def _differs(
    comparison: Comparison, key: str, text: str, mode: Mode, expected: _Spans, found: _Spans | str
) -> None:
    def again(part: str) -> bool:
        try:
            return comparison.reference.offsets(part, mode) != _found(comparison, part, mode)
        except ReferenceStopsError:
            return False

    smallest = (
        shrink(text, again) if comparison.first is None and len(text) <= SHRINK_LIMIT else None
    )
    action = f"offsets of encode, {mode.value}"
    comparison.differs(
        Difference(OFFSETS, key, action, text, None, str(expected), str(found), smallest=smallest)
    )
