"""Source formats: how each is recognised and read, and which library decides its ids."""

import codecs
import mmap
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, SupportsIndex, TypeVar

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse, parse_large
from tokexport.sources.reference import ReferenceTokenizer

T = TypeVar("T")

_OBJECT: Final = re.compile(rb'\{\s*["}]')
_HEAD: Final = 64
_SAMPLE: Final = 1 << 16
_SAMPLE_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Given:
    """What the user adds to a source that lacks it: ranks have no pattern."""

    pattern: str | None = None
    special_tokens: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str | None):
            raise TypeError(f"pattern must be a str or None, not {type(self.pattern).__name__}")
        if not isinstance(self.special_tokens, Mapping | None):
            kind = type(self.special_tokens).__name__
            raise TypeError(f"special_tokens must be a mapping or None, not {kind}")
        for content, id in (self.special_tokens or {}).items():
            if not (isinstance(content, str) and isinstance(id, SupportsIndex)):
                raise TypeError(f"special_tokens must map str to int, not {content!r} to {id!r}")
            try:
                content.encode()
            except UnicodeEncodeError as error:
                raise SourceError(
                    f"the special token {content!r} has a surrogate, half of a character"
                ) from error


class Input:
    """A file with its neighbours, a directory, or a Python object, before its format is known. A
    file is read and parsed once, lazily, as its format requires.
    """

    def __init__(self, source: object, given: Given = Given()) -> None:
        self.path = source if isinstance(source, Path) else None
        self.object = source if self.path is None else None
        self.name = type(source).__name__ if self.path is None else self.path.name
        self.given = given
        self.is_folder = self.path is not None and self.path.is_dir()
        self.files = SourceFiles(self.path if self.is_folder or not self.path else self.path.parent)

    @contextmanager
    def naming_the_file(self) -> Iterator[None]:
        """Adds the path, as it was given, to an error about a file, wherever it is raised."""
        try:
            yield
        except UnsupportedError as error:
            if error.file is None and self.path is not None:
                error.file = str(self.path)
            raise
        except SourceError as error:
            if error.name is not None and self.files.folder is not None:
                error.file = str(self.files.folder / error.name)
            raise

    @cached_property
    def head(self) -> bytes:
        """The first bytes; a model with its weights may be larger than memory."""
        return b"" if self.path is None or self.is_folder else self.files.head(self.name, _HEAD)

    @cached_property
    def view(self) -> bytes | mmap.mmap:
        """All bytes, which may be larger than memory; empty for a directory or an object."""
        return b"" if self.path is None or self.is_folder else self.files.view(self.name)

    @cached_property
    def data(self) -> bytes:
        """The same in memory."""
        return self.view[:]

    @cached_property
    def json(self) -> Node | None:
        """The document if the file is meant as a JSON object; SourceError if that is broken. A
        vocabulary in another encoding can begin with a brace too.
        """
        text = self.data.removeprefix(codecs.BOM_UTF8).lstrip()
        if not text.startswith(b"{"):
            return None
        with suppress(UnicodeDecodeError):
            if _OBJECT.match(text) or text.decode():
                return parse(self.data, self.name)
        return None

    @cached_property
    def document(self) -> Node | None:
        """The same with the vocabulary and the merges as bytes, if it is a large tokenizer.json."""
        return parse_large(self.view, self.name) or self.json

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of that object; empty if the file is not a JSON object."""
        return {} if self.json is None else self.json.object(repeats=True)

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines that are not empty, by which a text file is recognised."""
        return [line for line in self.data[:_SAMPLE].splitlines()[:_SAMPLE_LINES] if line]


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """A source format. To add one, make a folder that exports it and list it in ``registry.py``.

    ``sniff`` decides by the content whether an input has the format: it returns the parsed content,
    which ``read`` and ``reference`` share, or None.
    """

    name: str
    sniff: Callable[[Input], T | None]
    read: Callable[[Input, T], TokenizerModel]
    reference: Callable[[Input, T], ReferenceTokenizer]
    # The names or globs by which it is found in a directory, in order of preference.
    files: tuple[str, ...] = ()
    # Whether the files that belong to a file of such a name are beside it.
    is_whole: Callable[[Path], bool] = Path.is_file
    # Whether such content is a tokenizer under any name: then a directory's only one is read.
    under_any_name: Callable[[T], bool] | bool = False
    # Whether a directory is read as a whole instead of one of its files.
    whole_folder: Callable[[SourceFiles], bool] | None = None
    # What it is or is read as, if that is a tokenizer.json (its fields), a SentencePiece model or
    # RWKV's vocabulary file; otherwise None.
    equivalent: Callable[[Input, T], Any] = lambda source, content: None
    # The fields of :class:`Given` that the format leaves open.
    takes: frozenset[str] = frozenset()


AnySource = Source[Any]


def objects_with(*names: str) -> Callable[[Input], Any]:
    """A ``sniff`` that recognises a Python object by its attributes."""
    return lambda source: source.object if all(hasattr(source.object, n) for n in names) else None
