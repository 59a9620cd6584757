"""The files that a source is made of: each is read once, and its SHA-256 kept."""

from __future__ import annotations

import hashlib
import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tokexport.errors import SourceError


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Reads files of ``folder`` by base name and keeps the digests; ``folder`` is None for a source
    that is no file.
    """

    folder: Path | None = None
    sha256: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """The bytes of a file that must be there."""
        if self.folder is None:
            raise SourceError(f"{name}: this source has no files")
        try:
            data = (self.folder / name).read_bytes()
        except OSError as error:
            raise SourceError(
                f"{self.folder / name}: cannot be read: {error.strerror or error}"
            ) from None
        self.sha256[name] = hashlib.sha256(data).hexdigest()
        return data

    def starts_with(self, name: str, magic: bytes) -> bool:
        """Whether a file that must be there begins with ``magic``; no more of it is read."""
        with self._open(name) as file:
            return file.read(len(magic)) == magic

    def digested(self, name: str) -> Path:
        """Where a file lies that must be there and may be larger than the memory: a model with its
        tokenizer inside.
        """
        with self._open(name) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            self.sha256[name] = hashlib.sha256(view).hexdigest()
        assert self.folder is not None
        return self.folder / name

    def _open(self, name: str) -> BinaryIO:
        if self.folder is None:
            raise SourceError(f"{name}: this source has no files")
        try:
            return (self.folder / name).open("rb")
        except OSError as error:
            raise SourceError(
                f"{self.folder / name}: cannot be read: {error.strerror or error}"
            ) from None

    def has(self, name: str) -> bool:
        """Whether a file of this name is there."""
        return self.folder is not None and (self.folder / name).is_file()

    def beside(self, name: str) -> bytes | None:
        """The bytes of a file that may be there, or None."""
        return self.read(name) if self.has(name) else None
