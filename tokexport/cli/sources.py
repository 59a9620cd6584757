"""A tokexport file as it is, or a source, which is converted in memory first.

What reads and compiles a source is imported where there is one: to look at a file takes none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tokexport import Tokenizer, load
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


def opened(source: str, revision: str | None = None) -> tuple[Tokenizer, Contents]:
    """Opens a tokexport file; the runtime checks it first. Raises SourceError for a revision, which
    it has not.
    """
    if revision is not None:
        raise SourceError(
            f"{source}: a revision is for a repository of the Hugging Face hub, and this is a"
            " tokexport file"
        )
    return load(source), Contents.of(Path(source))


def converted(
    source: str,
    pattern: str | None,
    special_tokens: Mapping[str, int] | None,
    revision: str | None,
    options: Options | None = None,
) -> bytes:
    """The bytes of the file that a source would become; all that it can hold but a self test,
    unless ``options`` say less.
    """
    from tokexport.conversion import Options, file_bytes
    from tokexport.sources import read

    model = read(source, pattern=pattern, special_tokens=special_tokens, revision=revision)
    return file_bytes(model, Options() if options is None else options)
