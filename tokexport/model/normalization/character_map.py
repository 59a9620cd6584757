"""Maps from single characters to texts; two consecutive maps can be joined into one."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport.model import CharacterMap
from tokexport.unicode.store import CODE_POINTS, CodePoints, distinct_values, shipped


@dataclass(frozen=True, slots=True)
class Output:
    """What a character becomes: ``before``, the character itself if ``keep``, and ``after``."""

    before: str = ""
    keep: bool = False
    after: str = ""

    def of(self, character: str) -> str:
        return self.before + character * self.keep + self.after


UNCHANGED = Output(keep=True)


@dataclass(frozen=True, slots=True, eq=False)
class CharacterMapping:
    """``outputs[numbers[code_point]]``; output 0 leaves the character unchanged."""

    numbers: npt.NDArray[np.unsignedinteger[Any]]
    outputs: tuple[Output, ...]

    def longest(self) -> int:
        """The most bytes that are put before or after a character, or in its place.

        >>> mapping_of({"a": "é", "b": "c"}).longest()
        2
        """
        texts = (text for output in self.outputs for text in (output.before, output.after))
        return max(len(text.encode()) for text in texts)

    def apply(self, text: str) -> str:
        """The text with every character mapped.

        >>> mapping_of({"a": "bc"}).apply("banana")
        'bbcnbcnbc'
        """
        return "".join(self.outputs[self.numbers[ord(each)]].of(each) for each in text)


def mapping_of(
    texts: Mapping[str, str], sets: Mapping[Output, CodePoints] | None = None
) -> CharacterMapping:
    """The mapping of some characters to texts, and of the members of sets."""
    most = 1 + len(texts) + len(sets or ())
    numbers = np.zeros(CODE_POINTS, np.min_scalar_type(most))
    outputs = {UNCHANGED: 0}
    for output, members in (sets or {}).items():
        numbers[members] = outputs.setdefault(output, len(outputs))
    for character, text in texts.items():
        numbers[ord(character)] = outputs.setdefault(Output(text), len(outputs))
    return CharacterMapping(numbers, tuple(outputs))


def joined(first: CharacterMapping, second: CharacterMapping) -> CharacterMapping:
    """One map that is equivalent to two maps in sequence.

    >>> joined(mapping_of({"a": "bc"}), mapping_of({"b": "", "a": "x"})).apply("abc")
    'cc'
    """
    pairs = first.numbers.astype(np.uint64) * len(second.outputs) + second.numbers
    distinct, numbers = distinct_values(pairs)
    outputs = {UNCHANGED: 0}
    order = np.empty(len(distinct), np.uint32)
    for index, pair in enumerate(distinct.tolist()):
        row, column = divmod(pair, len(second.outputs))
        one, two = first.outputs[row], second.outputs[column]
        before, after = second.apply(one.before), second.apply(one.after)
        if one.keep and two.keep:
            both = Output(before + two.before, True, two.after + after)
        else:
            both = Output(before + two.of("") * one.keep + after)
        order[index] = outputs.setdefault(both, len(outputs))
    return CharacterMapping(order[numbers], tuple(outputs))


@functools.cache
def named_mapping(kind: CharacterMap) -> CharacterMapping:
    """The map of one of the reference's normalizers.

    >>> named_mapping(CharacterMap.LOWERCASE).apply("ÀB")
    'àb'
    """
    data = shipped("characters.dat")
    *numbers, others = data.header["maps"][kind.value]
    parts = (pattern.partition("{}") for pattern in data.header["patterns"])
    outputs = [Output(before, bool(keep), after) for before, keep, after in parts]
    texts = {chr(point): "".join(map(chr, to)) for point, to in data.texts(others).items()}
    return mapping_of(texts, dict(zip(outputs, map(data.members, numbers), strict=True)))
