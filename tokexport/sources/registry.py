"""Every source format, and the only module that chooses among them.

A source is opened once: everything found and parsed is one value, which the reader, the
reference library and the diagnosis share.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources import (
    clip,
    gguf,
    gpt2_pair,
    minbpe,
    rwkv,
    sentencepiece,
    tiktoken,
    tokenizer_json,
    tokenizer_json_2,
    transformers,
    wordpiece,
)
from tokexport.sources.config import SETTINGS
from tokexport.sources.directory import directory_notes, sniffed, tokenizer_in, unread
from tokexport.sources.hub import local_source
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import AnySource, Given, Input
from tokexport.sources.transformers.load import from_folder
from tokexport.sources.unreadable import refuse, refuse_by_head

# In the order in which formats are tried on a file and searched for in a directory.
SOURCES: Final[tuple[AnySource, ...]] = (
    gguf.SOURCE,
    tokenizer_json_2.SOURCE,
    tokenizer_json.SOURCE,
    tiktoken.PICKLE,  # before ranks, which lack a part of what it holds
    tiktoken.RANKS,
    tiktoken.TEKKEN,
    tiktoken.PACKED,
    rwkv.SOURCE,
    clip.SOURCE,
    minbpe.SOURCE,
    transformers.SOURCE,
    gpt2_pair.SOURCE,
    sentencepiece.SOURCE,
    wordpiece.SOURCE,
)
OBJECTS: Final[Sequence[AnySource]] = (tiktoken.OBJECT, tokenizer_json.OBJECT, transformers.SOURCE)
SUPPORTED: Final = ", ".join(one.name for one in SOURCES)


@dataclass(frozen=True, slots=True)
class Opened:
    """A source of a known format with its parsed content. ``folder`` is the directory in which it
    was found, ``commit`` that of a repository of the Hugging Face hub.
    """

    input: Input
    format: AnySource
    content: Any
    folder: Path | None = None
    commit: str | None = None

    @property
    def size(self) -> int | None:
        """The total size in bytes of all files read, without settings; None for an object."""
        sizes = self.input.files.sizes
        return sum(size for name, size in sizes.items() if name not in SETTINGS) or None

    def read(self) -> TokenizerModel:
        """The model; UnsupportedError if it could not be exact, SourceError for a broken source."""
        with self.input.naming_the_file():
            model = self.format.read(self.input, self.content)
        if self.folder is None or self.input.is_folder:
            return model
        notes = directory_notes(self.folder, self.input.name, SOURCES)
        return replace(model, notes=(*model.notes, *notes))

    def reference(self) -> ReferenceTokenizer:
        """The tokenizer of its library; SourceError if the library refuses the source."""
        with self.input.naming_the_file():
            return self.format.reference(self.input, self.content)

    def equivalent(self) -> Any:
        """What the source is or is read as: see :class:`tokexport.sources.source.Source`."""
        return self.format.equivalent(self.input, self.content)

    def emptied(self) -> Opened:
        """The same without its content, which is no longer needed: compiling needs the memory."""
        for name in ("view", "data", "json", "document"):
            self.input.__dict__.pop(name, None)
        self.input.files.documents.clear()
        return replace(self, content=None)


def open_source(
    source: Any,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    reference: Literal["transformers"] | None = None,
) -> Opened:
    """Determines the format of a source, and parses it: a file, a directory, the name of a
    repository of the Hugging Face hub, or a Python object.

    The format of a file is recognised by its content. ``pattern`` (a known name or a regular
    expression) and ``special_tokens`` (ids by content) are for formats that leave them open.
    ``revision`` is the branch, tag or commit of a repository; a string ``owner/name`` is a
    repository if no such path exists. With ``reference`` a directory is loaded by ``AutoTokenizer``
    of ``transformers``, whether it has a tokenizer.json or not.

    Raises SourceError for a file that is broken, UnsupportedError for one that is not a source,
    TypeError for any other object, ValueError for another reference.

    >>> import tokenizers
    >>> open_source(tokenizers.Tokenizer(tokenizers.models.BPE())).format.name
    'tokenizers.Tokenizer'
    """
    if reference not in (None, "transformers"):
        raise ValueError(f'reference must be None or "transformers", not {reference!r}')
    if not isinstance(revision, str | None):
        raise TypeError(f"revision must be a str or None, not {type(revision).__name__}")
    given = Given(pattern, special_tokens)
    local = local_source(source, revision, [name for one in SOURCES for name in one.files])
    if not isinstance(local, str | os.PathLike):
        return _open_object(local, given)
    path = Path(local)
    opened = _of_transformers(path, given) if reference is not None else _open_path(path, given)
    with opened.input.naming_the_file():
        _check_given(opened)
    commit = path.name if local is not source else None
    return replace(opened, folder=path if path.is_dir() else None, commit=commit)


def _open_path(path: Path, given: Given) -> Opened:
    # What is given is for ranks, not for a pickle beside them.
    order = sorted(SOURCES, key=lambda one: one is tiktoken.PICKLE and given != Given())
    source = tokenizer_in(path, order) if path.is_dir() else Input(path)
    source.given = given
    with source.naming_the_file():
        refuse_by_head(source)
        found = sniffed(source, SOURCES)
        if found is None:
            others = unread(path, source.name, SOURCES) if path.is_dir() else ()
            return refuse(source, f"supported formats: {SUPPORTED}", others)
        return Opened(source, *found)


def _of_transformers(path: Path, given: Given) -> Opened:
    source = Input(path if path.is_dir() else path.parent, given)
    with source.naming_the_file():
        return Opened(source, transformers.SOURCE, from_folder(source.files, str(path)))


def _open_object(python_object: object, given: Given) -> Opened:
    kind = f"{type(python_object).__module__}.{type(python_object).__qualname__}"
    source = Input(python_object)
    found = sniffed(source, OBJECTS)
    if found is None:
        objects = ", ".join(one.name for one in OBJECTS)
        raise TypeError(f"cannot read a {kind}; give a path or one of {objects}")
    if given != Given():
        hint = "pattern and special_tokens are for rank files"
        raise SourceError("a tokenizer object has its own pattern and special tokens", hint)
    return Opened(source, *found)


def _check_given(opened: Opened) -> None:
    hints = {
        "pattern": "only tiktoken ranks and GGUF, which hold none, accept one",
        "special_tokens": "it names its own",
    }
    for name, hint in hints.items():
        if getattr(opened.input.given, name) is not None and name not in opened.format.takes:
            problem = f"{name} for a {opened.format.name} is not supported"
            raise UnsupportedError(opened.input.name, problem, hint)
