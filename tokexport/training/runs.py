"""Which files were counted, and how far, so that no document is lost or counted twice."""

from __future__ import annotations

import dataclasses
from typing import Any

from tokexport.corpus.documents import InputFile, Position


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One run over files: the files, the settings, and the next document to count."""

    files: tuple[InputFile, ...]
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
        files = tuple(InputFile(**file) for file in value["files"])
        return cls(**{**value, "files": files, "next": Position(**value["next"])})

    def at_start(self) -> Run:
        """The same run before its first document."""
        return dataclasses.replace(self, next=Position(), documents=0, characters=0, complete=False)
