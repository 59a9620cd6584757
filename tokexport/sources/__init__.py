"""Sources: a tokenizer file of any known format becomes a TokenizerModel.

Each format is a folder with a ``SOURCE``: how it is recognised, how it is read, and its reference.
``registry.py`` lists them all.

>>> import tokenizers
>>> dict(read(tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))).model.vocab)
{b'a': 0}
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tokexport.model import TokenizerModel

if TYPE_CHECKING:
    from tiktoken import Encoding
    from tokenizers import Tokenizer

__all__ = ["read"]


def read(
    source: str | os.PathLike[str] | Encoding | Tokenizer,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
) -> TokenizerModel:
    """The model of a tokenizer: a file, a directory, the name of a repository of the Hugging Face
    hub, a ``tiktoken.Encoding``, a ``tokenizers.Tokenizer`` or a tokenizer of ``transformers``.

    The arguments are those of :func:`tokexport.sources.registry.open_source`.

    Raises SourceError for a file that is broken or that its own library refuses, UnsupportedError
    where ids could not be exact.
    """
    from tokexport.sources.registry import open_source

    return open_source(
        source, pattern=pattern, special_tokens=special_tokens, revision=revision
    ).read()
