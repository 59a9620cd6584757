"""The reference library's tokenizer for any source, and whether a file is the same."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from random_tokenizers import tokenizer_json

from tokexport.conversion import convert, file_bytes
from tokexport.errors import SourceError, UnsupportedError
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.sources import read
from tokexport.sources.reference import ReferenceTokenizer
from tokexport.sources.registry import open_source
from tokexport.verification import compare

Errors = type[Exception] | tuple[type[Exception], ...]


def reference_for(source: Any, **options: Any) -> ReferenceTokenizer:
    return open_source(source, **options).reference()


def converted(source: Any, **options: Any) -> Tokenizer:
    """The tokenizer of the file that a source is converted to with ``options``."""
    target = io.BytesIO()
    convert(source, target, **options)
    return load(target.getvalue())


def refused(error: Errors, problem: str, source: Any, **options: Any) -> Exception:
    """The error with which a source is not read."""
    with pytest.raises(error, match=problem) as caught:
        read(source, **options)
    return caught.value


def random_tokenizer(
    seed: int, folder: Path
) -> tuple[dict[str, Any], Tokenizer, ReferenceTokenizer] | None:
    """A random tokenizer.json, its file and its reference; None if ours refuses it."""
    source = tokenizer_json(seed)
    path = folder / f"{seed}.json"
    path.write_text(json.dumps(source), "utf-8")
    try:
        reference = reference_for(path)
    except SourceError:
        with pytest.raises((SourceError, UnsupportedError)):
            read(path)
        return None
    try:
        return source, load(file_bytes(read(path))), reference
    except UnsupportedError:
        return None


def assert_same(
    file: Tokenizer | bytes | Path, reference: ReferenceTokenizer, **options: Any
) -> None:
    """Verifies a file, without all code points, which take most of the time."""
    tokenizer = file if isinstance(file, Tokenizer) else load(file)
    result = compare(tokenizer, reference, **{"code_points": False, **options})
    assert result.ok, "\n".join(result.lines())
