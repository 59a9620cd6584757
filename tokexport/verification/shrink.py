"""Makes a text that differs as short as it can be."""

from __future__ import annotations

from collections.abc import Callable


def shrink(text: str, differs: Callable[[str], bool], tries: int = 600) -> str:
    """The shortest text found by leaving parts out while ``differs`` stays true, asked at most
    ``tries`` times. First halves are left out, then quarters, down to single characters: delta
    debugging (Zeller and Hildebrandt, IEEE TSE 28, 2002).

    >>> shrink("some long text with an x in it", lambda text: "x" in text and "t" in text)
    'xt'
    """
    size = max(1, len(text) // 2)
    while tries > 0:
        start = 0
        shorter = text
        while start < len(shorter) and tries > 0:
            candidate = shorter[:start] + shorter[start + size :]
            tries -= 1
            if candidate and differs(candidate):
                shorter = candidate
            else:
                start += size
        if size == 1 and shorter == text:
            break
        text = shorter
        size = max(1, min(size // 2, len(text) // 2))
    return text
