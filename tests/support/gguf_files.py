"""Writes GGUF files with the format's own library."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf


def written(path: Path, writer: gguf.GGUFWriter) -> Path:
    """Writes everything that was added to a writer; returns ``path``."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def gguf_of(
    path: Path,
    model: str,
    tokens: Sequence[str | bytes],
    values: Mapping[str, Any],
    architecture: str = "any",
) -> Path:
    """A GGUF with these values of ``tokenizer.ggml.``, except those that are None."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)  # type: ignore[arg-type]
    kinds: dict[type, Callable[[str, Any], None]] = {
        bool: writer.add_bool,
        int: writer.add_uint32,
        str: writer.add_string,
        list: writer.add_array,
    }
    for name, value in values.items():
        if value is not None:
            kinds[type(value)](f"tokenizer.ggml.{name}", value)
    return written(path, writer)
