"""Cores with the bulk engine for every text, and without it."""

from collections.abc import Iterator

from tokexport._core import Core

NEVER = 2**63


def pair(content: bytes) -> tuple[Core, Core]:
    """A file with the engine for every text, and without it."""
    return Core(content, "engine", 0), Core(content, "core", NEVER)


def ids(core: Core, text: str) -> list[int]:
    """What a core gives for a text."""
    made: list[int] = core.encode_numpy(text, (), False).tolist()
    return made


def tokens_of(core: Core) -> Iterator[bytes]:
    """The bytes of every id that has some."""
    for number in range(core.id_count):
        try:
            yield core.token_bytes(number)
        except (KeyError, ValueError, IndexError):
            continue
