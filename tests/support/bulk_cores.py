"""Cores that use the bulk engine for every text, and cores that never do."""

from collections.abc import Iterator

from tokexport._core import Core

NEVER = 2**63


def pair(content: bytes) -> tuple[Core, Core]:
    """Two cores of a file: one uses the engine for every text, one never does."""
    return Core(content, "engine", 0), Core(content, "core", NEVER)


def ids(core: Core, text: str) -> list[int]:
    result: list[int] = core.encode_numpy(text, (), False).tolist()
    return result


def tokens_of(core: Core) -> Iterator[bytes]:
    """The bytes of every id that is a token."""
    for number in range(core.id_count):
        try:
            yield core.token_bytes(number)
        except (KeyError, ValueError, IndexError):
            continue
