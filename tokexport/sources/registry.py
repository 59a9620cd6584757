"""Every source format, and the only place that chooses among them.

A source is opened once: what is found of it and parsed is kept as one value, which the reader, the
reference library and the diagnosis share.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources import (
    gguf,
    sentencepiece,
    tiktoken,
    tiktoken_pickle,
    tokenizer_json,
    transformers,
)
from tokexport.sources.directory import directory_notes, sniffed, tokenizer_in
from tokexport.sources.hub import local_source
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.source import AnySource, Given, Input
from tokexport.sources.tokenizer_json.config import SETTINGS
from tokexport.sources.transformers.load import from_folder
from tokexport.sources.unreadable import SUPPORTED, refuse, refuse_by_head
from tokexport.sources.vocab_files import clip, gpt2_pair, minbpe, rwkv, wordpiece

# In the order in which they are asked whether a file is theirs, and looked for in a directory.
SOURCES: Final[tuple[AnySource, ...]] = (
    gguf.SOURCE,
    tokenizer_json.SOURCE,
    tiktoken.RANKS,
    tiktoken.TEKKEN,
    tiktoken_pickle.SOURCE,
    rwkv.SOURCE,
    clip.SOURCE,
    minbpe.SOURCE,
    transformers.SOURCE,
    gpt2_pair.SOURCE,
    sentencepiece.SOURCE,
    wordpiece.SOURCE,
)
OBJECTS: Final[tuple[AnySource, ...]] = (
    tiktoken.OBJECT,
    tokenizer_json.OBJECT,
    transformers.SOURCE,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A source of a known format with its parsed content. ``folder`` is the directory that it was
    found in, ``commit`` that of a repository of the Hugging Face hub.
    """

    format: AnySource
    input: Input
    content: Any
    given: Given
    folder: Path | None = None
    commit: str | None = None

    @property
    def size(self) -> int | None:
        """The bytes of all files that were read, but for settings; None of an object."""
        sizes = self.input.files.sizes
        return sum(size for name, size in sizes.items() if name not in SETTINGS) or None

    def read(self) -> TokenizerModel:
        """The model; UnsupportedError for what cannot be exact, SourceError for what is broken."""
        with self.naming_the_file():
            model = self.format.read(self.input, self.content, self.given)
        if self.folder is None or self.input.is_folder:
            return model
        notes = directory_notes(self.folder, self.input.name, SOURCES)
        return replace(model, notes=(*model.notes, *notes))

    def reference(self) -> ReferenceTokenizer:
        """The tokenizer of its library; SourceError where that refuses the source."""
        return self.format.reference(self.input, self.content, self.given)

    def emptied(self) -> Opened:
        """The same without its content, once that was read: compiling needs the memory."""
        for name in ("view", "data", "json"):
            self.input.__dict__.pop(name, None)
        return replace(self, content=None)

    @contextmanager
    def naming_the_file(self) -> Iterator[None]:
        """Adds the file to a refusal of what was read from it, wherever it is raised."""
        try:
            yield
        except UnsupportedError as error:
            if error.file is None and self.input.path is not None:
                error.file = str(self.input.path)
            raise


def open_source(
    source: Any,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    reference: Literal["transformers"] | None = None,
) -> Opened:
    """Finds out what a source is, and parses it: a file, a directory, the name of a repository of
    the Hugging Face hub, or an object of Python.

    What a file is is found from its content. ``pattern`` (a known name or a regular expression) and
    ``special_tokens`` (ids by content) are for formats that leave them open. ``revision`` is the
    branch, tag or commit of a repository; a name is a repository's where it is a string
    ``owner/name`` and no such path is on the disk. With ``reference`` a directory is what
    ``AutoTokenizer`` of ``transformers`` makes of it, be there a tokenizer.json or not.

    Raises SourceError for a file that is broken, UnsupportedError for one that is no source,
    TypeError for an object of another kind.

    >>> import tokenizers
    >>> open_source(tokenizers.Tokenizer(tokenizers.models.BPE())).format.name
    'tokenizers.Tokenizer'
    """
    given = Given(pattern, special_tokens)
    local = local_source(source, revision)
    if not isinstance(local, str | os.PathLike):
        return _open_object(local, given)
    path = Path(local)
    opened = _of_transformers(path) if reference is not None else _open_path(path)
    _check_given(opened, given)
    commit = path.name if local is not source else None
    folder = path if path.is_dir() else None
    return replace(opened, given=given, folder=folder, commit=commit)


def _open_path(path: Path) -> Opened:
    source = Input(path=tokenizer_in(path, SOURCES) if path.is_dir() else path)
    refuse_by_head(source)
    found = sniffed(source, SOURCES)
    return refuse(source) if found is None else Opened(found[0], source, found[1], Given())


def _of_transformers(path: Path) -> Opened:
    folder = path if path.is_dir() else path.parent
    source = Input(path=folder)
    return Opened(transformers.SOURCE, source, from_folder(source.files, str(path)), Given())


def _open_object(python_object: object, given: Given) -> Opened:
    kind = f"{type(python_object).__module__}.{type(python_object).__qualname__}"
    source = Input(python_object=python_object)
    found = sniffed(source, OBJECTS)
    if found is None:
        raise TypeError(f"cannot read a {kind}; {SUPPORTED}")
    if given != Given():
        raise SourceError(
            "a tokenizer object has its own pattern and special tokens: pattern and special_tokens"
            " are for rank files"
        )
    return Opened(found[0], source, found[1], given)


def _check_given(opened: Opened, given: Given) -> None:
    name, takes = opened.input.name, opened.format.takes
    if given.pattern is not None and "pattern" not in takes:
        problem = f"a pattern for a {opened.format.name} is not supported"
        raise UnsupportedError(name, problem, "tiktoken ranks and GGUF, which hold none, take one")
    if given.special_tokens is not None and "special_tokens" not in takes:
        raise UnsupportedError(
            name, f"special tokens for a {opened.format.name} is not supported", "it names its own"
        )
