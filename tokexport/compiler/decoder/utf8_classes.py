"""The classes of characters, read byte by byte: by how many bytes of a character its class is
known.

Most characters stand among others of their class. So three bytes of four, or even the first alone,
often tell it; only where they do not, all bytes of the character have to be known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_ROW = 64  # code points that differ in the last byte of their UTF-8 only


@dataclass(frozen=True, slots=True)
class Utf8Classes:
    """``known``: the class of the characters that begin so, where no fewer bytes tell it;
    ``unknown``: first bytes that do not tell it.
    """

    known: dict[bytes, int]
    unknown: frozenset[bytes]


def utf8_classes(classes: npt.NDArray[np.uint8], free: int | None = None) -> Utf8Classes:
    r"""The first bytes of the characters of all classes but ``free``; ``classes``: of each code
    point, shape (0x110000,).

    >>> classes = np.zeros(0x110000, np.uint8)
    >>> classes[0x4E00:0x5000] = 1
    >>> utf8_classes(classes, free=0).known == {bytes([0xE4, second]): 1 for second in range(0xB8, 0xC0)}
    True
    """
    found: dict[bytes, int | None] = {bytes([point]): int(classes[point]) for point in range(0x80)}
    rows = classes.reshape(-1, _ROW)
    of_one_class = (rows == rows[:, :1]).all(axis=1)
    for number in range(0x80 // _ROW, len(rows)):
        if 0xD800 <= number * _ROW < 0xE000:
            continue
        points = range(number * _ROW, (number + 1) * _ROW)
        if of_one_class[number]:
            found[chr(points[0]).encode()[:-1]] = int(classes[points[0]])
        else:
            found |= {chr(point).encode(): int(classes[point]) for point in points}
            found[chr(points[0]).encode()[:-1]] = None
    for size in (2, 1):
        following: dict[bytes, set[int | None]] = defaultdict(set)
        for data in found:
            if len(data) == size + 1:
                following[data[:size]].add(found[data])
        for data, numbers in following.items():
            if data not in found:
                found[data] = numbers.pop() if len(numbers) == 1 else None
    # What fewer bytes tell is not looked at.
    asked = [(data, number) for data, number in found.items() if found.get(data[:-1]) is None]
    known = {data: number for data, number in asked if number is not None and number != free}
    return Utf8Classes(known, frozenset(data for data, number in asked if number is None))


def classes_among(
    classes: npt.NDArray[np.uint8], among: Iterable[str], free: int | None = None
) -> Utf8Classes:
    """The same where no other characters than those ``among`` some are met, each known by all of
    its bytes.

    >>> sorted(classes_among(np.zeros(0x110000, np.uint8), "aé").known)
    [b'a', b'\\xc3\\xa9']
    """
    known = {character.encode(): int(classes[ord(character)]) for character in among}
    known = {data: number for data, number in known.items() if number != free}
    return Utf8Classes(
        known, frozenset(data[:size] for data in known for size in range(1, len(data)))
    )


def bytes_behind(data: bytes) -> int:
    """How many bytes of a character follow its first ones.

    >>> [bytes_behind("中".encode()[:size]) for size in (1, 2, 3)], bytes_behind(b"a")
    ([2, 1, 0], 0)
    """
    first = data[0]
    return (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0) - len(data) + 1
