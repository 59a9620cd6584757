"""The offsets of ids in random strings, in every mode, in characters and in bytes."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from tokexport.errors import FormatError
from tokexport.sources.reference import Mode, ReferenceStopsError
from tokexport.verification.comparison import Comparison
from tokexport.verification.generators import Vocabulary, make
from tokexport.verification.report import Difference

OFFSETS: Final = "offsets"
TRIMMING: Final = "TRIM"  # a section
NO_SPANS: Final = -13
NOTE: Final = "the file cannot give offsets, so none were compared"

_Spans: TypeAlias = list[tuple[int, int]]


def check_offsets(comparison: Comparison, vocabulary: Vocabulary, items: Sequence[int]) -> None:
    """Compares mixed strings in every mode; adds a note if the file has no offsets."""
    for index in items:
        text = make("mixed", vocabulary, comparison.seed, index)
        for mode in comparison.reference.modes:
            try:
                expected = comparison.reference.offsets(text, mode)
            except ReferenceStopsError:
                comparison.found.stopped += 1
                continue
            found = NOTE if expected is None else _found(comparison, text, mode)
            if found == NOTE:
                comparison.found.notes += [NOTE] * (expected is not None)
                return
            comparison.found.counts[OFFSETS] += 1
            if found != expected:
                _differs(comparison, f"{OFFSETS}:{index}", text, mode, str(expected), str(found))


def _found(comparison: Comparison, text: str, mode: Mode) -> _Spans | str:
    """The file's offsets in characters, or a sentence if those in bytes differ, or it fails."""
    how, encode = comparison.how(mode), comparison.tokenizer.encode_with_offsets
    try:
        characters = encode(text, **how, unit="char").offsets
        data = encode(text, **how, unit="byte").offsets
    except Exception as error:
        no_spans = isinstance(error, FormatError) and error.code == NO_SPANS
        return NOTE if no_spans else f"{type(error).__name__}: {error}"
    sizes = (len(character.encode()) for character in text)
    starts = [0, *accumulate(sizes)]  # byte offsets of characters
    trims = TRIMMING in comparison.sections  # by characters, in either unit
    if len(characters) != len(data):
        return f"{len(characters)} offsets in characters, {len(data)} in bytes"
    for (first, last), (start, end) in zip(characters, data, strict=True):
        same = last < len(starts) and (start, end) == (starts[first], starts[last])
        if not same and not (trims and start <= end <= starts[-1]):
            return f"from {first} to {last}, in bytes from {start} to {end}, which is another place"
    return characters


def _differs(
    comparison: Comparison, key: str, text: str, mode: Mode, expected: str, found: str
) -> None:
    def again(part: str) -> bool:
        try:
            return comparison.reference.offsets(part, mode) != _found(comparison, part, mode)
        except ReferenceStopsError:
            return False

    smallest, action = comparison.shortest(text, again), f"offsets of encode, {mode.value}"
    difference = Difference(OFFSETS, key, action, text, None, expected, found, smallest=smallest)
    comparison.differs(difference)
