"""Reads documents from files, in batches that know the position after each document."""

from __future__ import annotations

import codecs
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NoReturn

from tokexport.corpus.compression import COMPRESSIONS, PART, decompressed, parts_of, pyarrow_for
from tokexport.errors import SourceError, TextError, TokexportError, parse_problem, reading

if TYPE_CHECKING:
    from tokexport.runtime.batches import ArrowArray

# The text in a batch: enough for all cores, and little memory.
BATCH_BYTES: Final = 1 << 23
BATCH_ROWS: Final = 512
# A .txt file is one document; above this size it is encoded as a stream.
LONG_BYTES: Final = 1 << 26
ENDS: Final = 1 << 16  # bytes at the start and at the end of a file that its checksum covers
TEXT_OVERHEAD: Final = 64  # bytes of memory per text in addition to its content

KINDS: Final = {".txt": "text", ".jsonl": "lines of JSON", ".ndjson": "lines of JSON"}
JSON_KINDS: Final = {
    int: "a number", float: "a number", bool: "true or false", list: "a list", dict: "an object",
    type(None): "null",
}  # fmt: skip
PARQUET: Final = ".parquet"
SUPPORTED: Final = f".txt, .jsonl, .ndjson (also with {', '.join(COMPRESSIONS)}) or .parquet"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of documents: its path as given, its size, and a CRC-32 of its two ends."""

    path: str
    size: int
    crc: int

    @classmethod
    def of(cls, path: Path) -> InputFile:
        """Describes the current state of a file."""
        with reading(path), path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            crc = zlib.crc32(file.read(ENDS))
            if size > ENDS:
                file.seek(max(ENDS, size - ENDS))
                crc = zlib.crc32(file.read(ENDS), crc)
        return cls(str(path), size, crc)

    def real(self) -> InputFile:
        """The same by its real path, whatever path was given."""
        return replace(self, path=os.path.realpath(self.path))


@dataclass(frozen=True, slots=True)
class Position:
    """The next document: the number of its file, and its number in that file."""

    file: int = 0
    document: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents. ``read``: the bytes of the files on disk that have been read so far."""

    texts: Sequence[str] | ArrowArray
    count: int
    first: Position
    read: int
    whole_files: bool = False  # each document is a file

    def after(self, count: int) -> Position:
        """The position after ``count`` of the documents."""
        if self.whole_files:
            return Position(self.first.file + count)
        return Position(self.first.file, self.first.document + count)

    def name_of(self, number: int, files: Sequence[str | Path]) -> str:
        """The file and the number of one of the documents, for errors."""
        place = self.after(number)
        return f"{files[place.file]}: document {place.document + 1:,}"


@dataclass(frozen=True, slots=True)
class LongDocument:
    """A document too long for memory: a whole file."""

    parts: Iterator[bytes]
    first: Position
    bytes_read: Callable[[], int]

    @property
    def read(self) -> int:
        """Like ``Batch.read``."""
        return self.bytes_read()


class ByteStream:
    """Bytes that are read once, such as standard input, with their size and CRC-32 so far."""

    def __init__(self, parts: Iterable[bytes], name: str) -> None:
        self.name: Final = name
        self.size = self.crc = 0
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self.size += len(part)
            self.crc = zlib.crc32(part, self.crc)
            yield part


def find_files(inputs: Sequence[str | Path]) -> list[Path]:
    """The files that inputs name, in order; for a folder all supported files, sorted. Links in a
    folder are followed.

    Raises SourceError for an unsupported file, a pipe, a folder without supported files, and an
    input that does not exist.

    >>> find_files(["notes.txt"])
    Traceback (most recent call last):
      ...
    tokexport.errors.SourceError: notes.txt: there is no such file or folder
    """
    files = []
    for path in map(Path, inputs):
        if path.is_dir():
            found = sorted(_files_in(path))
            if not found:
                raise SourceError(f"{path}: no file in it is supported", f"use {SUPPORTED}")
            files += found
        elif path.is_fifo() or (str(path) == "-" and not path.exists()):
            raise SourceError(
                f"{path}: documents are read from files, and this is a pipe or standard input",
                "write it to a file, or give it to a command as standard input, alone (-)",
            )
        elif not path.exists():
            raise SourceError("there is no such file or folder", name=str(path))
        elif _kind(path) is None:
            raise SourceError(f"{path}: this kind of file is not supported", f"use {SUPPORTED}")
        else:
            files.append(path)
    return files


