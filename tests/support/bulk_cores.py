"""Cores that use the bulk engine for every text, and cores that never do."""

from collections.abc import Callable, Iterable, Iterator

from sentencepiece_training import library_of, model_of

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.errors import TokexportError
from tokexport.sources.sentencepiece.proto import SentencePieceModel

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


def compare(
    content: bytes, texts: Iterable[str], encode: Callable[[str], list[int] | None] | None = None
) -> bool:
    """Compares the engine, with each vector width, with the core, and both with ``encode`` if that
    is given. Returns whether the engine is used for the file.
    """
    core = Core(content, "core", NEVER)
    engines = [Core(content, "engine", 0, width) for width in split_widths()]
    for text in texts:
        expected = ids(core, text)
        assert encode is None or expected == encode(text), text
        assert all(ids(engine, text) == expected for engine in engines), text
    assert not core.uses_bulk
    return all(engine.uses_bulk for engine in engines)


def used_for(source: SentencePieceModel, texts: Iterable[str]) -> bool:
    """Whether the engine is used for a model; compares it and the core with the library."""
    try:
        data = file_bytes(model_of(source))
    except TokexportError:
        return False
    return compare(data, texts, library_of(source).encode)
