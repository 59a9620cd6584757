"""Converts a source to another runtime's file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokexport.errors import TokexportError, naming_temporary
from tokexport.output import make_folder, refuse_sources, resolve, write_file, writing
from tokexport.targets.material import Material, material
from tokexport.targets.registry import target_of
from tokexport.targets.target import Files, Loss


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: paths with their sizes in bytes, and what the format cannot carry."""

    format: str
    files: Mapping[Path, int]
    source: Material
    losses: tuple[Loss, ...]


def write_target(
    source: Any,
    format: str,
    target: str | os.PathLike[str],
    *,
    into: str | os.PathLike[str] | None = None,
    strict: bool = False,
    force: bool = False,
    **how: Any,
) -> Written:
    """Writes another runtime's file in the named format.

    ``source`` is what :func:`tokexport.convert` accepts, with its options ``how``, or a tokexport
    file. If the format has several files, ``target`` is the folder for them. The written files are
    read back, and ``losses`` lists what is missing. With ``into``, an existing GGUF file,
    ``target`` is a copy of that file with this tokenizer instead of its own.

    Raises TokexportError for a tokenizer that the format cannot hold (with ``strict``, cannot hold
    completely), and for a target that exists (unless ``force``); the target is then unchanged.

    >>> write_target("example.bin", "llama2.c", "tokenizer.bin")
    Traceback (most recent call last):
        ...
    tokexport.errors.TokexportError: example.bin: a tokexport file does not hold the pieces of a\
 SentencePiece model, which llama2.c needs; give the source that it was converted from
    """
    chosen = target_of(format)
    found = material(source, **how)
    files = chosen.write(found)
    losses = chosen.losses(found, _read_back(chosen.read, files))
    if strict and losses:
        lost = "; ".join(map(str, losses))
        raise TokexportError(
            f"{format} cannot carry all of this tokenizer, and nothing was written: {lost}"
        )
    paths = {Path(target, name): data for name, data in files.items()}
    if isinstance(source, (str, os.PathLike)):
        read = () if found.model is None else found.model.provenance.sha256
        own = [Path(source), *(Path(source, name) for name in read)]
        for path in paths:
            refuse_sources(path, own)
    if "" not in files:
        make_folder(Path(target))
    given = {path: target if name == "" else path for path, name in zip(paths, files, strict=True)}
    resolved = {path: resolve(name, force=force) for path, name in given.items()}
    if into is None:
        for path, data in paths.items():
            write_file(resolved[path], data, force=force)
    else:
        from tokexport.targets.gguf import add_to

        refuse_sources(Path(target), [Path(into)])
        with writing(resolved[Path(target)], force=force) as file:
            add_to(found, Path(into), Path(file.name))
    return Written(format, {path: path.stat().st_size for path in paths}, found, losses)


def _read_back(read: Any, files: Files) -> Material:
    with TemporaryDirectory() as folder:
        with naming_temporary():
            for name, data in files.items():
                Path(folder, name or "file").write_bytes(data)
        found: Material = read(Path(folder, "file") if "" in files else Path(folder))
        return found
