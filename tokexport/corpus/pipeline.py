"""From files of documents to a folder of token shards: reads, encodes and writes concurrently."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tokexport.corpus import shards
from tokexport.corpus.documents import (
    Batch,
    ByteStream,
    InputFile,
    LongDocument,
    Position,
    find_files,
    lone_surrogate,
    read_documents,
    read_stream,
)
from tokexport.errors import SourceError, TextError, TokexportError
from tokexport.output import locked, make_folder
from tokexport.runtime.tokenizer import Tokenizer

SHARD_TOKENS: Final = 100_000_000

# Called with the bytes of the files read so far, and the number of ids.
Progress = Callable[[int, int], None]


def tokenize(
    inputs: Sequence[str | os.PathLike[str]] | ByteStream,
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    *,
    field: str | None = None,
    lines: bool = False,
    begin: int | None = None,
    end: int | None = None,
    shard_tokens: int = SHARD_TOKENS,
    dtype: shards.DType | None = None,
    header: shards.Header = "none",
    num_threads: int | None = None,
    progress: Progress | None = None,
) -> shards.Index:
    """Encodes the documents of ``inputs`` (files and folders) to a folder of token shards.

    ``begin`` and ``end`` are ids put around each document (None: nothing). Special tokens in a
    document are plain text. Ids are uint16 if all ids of the tokenizer fit, or of type ``dtype``.
    An interrupted run in the folder is resumed if the settings and files are the same: no document
    is lost or duplicated. Memory does not grow with the corpus. A ``ByteStream`` is lines of JSON
    with a text in ``field`` ("text" in files), or one document per line (``lines``), or else one
    document; it is not resumed.

    Raises ``SourceError``, with file and line, for anything that cannot be read; ``TokexportError``
    for a folder that was made with other settings, or that another process is writing.

    >>> import pathlib
    >>> _ = pathlib.Path("a.jsonl").write_text('{"text": "hello world"}\\n{"text": "hello"}\\n')
    >>> index = tokexport.corpus.tokenize(["a.jsonl"], tokenizer, "shards", begin=300)
    >>> index.documents, index.tokens
    (2, 5)
    """
    target = Path(folder)
    files: list[Path] = []
    names: Sequence[str | Path] = files
    streamed = None
    if isinstance(inputs, ByteStream):
        names, streamed = [inputs.name], read_stream(inputs, field=field, lines=lines)
    else:
        files += find_files([os.fspath(path) for path in inputs])
        field = field or "text"
    dtype = dtype or ("uint16" if tokenizer.n_vocab <= 1 << 16 else "uint32")
    if dtype == "uint16" and tokenizer.n_vocab > 1 << 16:
        raise TokexportError(f"{tokenizer.n_vocab:,} ids do not fit into uint16", "use uint32")
    settings: dict[str, Any] = {
        "tokenizer": hashlib.sha256(tokenizer.to_bytes()).hexdigest(),
        "files": [asdict(InputFile.of(path)) for path in files],
        "field": field,
        "lines": lines,
        "begin": begin,
        "end": end,
        "shard_tokens": shard_tokens,
    }
    make_folder(target)
    with locked(target, target / shards.LOCK_NAME):
        index = _resumed(target, shards.Index(settings, dtype, header))
        if index.complete:
            return index
        with shards.ShardWriter(target, index, shard_tokens) as writer:
            how: dict[str, Any] = {"field": field, "lines": lines, "start": index.next}
            documents = read_documents(files, **how) if streamed is None else streamed
            for batch in read_ahead(documents):
                if isinstance(batch, LongDocument):
                    _add_long(writer, tokenizer, batch, names, begin, end)
                else:
                    ids, ends = _encoded(tokenizer, batch, names, num_threads)
                    ids, ends = surrounded(ids, ends, begin, end)
                    _add_batch(writer, batch, ids, ends[1:])
                if progress is not None:
                    progress(batch.read, writer.tokens)
            writer.close_shard(Position(len(names)), complete=True)
            return writer.index


def _resumed(folder: Path, fresh: shards.Index) -> shards.Index:
    """The index to resume from. Raises TokexportError if the folder holds something else."""
    found = shards.read_index(folder)
    if found is None:
        if any(path.name != shards.LOCK_NAME for path in folder.iterdir()):
            raise TokexportError(f"{folder} is not empty and holds no token shards", "name another")
        shards.write_index(folder, fresh)
        return fresh
    is_stream = not fresh.settings["files"]
    same = (found.settings, found.dtype, found.header)
    if is_stream or same != (fresh.settings, fresh.dtype, fresh.header):
        if not found.shards:  # a run that failed before its first shard: nothing is lost
            shards.write_index(folder, fresh)
            return fresh
        if is_stream:
            raise TokexportError(
                f"{folder} has shards of another run, and standard input cannot be resumed",
                "name another folder, or remove it",
            )
        other = [
            name for name, value in fresh.settings.items() if found.settings.get(name) != value
        ]
        names = ", ".join(other) or "dtype or header"
        raise TokexportError(
            f"{folder} was started with other settings ({names})",
            "name another folder, or remove it",
        )
    return found


def _encoded(
    tokenizer: Tokenizer, batch: Batch, files: Sequence[str | Path], num_threads: int | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    try:
        return tokenizer.encode_batch_to_numpy(batch.texts, num_threads=num_threads)
    except (UnicodeError, TextError):
        # One of the texts is at fault: find it.
        for number in range(batch.count):
            try:
                tokenizer.encode_batch_to_numpy(batch.texts[number : number + 1])
            except (UnicodeError, TextError) as error:
                where = batch.name_of(number, files)
                found = lone_surrogate(error) if isinstance(error, UnicodeEncodeError) else error
                problem, hint = getattr(found, "problem", found), getattr(found, "hint", "")
                raise SourceError(f"{where}: {problem}", hint) from error
        raise


def surrounded(
    ids: NDArray[np.uint32], offsets: NDArray[np.uint64], begin: int | None, end: int | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Ids with ``begin`` and ``end`` around each document, and the new offsets."""
    added = [(offsets[:-1], begin), (offsets[1:], end)]
    places = [place for place, id in added if id is not None]
    if not places:
        return ids, offsets
    values = np.array([id for _, id in added if id is not None], np.uint32)
    # In the order of the documents, which decides for equal offsets: those of an empty document.
    order = np.stack(places, axis=1).ravel().astype(np.int64)
    result = np.insert(ids, order, np.tile(values, len(offsets) - 1))
    return result, offsets + len(places) * np.arange(len(offsets), dtype=np.uint64)