def repeated(files: Sequence[Path]) -> list[str]:
    """A note if documents are read more than once, whatever the paths."""
    times = Counter(map(os.path.realpath, files))
    names = [name for name, count in times.items() if count > 1]
    more = f" and {len(names) - 1:,} others" if len(names) > 1 else ""
    return [f"note: given, and read, more than once: {names[0]}{more}"] if names else []


def total_size(files: Sequence[Path]) -> int:
    """The size of files in bytes. UnreadableError for one that cannot be read."""
    total = 0
    for path in files:
        with reading(path):
            total += path.stat().st_size
    return total


def _files_in(folder: Path) -> Iterator[Path]:
    """The supported files in a folder; each folder in it once, as links may lead to it again.

    UnreadableError for a folder that cannot be read. A link to nothing is a file, an error later.
    """

    def fail(error: OSError) -> NoReturn:
        with reading(folder):
            raise error

    seen = {os.path.realpath(folder)}
    for parent, folders, names in os.walk(folder, onerror=fail, followlinks=True):
        paths = [Path(parent, name) for name in names]
        yield from (each for each in paths if _kind(each) and (each.is_file() or not each.exists()))
        for name in sorted(folders):
            real = os.path.realpath(Path(parent, name))
            if real in seen:
                folders.remove(name)
            seen.add(real)


def read_documents(
    files: Sequence[Path], *, field: str, lines: bool, start: Position
) -> Iterator[Batch | LongDocument]:
    """All documents of the files from ``start`` on, in batches.

    A .txt file is one document, or with ``lines`` each of its non-empty lines; a line of .jsonl and
    a row of .parquet hold one in ``field``. Raises SourceError, with file and line, for anything
    else, MissingLibraryError if a library is missing.
    """
    read = sum(path.stat().st_size for path in files[: start.file])
    small: list[str] = []
    first, held = start, 0

    def flushed() -> Iterator[Batch]:
        nonlocal small, held
        if small:
            yield Batch(small, len(small), first, read, whole_files=True)
            small, held = [], 0

    for number in range(start.file, len(files)):
        path = files[number]
        begin = Position(number, start.document if number == start.file else 0)
        kind = _kind(path)
        if kind == "text" and not lines:
            with reading(path), path.open("rb") as raw:
                document = _whole(path, raw, begin, read)
                if isinstance(document, LongDocument):
                    yield from flushed()
                    yield document
                else:
                    first = first if small else begin
                    small.append(document)
                    held += len(document) + TEXT_OVERHEAD
            read += path.stat().st_size
            if held >= BATCH_BYTES:
                yield from flushed()
            continue
        yield from flushed()
        if kind == PARQUET:
            yield from _parquet(path, field, begin, read)
        else:
            of_line = None if kind == "text" else field
            with reading(path), path.open("rb") as raw:
                file = decompressed(path, raw)
                reached = _reached(raw, file, read)
                yield from _lines(str(path), parts_of(path, file), of_line, begin, reached)
        read += path.stat().st_size
    yield from flushed()


def read_stream(
    stream: ByteStream, *, field: str | None, lines: bool
) -> Iterator[Batch | LongDocument]:
    """The documents of a stream: in ``field`` of its lines of JSON, or with ``lines`` each
    non-empty line; without either it is one document.

    Raises SourceError, with the line, for anything else; TokexportError for both ``field`` and
    ``lines``.
    """
    if field is not None and lines:
        raise TokexportError(
            "a stream is either lines of text (--lines) or lines of JSON (--field)", "choose one"
        )
    if field is None and not lines:
        return iter([LongDocument(iter(stream), Position(), lambda: stream.size)])
    return _lines(stream.name, iter(stream), field, Position(), lambda: stream.size)


def lone_surrogate(error: UnicodeEncodeError) -> TextError:
    """The error for a text that is not valid Unicode."""
    around = error.object[max(0, error.start - 10) : error.end + 10]
    return TextError(f"a text has a lone surrogate, invalid in UTF-8: {around!r}", "remove it")


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes[-1:] == [PARQUET]:
        return PARQUET
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return KINDS.get(suffixes[-1]) if suffixes else None


