"""Splits a file into its sections, and joins sections into a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construct import Array

from tokexport.file.layout import Header, HeaderFlag, ModelType, Section
from tokexport.file.write import assemble


def contents_of(file: bytes) -> dict[bytes, bytes]:
    """The sections of a file by their tags."""
    table = Array(Header.parse(file).section_count, Section).parse(file[Header.sizeof() :])
    return {entry.tag: file[entry.offset : entry.offset + entry.size] for entry in table}


def file_of(header: Any, contents: Mapping[bytes, bytes], model: int | None = None) -> bytes:
    """A file with the fields of a header, possibly another model, and these sections."""
    parts = assemble(
        dict(contents),
        id_count=header.id_count,
        token_count=header.token_count,
        flags=HeaderFlag(header.flags),
        max_token_bytes=header.max_token_bytes,
        unknown_id=header.unknown_id,
        model=ModelType(header.model if model is None else model),
    )
    return b"".join(parts)