def _add_batch(
    writer: shards.ShardWriter, batch: Batch, ids: NDArray[np.uint32], ends: NDArray[np.uint64]
) -> None:
    """Adds the documents of a batch, to as many shards as needed."""
    done = used = 0
    while done < batch.count:
        # Up to the document that fills the shard.
        full = int(np.searchsorted(ends[done:], used + writer.room)) + 1
        next_done = min(done + full, batch.count)
        upto = int(ends[next_done - 1])
        shift = writer.held - used
        writer.add(ids[used:upto])
        writer.end(
            (ends[done:next_done].astype(np.int64) + shift).astype(np.uint64),
            batch.after(next_done),
        )
        done, used = next_done, upto


def _add_long(
    writer: shards.ShardWriter,
    tokenizer: Tokenizer,
    document: LongDocument,
    files: Sequence[str | Path],
    begin: int | None,
    end: int | None,
) -> None:
    if begin is not None:
        writer.add(np.array([begin], np.uint32))
    try:
        for ids in tokenizer.encode_stream(document.parts):
            writer.add(ids)
    except TextError as error:
        raise SourceError(f"{files[document.first.file]}: {error.problem}", error.hint) from error
    if end is not None:
        writer.add(np.array([end], np.uint32))
    writer.end(np.array([writer.held], np.uint64), Position(document.first.file + 1))


def read_ahead(batches: Iterator[Batch | LongDocument]) -> Iterator[Batch | LongDocument]:
    """The same batches, each read by a thread while the previous one is encoded."""
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, batches, None)
        while (batch := following.result()) is not None:
            if isinstance(batch, LongDocument):  # the caller reads its file while encoding
                yield batch
            following = reader.submit(next, batches, None)
            if isinstance(batch, Batch):
                yield batch
