"""Writes a tokexport file at the end of a copy of a model's file, where a runtime maps it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO, Final

from tokexport.embedding.gguf import last_tensor
from tokexport.embedding.safetensors import with_tokenizer
from tokexport.errors import SourceError, reading
from tokexport.output import refuse_sources, resolve, writing
from tokexport.runtime.embedded import embedded_extent, tail
from tokexport.runtime.tokenizer import load

ALIGNMENT: Final = 64  # of the tokexport file, so that its sections are aligned too
_GGUF: Final = b"GGUF"
_PART: Final = 1 << 24  # bytes copied at once


@dataclass(frozen=True, slots=True)
class Embedded:
    """What was written: the tokexport file has ``size`` bytes at ``offset``."""

    target: Path
    format: str
    offset: int
    size: int
    file_size: int


def embed(
    tokenizer: str | os.PathLike[str],
    model: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    force: bool = False,
) -> Embedded:
    """Writes a copy of a model's file (safetensors or GGUF) with a tokexport file at its end.

    :func:`tokexport.load` opens the copy, and maps the tokexport file in place. The tensors do not
    change; a previously embedded tokexport file is replaced. In safetensors it is the last tensor,
    ``tokexport.tokenizer``; in GGUF it follows the tensors, because llama.cpp refuses a file with a
    tensor that its model does not use.

    Raises FormatError for a damaged tokexport file, SourceError for a model that is in neither
    format, or damaged (of a GGUF, the end of the last tensor's data is not checked), TokexportError
    for a target that exists (unless ``force``) or is a source.

    >>> import tokexport
    >>> with open("empty.safetensors", "wb") as file:
    ...     count = file.write((8).to_bytes(8, "little") + b"{}      ")
    >>> done = embed("example.bin", "empty.safetensors", "one.safetensors", force=True)
    >>> tokexport.load("one.safetensors").encode("hello world")
    [259, 264]
    """
    content = load(tokenizer).to_bytes()
    path, source = Path(target), Path(model)
    refuse_sources(path, [source, Path(tokenizer)])
    blob = content + tail(len(content))
    with reading(source):
        opened = source.open("rb")
    with opened as file, writing(resolve(target, force=force), force=force) as out:
        with reading(source):
            file_size = os.fstat(file.fileno()).st_size
            is_gguf = file.read(len(_GGUF)) == _GGUF
            file.seek(0)
            if is_gguf:
                with mmap(file.fileno(), 0, access=ACCESS_READ) as data, memoryview(data) as view:
                    extent = embedded_extent(view)  # of a previously embedded tokenizer
                    start, end = 0, file_size if extent is None else extent[0]
                    if last_tensor(view, str(source)) > end:
                        problem = f"{source}: it ends before its last tensor"
                        raise SourceError(problem, "fetch the file again")
                text, padding = b"", -end % ALIGNMENT
            else:
                found = with_tokenizer(file, source, file_size, len(blob), ALIGNMENT)
                text, start, end, padding = found
        out.write(text)
        out.writelines(_parts(file, source, start, end))
        out.write(bytes(padding))
        offset = out.tell()
        out.write(blob)
    return Embedded(
        path, "gguf" if is_gguf else "safetensors", offset, len(content), offset + len(blob)
    )


def _parts(file: BinaryIO, path: Path, start: int, end: int) -> Iterator[bytes]:
    with reading(path):
        file.seek(start)
        while part := file.read(min(end - file.tell(), _PART)):
            yield part
