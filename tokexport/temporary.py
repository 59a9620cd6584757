"""Errors in temporary files, which are written besides the result."""

from collections.abc import Iterator
from contextlib import contextmanager

from tokexport.errors import TokexportError


@contextmanager
def naming_temporary() -> Iterator[None]:
    """Names the temporary directory, in which files are written, in an error."""
    try:
        yield
    except OSError as error:
        from tempfile import gettempdir  # not above: most conversions need none

        raise TokexportError(
            f"the temporary directory {gettempdir()} cannot be written: {error.strerror or error}",
            "set TMPDIR to another one",
        ) from error
