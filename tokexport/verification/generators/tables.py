"""Tables of characters, written as text: easier to read than tuples of a hundred literals."""

from __future__ import annotations


def listed(text: str, separator: str = " ") -> tuple[str, ...]:
    """The parts of a text.

    >>> listed("a b c")
    ('a', 'b', 'c')
    """
    return tuple(text.split(separator))


def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Pairs of the first and the last code point, each pair in hexadecimal.

    >>> ranges("41-5A 61-7A")
    ((65, 90), (97, 122))
    """
    return tuple(
        (int(first, 16), int(last, 16))
        for first, _, last in (item.partition("-") for item in listed(text))
    )