def _reached(raw: IO[bytes], file: IO[bytes], before: int) -> Callable[[], int]:
    """Returns the bytes read so far. Keeps ``file`` alive, whose deletion would close ``raw``."""

    def reached(held: IO[bytes] = file) -> int:
        return before + raw.tell()

    return reached


def _whole(path: Path, raw: IO[bytes], begin: Position, read: int) -> str | LongDocument:
    file = decompressed(path, raw)
    parts = parts_of(path, file)
    head = list(islice(parts, LONG_BYTES // PART))
    following = next(parts, None)
    if following is not None:
        return LongDocument(chain(head, [following], parts), begin, _reached(raw, file, read))
    try:
        return b"".join(head).decode()
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path}: not UTF-8 at byte {error.start:,}", "convert it to UTF-8"
        ) from error


def _lines(
    name: str,
    parts: Iterator[bytes],
    field: str | None,
    begin: Position,
    reached: Callable[[], int],
) -> Iterator[Batch]:
    texts: list[str] = []
    held, document, first = 0, 0, begin.document
    for number, line in enumerate(_split_lines(parts), 1):
        line = line.rstrip(b"\r\n")
        if not line.strip():
            continue
        document += 1
        if document <= begin.document:
            continue
        texts.append(_text_of(line, field, f"{name}:{number}"))
        held += len(line) + TEXT_OVERHEAD
        if held >= BATCH_BYTES:
            yield Batch(texts, len(texts), Position(begin.file, first), reached())
            first, texts, held = document, [], 0
    if texts:
        yield Batch(texts, len(texts), Position(begin.file, first), reached())


def _split_lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Lines, split at LF only, because bytes of other line ends may be part of a text."""
    pending: list[bytes] = []
    for part in parts:
        first, *others = part.split(b"\n")
        pending.append(first)
        for other in others:
            yield b"".join(pending)
            pending = [other]
    yield b"".join(pending)


def _text_of(line: bytes, field: str | None, place: str) -> str:
    try:
        if field is None:
            return line.decode()
        value = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except UnicodeDecodeError as error:
        raise SourceError(f"{place}: not UTF-8 at byte {error.start:,} of the line") from error
    except json.JSONDecodeError as error:
        problem = f"not a line of JSON at column {error.colno}: {error.msg}"
        raise SourceError(f"{place}: {problem}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{place}: not a line of JSON: {parse_problem(error)}") from error
    text = value.get(field) if isinstance(value, dict) else None
    if not isinstance(text, str):
        if isinstance(value, dict) and field in value:
            raise SourceError(
                f"{place}: the field {field!r} is {JSON_KINDS[type(text)]}, not a string",
                "name the field of the text with --field",
            )
        found = f"its fields are {', '.join(value)}" if isinstance(value, dict) else "not an object"
        raise SourceError(
            f"{place}: no text in the field {field!r}: {found}", "name it with --field"
        )
    return text


def _parquet(path: Path, field: str, begin: Position, read: int) -> Iterator[Batch]:
    pyarrow_for(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            types = [str(column.type) for column in file.schema_arrow if column.name == field]
            if len(types) != 1:
                names = ", ".join(file.schema_arrow.names)
                raise SourceError(
                    f"{path}: {len(types) or 'no'} columns are named {field!r}: its columns are"
                    f" {names}",
                    "name the column of the text with --field",
                )
            if types[0] not in ("string", "large_string"):
                raise SourceError(
                    f"{path}: the column {field!r} is of type {types[0]}, not string",
                    "name the column of the text with --field, or cast this one to string",
                )
            rows, size = max(file.metadata.num_rows, 1), path.stat().st_size
            counts = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
            done = sum(end <= begin.document for end in accumulate(counts))
            groups, at = range(done, len(counts)), sum(counts[:done])
            for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=[field]):
                column = batch.column(0)[max(0, begin.document - at) :]
                if column.null_count:
                    raise SourceError(
                        f"{path}: column {field!r} has rows without a text, the first after row"
                        f" {at:,}",
                        "drop them",
                    )
                first = Position(begin.file, max(at, begin.document))
                at += batch.num_rows
                if len(column):
                    yield Batch(column, len(column), first, read + size * at // rows)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path}: not a readable parquet file: {str(error).strip()}") from error
