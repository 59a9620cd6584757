"""A runtime that is a Python library: it runs the file itself."""

from collections.abc import Sequence

from tokexport.sources.reference import ReferenceTokenizer


class LibraryRuntime:
    """Encoding and decoding by a library."""

    finds_special_tokens = True

    def __init__(self, library: ReferenceTokenizer) -> None:
        self._library = library

    def encode(self, text: str) -> list[int]:
        """The library's ids, without those of a template."""
        return self._library.encode(text, True)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The library's text."""
        return self._library.decode_batch([ids], False)[0].encode()
