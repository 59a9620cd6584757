"""The reference libraries, after one small protocol: their ids are the right ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from tokexport.sources.reference import (
    AddedContent,
    Mode,
    ReferenceStopsError,
    ReferenceTokenizer,
    reference_notes,
)
from tokexport.sources.registry import open_source

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = [
    "AddedContent",
    "Mode",
    "ReferenceStopsError",
    "ReferenceTokenizer",
    "reference_for",
    "reference_notes",
]


def reference_for(
    source: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
    reference: Literal["transformers"] | None = None,
) -> ReferenceTokenizer:
    """The reference library's tokenizer for a source; the arguments are those of
    :func:`tokexport.sources.read`.

    Raises SourceError where the library refuses it, and MissingLibraryError if it is not installed.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)}
    >>> special = {"<end>": 256}
    >>> encoding = tiktoken.Encoding(
    ...     "bytes", pat_str=r"\\S+|\\s", mergeable_ranks=ranks, special_tokens=special
    ... )
    >>> reference_for(encoding).encode("a<end>", special=True)
    [97, 256]
    """
    return open_source(
        source,
        pattern=pattern,
        special_tokens=special_tokens,
        revision=revision,
        reference=reference,
    ).reference()
