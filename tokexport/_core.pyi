import mmap
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

import numpy
import numpy.typing

REPLACE_SURROGATES: int = 16

def displace(
    hashes: numpy.typing.NDArray[numpy.uint64],
    firsts: numpy.typing.NDArray[numpy.uint64],
    rooms: numpy.typing.NDArray[numpy.uint64],
    sizes: numpy.typing.NDArray[numpy.uint64],
    slot_count: int,
) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint16]] | None: ...
def double_array(
    keys: bytes,
    ends: numpy.typing.NDArray[numpy.uint64],
    ids: numpy.typing.NDArray[numpy.uint64],
    no_id: int,
) -> tuple[
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    numpy.typing.NDArray[numpy.uint64],
    int,
]: ...
def merges_of_contents(
    contents: bytes,
    ends: numpy.typing.NDArray[numpy.uint64],
    ids: numpy.typing.NDArray[numpy.uint64],
) -> numpy.typing.NDArray[numpy.uint64]: ...
def merges_of_strings(
    vocab: dict[str, int], merges: list[Any], prefix_size: int
) -> numpy.typing.NDArray[numpy.int64]: ...
def ways_of_merges(
    lefts: numpy.typing.NDArray[numpy.uint64],
    rights: numpy.typing.NDArray[numpy.uint64],
    ranks: numpy.typing.NDArray[numpy.uint64],
    products: numpy.typing.NDArray[numpy.uint64],
    symbols: numpy.typing.NDArray[numpy.uint64],
    id_count: int,
) -> (
    tuple[
        numpy.typing.NDArray[numpy.uint64],
        numpy.typing.NDArray[numpy.uint64],
        numpy.typing.NDArray[numpy.uint64],
    ]
    | int
): ...

class Core:
    def __init__(
        self, buffer: bytes | mmap.mmap | memoryview, name: str, bulk_from: int | None = None
    ) -> None: ...
    @property
    def encode(self, /) -> Callable[[str, Any, bool], list[int]]: ...
    @property
    def encode_numpy(self, /) -> Callable[[str, Any, bool], numpy.typing.NDArray[numpy.uint32]]: ...
    def encode_bytes(
        self, data: bytes, allowed: Literal["all"] | Collection[str], template: bool
    ) -> list[int]: ...
    def encode_pair(
        self, a: str, b: str, allowed: Literal["all"] | Collection[str], template: bool
    ) -> list[int]: ...
    def encode_batch(
        self,
        texts: Iterable[str],
        allowed: Literal["all"] | Collection[str],
        template: bool,
        threads: int,
    ) -> list[list[int]]: ...
    def encode_parallel(
        self,
        text: str | bytes,
        allowed: Literal["all"] | Collection[str],
        template: bool,
        threads: int,
    ) -> list[int]: ...
    def encode_parallel_numpy(
        self, text: str, allowed: Literal["all"] | Collection[str], template: bool, threads: int
    ) -> numpy.typing.NDArray[numpy.uint32]: ...
    def encode_flat(
        self, texts: Any, allowed: Literal["all"] | Collection[str], template: bool, threads: int
    ) -> tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint64]]: ...
    def encode_spans(
        self,
        texts: tuple[str, ...],
        allowed: Literal["all"] | Collection[str],
        template: bool,
        characters: bool,
    ) -> tuple[list[int], list[tuple[int, int]], list[int], list[int]]: ...
    def encode_spans_numpy(
        self,
        texts: tuple[str, ...],
        allowed: Literal["all"] | Collection[str],
        template: bool,
        characters: bool,
    ) -> tuple[
        numpy.typing.NDArray[numpy.uint32],
        numpy.typing.NDArray[numpy.uint32],
        numpy.typing.NDArray[numpy.uint32],
        numpy.typing.NDArray[numpy.uint32],
    ]: ...
    def decode(
        self,
        ids: Sequence[int] | numpy.typing.NDArray[numpy.integer[Any]],
        skip_special: bool,
        errors: str,
    ) -> str: ...
    def decode_bytes(
        self, ids: Sequence[int] | numpy.typing.NDArray[numpy.integer[Any]], skip_special: bool
    ) -> bytes: ...
    def decode_tokens_bytes(
        self, ids: Sequence[int] | numpy.typing.NDArray[numpy.integer[Any]], skip_special: bool
    ) -> list[bytes]: ...
    def token_bytes(self, id: int) -> bytes: ...
    def token_id(self, data: bytes) -> int | None: ...
    def token_flags(self, id: int) -> int: ...
    def added_tokens(self) -> list[tuple[int, bytes, int]]: ...
    def special_id(self, role: int) -> int | None: ...
    def stop_ids(self) -> list[int]: ...
    def section(self, tag: bytes) -> tuple[int, int] | None: ...
    def encode_chat(self, roles: list[int], texts: list[str]) -> list[int] | tuple[int, int]: ...
    def prefix_ids(self, prefix: bytes) -> tuple[int, int] | None: ...
    def prefix_children(self, begin: int, end: int, depth: int) -> list[tuple[int, int, int]]: ...
    def check(self) -> None: ...
    def self_test(self) -> int: ...
    @property
    def uses_bulk(self) -> bool: ...
    @property
    def id_count(self) -> int: ...
    @property
    def token_count(self) -> int: ...

def split_widths() -> list[int]: ...

class SplitText:
    def __init__(self, core: Core, width: int) -> None: ...
    def ends(self, text: bytes | memoryview) -> numpy.typing.NDArray[numpy.uint32] | None: ...

class WordCounter:
    def __init__(self, core: Core) -> None: ...
    def cut(self, data: bytes) -> int: ...
    def add(self, texts: Sequence[str], threads: int) -> None: ...
    def words_of_all(
        self, sorted: bool
    ) -> tuple[
        numpy.typing.NDArray[numpy.uint64],
        numpy.typing.NDArray[numpy.uint32],
        numpy.typing.NDArray[numpy.uint8],
    ]: ...
    def add_words(
        self,
        counts: numpy.typing.NDArray[numpy.uint64],
        lengths: numpy.typing.NDArray[numpy.uint32],
        bytes: numpy.typing.NDArray[numpy.uint8],
    ) -> None: ...
    def merges(
        self, count: int, tie_break: str, longest: int, progress: Callable[[int], object]
    ) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.uint64], int]: ...
    def word_count(self) -> int: ...
    def distinct_count(self) -> int: ...
    def byte_count(self) -> int: ...

class Stream:
    def __init__(self, core: Core, skip_special: bool, as_bytes: bool) -> None: ...
    @property
    def step(self, /) -> Callable[[int], Any]: ...
    def feed(self, ids: Sequence[int] | numpy.typing.NDArray[numpy.integer[Any]]) -> Any: ...
    def flush(self) -> Any: ...

class EncodeStream:
    def __init__(
        self, core: Core, allowed: Literal["all"] | Collection[str], template: bool
    ) -> None: ...
    def feed(self, part: str | bytes) -> numpy.typing.NDArray[numpy.uint32]: ...
    def finish(self) -> numpy.typing.NDArray[numpy.uint32]: ...
