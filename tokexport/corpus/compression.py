"""Reads compressed files of documents."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from tokexport.errors import SourceError, needs, reading

PART: Final = 1 << 20
COMPRESSIONS: Final = (".gz", ".bz2", ".xz", ".zst")


def decompressed(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The content of ``raw``, the open file of ``path``, whose name tells how it is compressed."""
    openers: dict[str, Callable[[IO[bytes]], Any]] = {
        ".gz": lambda file: gzip.GzipFile(fileobj=file),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
        ".zst": lambda file: pyarrow_for(path).CompressedInputStream(file, "zstd"),
    }
    opener = openers.get(path.suffix.lower())
    return raw if opener is None else io.BufferedReader(opener(raw), PART)


def pyarrow_for(path: Path) -> Any:
    """The library that reads a file; MissingLibraryError without it."""
    with needs("corpus", f"{path}: this kind of file needs pyarrow"):
        import pyarrow
    return pyarrow


def parts_of(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a file from :func:`decompressed`; SourceError if they cannot be read."""
    try:
        while part := file.read(PART):
            yield part
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        # Damaged bzip2 and Zstandard raise an OSError, too, but one without a number.
        if isinstance(error, OSError) and error.errno:
            with reading(path):
                raise
        raise SourceError(f"{path}: cannot be decompressed: {error}") from error
