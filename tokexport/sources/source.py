"""What a source format is: how it is known, how it is read, and which library decides its ids."""

from __future__ import annotations

import codecs
import mmap
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from tokexport.model import TokenizerModel
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse
from tokexport.sources.reference import ReferenceTokenizer

T = TypeVar("T")

_OBJECT: Final = re.compile(rb'\{\s*["}]')
_HEAD: Final = 64
_SAMPLE: Final = 1 << 16
_SAMPLE_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Given:
    """What the user says of a source that does not say it itself: ranks hold no pattern."""

    pattern: str | None = None
    special_tokens: Mapping[str, int] | None = None


class Input:
    """A file with those beside it, a directory, or an object of Python, before anything is known
    of it. A file is read and parsed once, and only as far as its format asks for it.
    """

    def __init__(self, *, path: Path | None = None, python_object: object | None = None) -> None:
        self.name = type(python_object).__name__ if path is None else path.name
        self.path = path
        self.object = python_object
        self.is_folder = path is not None and path.is_dir()
        folder = path if self.is_folder else None if path is None else path.parent
        self.files = SourceFiles(folder)

    @cached_property
    def head(self) -> bytes:
        """The first bytes; a model with its weights may be larger than the memory."""
        return b"" if self.path is None or self.is_folder else self.files.head(self.name, _HEAD)

    @cached_property
    def view(self) -> bytes | mmap.mmap:
        """All bytes, none of a directory or an object, which may be more than the memory holds."""
        return b"" if self.path is None or self.is_folder else self.files.view(self.name)

    @cached_property
    def data(self) -> bytes:
        """The same in memory."""
        return self.view[:]

    @cached_property
    def json(self) -> Node | None:
        """The document where the file is meant as a JSON object; SourceError where that is broken.

        A vocabulary in another encoding can begin with a brace too.
        """
        text = self.data.removeprefix(codecs.BOM_UTF8).lstrip()
        if not text.startswith(b"{"):
            return None
        with suppress(UnicodeDecodeError):
            if _OBJECT.match(text) or text.decode():
                return parse(self.data, self.name)
        return None

    @property
    def fields(self) -> dict[str, Any]:
        """Those of that object; none where it is no JSON object."""
        return {} if self.json is None else self.json.object(repeats=True)

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines that are not empty, by which a text is known."""
        return [line for line in self.data[:_SAMPLE].splitlines()[:_SAMPLE_LINES] if line]


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """A source format. To add one, make a folder that exports it and name it in ``registry.py``.

    ``sniff`` says by the content whether an input is of the format: then it gives the parsed
    content, which ``read`` and ``reference`` share; None where it is not.
    """

    name: str
    sniff: Callable[[Input], T | None]
    read: Callable[[Input, T, Given], TokenizerModel]
    reference: Callable[[Input, T, Given], ReferenceTokenizer]
    # The names or globs by which it is found in a directory, the best one first.
    files: tuple[str, ...] = ()
    # Whether a file of such a name has beside it what belongs to it.
    is_whole: Callable[[Path], bool] = Path.is_file
    # Whether such a content is a tokenizer under any name: then a directory's only one is read.
    under_any_name: Callable[[T], bool] | bool = False
    # Whether a directory is read as a whole, and not one file of it.
    whole_folder: Callable[[SourceFiles], bool] | None = None
    # The fields of :class:`Given` that the format leaves open.
    takes: frozenset[str] = frozenset()


AnySource = Source[Any]
