"""A tokexport file as it is, or a source, which is converted in memory first.

What reads and compiles a source is imported where there is one: to look at a file takes none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokexport.cli.contents import Contents
from tokexport.errors import SourceError
from tokexport.file.layout import MAGIC

if TYPE_CHECKING:
    from tokexport.conversion import Options


def is_tokexport_file(source: str) -> bool:
    """Whether a file begins as tokexport files do, however damaged the rest is."""
    path = Path(source)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == MAGIC[:4]


def opened(source: str, how: Mapping[str, Any]) -> Contents:
    """Opens a tokexport file. Raises SourceError for options about a source, which it is not."""
    for name, value in how.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise SourceError(f"{source}: {option} is for sources, and this is a tokexport file")
    return Contents.of(source)


def converted(source: str, how: Mapping[str, Any], options: Options | None = None) -> bytes:
    """The bytes that a source would become, without a self test; ``options`` may say less."""
    from tokexport.conversion import file_bytes
    from tokexport.sources.registry import open_source

    return file_bytes(open_source(source, **how).read(), options)
