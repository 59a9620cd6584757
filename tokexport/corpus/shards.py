"""A folder of token shards: flat ids of uint16 or uint32, document offsets, and an index.

The format is described in ``formats/token-shards/README.md``.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final, Literal

import numpy as np
from construct import Const, Int32sl, Struct
from numpy.typing import NDArray

from tokexport.corpus.documents import Position
from tokexport.errors import FormatError, parse_problem
from tokexport.output import naming, replacing

DType = Literal["uint16", "uint32"]
Header = Literal["none", "llm.c"]

INDEX_NAME: Final = "index.json"
LOCK_NAME: Final = ".lock"  # exists while a process writes to the folder
VERSION: Final = 1
# Magic and version of llm.c's headers (dev/data/data_common.py), for GPT-2 and for Llama 3.
LLMC: Final = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
LLMC_HEADER: Final = Struct(
    "magic" / Int32sl, "version" / Int32sl, "token_count" / Int32sl, "zeros" / Const(bytes(1012))
)
LLMC_MOST: Final = 2**31 - 1  # tokens in a shard


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of ids, with an ``.idx`` file of the offsets of its documents."""

    file: str
    tokens: int
    documents: int


@dataclass(frozen=True, slots=True)
class Index:
    """The contents of a folder of shards, and the settings with which it was made."""

    settings: dict[str, Any]
    dtype: DType
    header: Header
    shards: tuple[Shard, ...] = ()
    next: Position = field(default_factory=Position)
    complete: bool = False

    @property
    def tokens(self) -> int:
        """The number of ids in all shards."""
        return sum(shard.tokens for shard in self.shards)

    @property
    def documents(self) -> int:
        """The number of documents in all shards."""
        return sum(shard.documents for shard in self.shards)


def read_index(folder: str | os.PathLike[str]) -> Index | None:
    """The index of a folder, or None if there is none. Raises FormatError if it is damaged."""
    path = Path(folder, INDEX_NAME)
    try:
        value = json.loads(path.read_bytes())
        if value.pop("version") != VERSION:
            raise FormatError(f"{path}: it has another version", "install a newer tokexport")
        totals = value.pop("tokens"), value.pop("documents")
        value["shards"] = tuple(Shard(**shard) for shard in value["shards"])
        index = Index(**{**value, "next": Position(**value["next"])})
        if totals != (index.tokens, index.documents):
            raise ValueError("its sums are wrong")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        problem = f"{path}: not an index of token shards: {parse_problem(error)}"
        raise FormatError(problem) from error
    return index


class ShardWriter:
    """Adds documents to a folder; a shard exists only once the index lists it.

    A shard is written to a temporary file, synced and renamed; then the same is done with the
    index, which lists the shard and the position of the next document. A killed process leaves at
    most files that no index lists, which the next run replaces. From the hundredth shard on, an
    index lists a hundredth more shards than the one before: time stays linear in their number.
    """

    def __init__(self, folder: Path, index: Index, shard_tokens: int) -> None:
        self.index = index
        self._listed = len(index.shards)  # in the file
        self._folder = folder
        self._most = min(shard_tokens, LLMC_MOST) if index.header == "llm.c" else shard_tokens
        self._file: IO[bytes] | None = None
        self.held = 0  # ids in the unfinished shard
        self._ends: list[NDArray[np.uint64]] = []

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with naming(self._folder, self._part):
                self._file.close()

    @property
    def tokens(self) -> int:
        """The number of ids added, including those of the unfinished shard."""
        return self.index.tokens + self.held

    def add(self, ids: NDArray[np.uint32]) -> None:
        """Adds ids of a document that does not end yet."""
        with naming(self._folder):
            if self._file is None:
                self._file = self._part.open("wb")
                self._file.write(self._header())  # its count is written at the end
            self._file.write(ids.astype(f"<u{2 if self.index.dtype == 'uint16' else 4}").data)
        self.held += len(ids)

    def end(self, ends: NDArray[np.uint64], after: Position) -> None:
        """Ends documents: those whose ids end at ``ends``, counted from the shard's first."""
        if self._file is None:  # a long document without ids
            self.add(np.zeros(0, np.uint32))
        self._ends.append(ends)
        if self.held >= self._most:
            self.close_shard(after)

    @property
    def room(self) -> int:
        """The number of ids until the shard is closed."""
        return self._most - self.held

    def close_shard(self, after: Position, *, complete: bool = False) -> None:
        """Adds the shard to the index, with the position of the next document."""
        shards = self.index.shards
        if self._file is not None:
            name = f"shard-{len(shards):05d}.bin"
            ends = np.concatenate([np.zeros(1, np.uint64), *self._ends])
            if self.held > LLMC_MOST and self.index.header == "llm.c":
                raise FormatError(f"{name}: a document has more ids than llm.c's header can count")
            with naming(self._folder):
                self._file.seek(0)
                self._file.write(self._header())
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                with replacing(Path(self._folder, name).with_suffix(".idx")) as file:
                    file.write(ends.astype("<u8").data)
                os.replace(self._part, self._folder / name)
            shards = (*shards, Shard(name, self.held, len(ends) - 1))
            self._file, self.held, self._ends = None, 0, []
        self.index = replace(self.index, shards=shards, next=after, complete=complete)
        if complete or len(shards) - self._listed > self._listed // 100:
            write_index(self._folder, self.index)
            self._listed = len(shards)

    @property
    def _part(self) -> Path:
        return self._folder / "shard.part"

    def _header(self) -> bytes:
        if self.index.header == "none":
            return b""
        magic, version = LLMC[self.index.dtype]
        values = {"magic": magic, "version": version, "token_count": self.held, "zeros": None}
        return bytes(LLMC_HEADER.build(values))


def write_index(folder: Path, index: Index) -> None:
    """Replaces the index of a folder atomically."""
    value = {"version": VERSION, **asdict(index), "tokens": index.tokens}
    value["documents"] = index.documents
    with replacing(folder / INDEX_NAME) as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")
