"""Which files were counted, and how far, so that no document is lost or counted twice."""

from __future__ import annotations

import dataclasses
import zlib
from pathlib import Path
from typing import Any, Final

from tokexport.corpus.documents import Position

# Bytes at the start and at the end of a file that its checksum covers.
ENDS: Final = 1 << 16


@dataclasses.dataclass(frozen=True, slots=True)
class CountedFile:
    """A file of documents: its path as given, its size, and a CRC-32 of its two ends."""

    path: str
    size: int
    crc: int

    @classmethod
    def of(cls, path: Path) -> CountedFile:
        """Describes the current state of a file."""
        size = path.stat().st_size
        with path.open("rb") as file:
            crc = zlib.crc32(file.read(ENDS))
            if size > ENDS:
                file.seek(max(ENDS, size - ENDS))
                crc = zlib.crc32(file.read(ENDS), crc)
        return cls(str(path), size, crc)


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One run over files: the files, the settings, and the next document to count."""

    files: tuple[CountedFile, ...]
    field: str
    lines: bool
    doc_cap: int | None
    max_chars: int | None
    next: Position = dataclasses.field(default_factory=Position)
    documents: int = 0
    characters: int = 0
    complete: bool = False

    @classmethod
    def read(cls, value: dict[str, Any]) -> Run:
        """The run from the JSON object of ``dataclasses.asdict``.

        Raises TypeError or KeyError for another object.
        """
        files = tuple(CountedFile(**file) for file in value["files"])
        return cls(**{**value, "files": files, "next": Position(**value["next"])})

    def at_start(self) -> Run:
        """The same run before its first document."""
        return dataclasses.replace(self, next=Position(), documents=0, characters=0, complete=False)
