"""The limits of a tokexport file; sources and the compiler refuse to exceed them."""

from typing import Final

from tokexport.errors import UnsupportedError

MAX_IDS: Final = (1 << 21) - 1
MAX_TOKEN_BYTES: Final = 0xFFFF
MAX_STAGES: Final = 16
MAX_OPS: Final = 24
MAX_CLASSES: Final = 254
MAX_STATES: Final = 4096
MAX_MAPPED: Final = 0xFF  # bytes that a map puts before, after, or in place of a character
MAX_CLUSTER: Final = 5  # bytes of a grapheme cluster that a charsmap looks up as a whole
MAX_TRIMMING_PASSES: Final = 15


def check_count(path: str, count: int, noun: str, limit: int) -> None:
    """Raises UnsupportedError, with the path, if there are more items than a file can hold."""
    if count > limit:
        raise UnsupportedError(path, f"{count:,} {noun} are too many", f"the limit is {limit:,}")


def check_id(path: str, number: int, noun: str = "id") -> None:
    """Raises UnsupportedError, with the path, for an id that no file can hold."""
    if number >= MAX_IDS:
        hint = f"{noun}s go up to {MAX_IDS - 1}: renumber the vocabulary"
        raise UnsupportedError(path, f"the {noun} {number} is too large", hint)
