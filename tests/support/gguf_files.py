"""Writes GGUF files by the library that defines them."""

from __future__ import annotations

from pathlib import Path

import gguf


def written(path: Path, writer: gguf.GGUFWriter) -> Path:
    """Writes all that a writer was given; ``path`` is given back."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
