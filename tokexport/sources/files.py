"""The files of a source: each is read once, and its SHA-256 recorded."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from tokexport.errors import SourceError
from tokexport.model import Provenance

_Data = TypeVar("_Data", bytes, bytes | mmap.mmap)


def lines_of(data: bytes, file: str) -> list[str]:
    """The lines of a text, without an empty last one. SourceError where it is not UTF-8."""
    lines = decoded(data, file).split("\n")
    return lines if lines[-1] else lines[:-1]


def decoded(data: bytes, file: str, hint: str = "") -> str:
    """The text of a file. SourceError with the ``hint`` where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":  # half of a character, at the end
            hint = "it seems to be cut off: get the whole file again"
        raise SourceError(f"byte {error.start} is not UTF-8", hint, name=file) from None


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Reads files of ``folder``, if any, by base name; keeps digests, sizes, parsed documents."""

    folder: Path | None = None
    sha256: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    documents: dict[str, Any] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """The bytes of a file that must exist."""
        with self._open(name) as file:
            return self._recorded(name, file.read())

    def view(self, name: str) -> bytes | mmap.mmap:
        """The bytes of a file that must exist, mapped: parts that are not read take no memory."""
        with self._open(name) as file:
            if not file.seekable():
                problem = "it is a pipe, and a source is read more than once"
                raise SourceError(problem, "write it to a file, and convert that", name=name)
            size = file.seek(0, os.SEEK_END)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            return self._recorded(name, mapped)

    def head(self, name: str, size: int) -> bytes:
        """The first ``size`` bytes of a file that must exist; no more of it is read."""
        with self._open(name) as file:
            return file.read(size)

    def has(self, name: str) -> bool:
        return self.folder is not None and (self.folder / name).is_file()

    def beside(self, name: str) -> bytes | None:
        """The bytes of a file, or None if it does not exist."""
        return self.read(name) if self.has(name) else None

    def alone(self) -> SourceFiles:
        """The same digests without the folder, if files beside the source do not belong to it."""
        return SourceFiles(None, self.sha256, self.sizes)

    def provenance(self, source: str) -> Provenance:
        """The provenance of a model of this kind of source, once all its files were read."""
        return Provenance(source, dict(sorted(self.sha256.items())))

    def _recorded(self, name: str, data: _Data) -> _Data:
        self.sha256[name] = hashlib.sha256(data).hexdigest()
        self.sizes[name] = len(data)
        return data

    @contextmanager
    def _open(self, name: str) -> Iterator[BinaryIO]:
        assert self.folder is not None  # only `beside` is asked for files that need not exist
        try:
            with (self.folder / name).open("rb") as file:
                yield file
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror or error}", name=name) from None
