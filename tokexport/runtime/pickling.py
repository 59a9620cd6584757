"""Pickling of a tokenizer: unpickling opens the file or the bytes again."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from tokexport.errors import FormatError
from tokexport.runtime.tokenizer import Tokenizer, load

_HEADER_SIZE = 64


def reduced(tokenizer: Tokenizer) -> tuple[Callable[..., Tokenizer], tuple[Any, ...]]:
    """A function that recreates the tokenizer, and its arguments."""
    if tokenizer._path is None:
        return partial(load, check=False), (tokenizer.to_bytes(),)
    header = bytes(tokenizer._data[:_HEADER_SIZE])
    return _load_again, (os.path.abspath(tokenizer._path), header)


def _load_again(path: str, header: bytes) -> Tokenizer:
    tokenizer = load(path, check=False)
    if tokenizer._data[:_HEADER_SIZE] != header:
        raise FormatError(
            f"{path}: not the file that was pickled",
            "pickle the tokenizer again, or load it by path",
        )
    return tokenizer
