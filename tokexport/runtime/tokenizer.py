"""A tokenizer that runs from a mapped tokexport file."""

import os

from tokexport._core import LEAST_CACHE, MOST_CACHE, USUAL_CACHE, Core, map_file

# Rarely needed modules are imported where they are used: importing dataclasses, enum, json, pathlib
# and typing here would delay the first ids tenfold. `from __future__ import annotations` also
# imports a module, so annotations are quoted here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path
    from typing import Any, Final, Literal, NoReturn, TypeAlias

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from tokexport.chat.frame import Frame
    from tokexport.runtime import batches, chat, decoding, offsets, prefixes
    from tokexport.special_tokens import AddedToken, SpecialIds

    Ids: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
    AllowedSpecial: TypeAlias = Literal["all"] | Collection[str]
    Unit: TypeAlias = Literal["char", "byte"]


MAGIC: "Final" = b"\x89TKX\r\n\x1a\n"
_HEADER_SIZE: "Final" = 64
# RecordFlag, AddedFlag and RECORD of the layout, whose import takes longer than opening a file.
KIND_MASK: "Final" = 3
KIND_MODEL: "Final" = 1
SPECIAL: "Final" = 4
ADDED_FLAGS: "Final" = (1, 2, 4, 8, 16)
RECORD: "Final" = (("offset", "<u4"), ("length", "<u2"), ("flags", "<u2"))
_MOST_THREADS: "Final" = 1 << 16


class _Method:
    """A method that is imported from a module of this package on first use."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner  # not a class that is derived from it

    def __get__(self, instance: object, owner: type) -> "Any":
        module = __import__(f"tokexport.runtime.{self._module}", fromlist=("",))
        method = getattr(module, self._name)
        setattr(self._owner, self._name, method)
        return method if instance is None else method.__get__(instance)


class _Module:
    """A module whose functions become methods of the same names."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> _Method:
        return _Method(self._name, function)


if not TYPE_CHECKING:  # a type checker sees the modules themselves
    batches, chat, decoding = _Module("batches"), _Module("chat"), _Module("decoding")
    offsets, prefixes = _Module("offsets"), _Module("prefixes")


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(asked: int | None) -> int:
    """The number asked for, or one per processor. TypeError or ValueError for an impossible one."""
    if asked is None:
        return processors()
    if not isinstance(asked, int):
        raise TypeError(f"num_threads must be an int or None, not {type(asked).__name__}")
    if asked < 1:
        raise ValueError(f"num_threads must be at least 1, not {asked}")
    return min(asked, _MOST_THREADS)


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    check: bool = True,
    cache_size: int = USUAL_CACHE,
) -> "Tokenizer":
    """Opens a tokexport file, or one embedded in a model's file, by path or as bytes.

    A file is mapped, not read: it must not change while the tokenizer is in use. A pipe is read.
    ``check=True`` first verifies the checksum of every section; ``check=False`` opens in a time
    that does not depend on the size, and is as safe: damage then causes a wrong id or an error,
    never a crash. ``cache_size``: the most bytes, from 1 MB to 1 GB, in which each thread stores
    what it has encoded, taken as texts need them; with less, large texts take longer.

    Raises ``FormatError`` for a file that is damaged, truncated, too new or not a tokexport file,
    and ``UnreadableError``, an ``OSError``, if it cannot be read.

    >>> load("example.bin").encode("hello world")
    [259, 264]
    """
    if not isinstance(cache_size, int):
        raise TypeError(f"cache_size must be an int, not {type(cache_size).__name__}")
    if not LEAST_CACHE <= cache_size <= MOST_CACHE:
        limits = f"from {LEAST_CACHE} to {MOST_CACHE} bytes"
        raise ValueError(f"cache_size must be {limits}, not {cache_size}")
    if isinstance(source, (bytes, bytearray, memoryview)):
        data: bytes | memoryview = bytes(source)
        path = None
        name = f"tokexport file of {len(data)} bytes"
    elif not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source must be a path or a file's bytes, not {type(source).__name__}")
    else:
        name = path = os.fspath(source)
        try:
            with open(path, "rb") as file:
                # An empty file cannot be mapped; the core has an error for it.
                size = os.fstat(file.fileno()).st_size
                data = map_file(file.fileno(), size) if size else b""
                if not file.seekable():  # a pipe: no path leads to its bytes again
                    data, path = file.read(), None
        except (OSError, ValueError) as error:  # ValueError: a null byte in the path
            from tokexport.errors import reading

            with reading(name):
                raise error if isinstance(error, OSError) else OSError(str(error)) from None
    if data[:8] != MAGIC:
        from tokexport.runtime.embedded import embedded

        data = embedded(data)
    core = Core(data, name, cache_size=cache_size)
    if check:
        core.check(whole=False)
    return Tokenizer(core, data, path, cache_size)


class Tokenizer:
    """A tokenizer over a tokexport file: immutable, usable from any number of threads, and
    picklable (by path, or by its bytes).

    Created by :func:`load`. The examples below use this one:

    >>> import tiktoken, tokexport
    >>> tokens = [b"he", b"ll", b"hell", b"hello", b" w", b"or", b" wor", b" worl", b" world"]
    >>> tokens = [*(bytes([i]) for i in range(256)), *tokens]
    >>> ranks = {token: rank for rank, token in enumerate(tokens)}
    >>> how = {"pat_str": r" ?\\w+|\\s|[^\\w\\s]+", "mergeable_ranks": ranks}
    >>> source = tiktoken.Encoding("example", **how, special_tokens={"<|end|>": 300})
    >>> conversion = tokexport.convert(source, "example.bin", prefix_index=True, force=True)
    >>> tokenizer = tokexport.load("example.bin")
    """

    __slots__ = ("_cache_size", "_core", "_data", "_encode", "_encode_numpy", "_path")

    _core: Core
    _encode: "Callable[[str, Any, bool], list[int]]"
    _encode_numpy: "Callable[[str, Any, bool], NDArray[np.uint32]]"
    _data: bytes | memoryview
    _path: str | None
    _cache_size: int

    def __init__(
        self, core: Core, data: bytes | memoryview, path: str | None, cache_size: int
    ) -> None:
        write = super().__setattr__
        write("_core", core)
        write("_encode", core.encode)
        write("_encode_numpy", core.encode_numpy)
        write("_data", data)
        write("_path", path)
        write("_cache_size", cache_size)

    def __setattr__(self, name: str, value: object) -> "NoReturn":
        raise AttributeError(f"a Tokenizer cannot be changed: {name} cannot be set")

    def __delattr__(self, name: str) -> "NoReturn":
        raise AttributeError(f"a Tokenizer cannot be changed: {name} cannot be deleted")

    @property
    def path(self) -> "Path | None":
        """The mapped file, or ``None``."""
        from pathlib import Path

        return None if self._path is None else Path(self._path)

    def _with_bulk_from(self, size: int) -> "Tokenizer":
        """A tokenizer of the same file with caches of its own, in which the bulk engine encodes all
        texts of at least ``size`` bytes, as far as it supports the file, and the C core all others.
        """
        core = Core(self._data, self._path or repr(self), size, cache_size=self._cache_size)
        return Tokenizer(core, self._data, self._path, self._cache_size)

    # ---- from text to ids

    # The two methods that are called for short texts have no keyword-only parameters: Python takes
    # 40 ns for the defaults of these, a fifth of a call with two words.

    def encode(
        self,
        text: str,
        allowed_special: "AllowedSpecial" = (),
        add_special_tokens: bool = False,
        num_threads: int | None = 1,
    ) -> list[int]:
        """The ids of a text.

        Special tokens in the text are plain text, unless ``allowed_special`` names them (``"all"``,
        or a collection of contents); added tokens that are not special are always found.
        ``add_special_tokens`` adds the ids that the source's post-processor adds. A long text can
        be encoded by ``num_threads`` threads (``None``: one per processor available to this
        process): it is cut only where no id can change; if there is no such position, one thread
        encodes it.

        Raises ``UnicodeEncodeError`` for a lone surrogate if the source's own library does, and
        ``ValueError`` for a name in ``allowed_special`` that is not an added token.

        >>> tokenizer.encode("hello world<|end|>", allowed_special={"<|end|>"})
        [259, 264, 300]
        >>> len(tokenizer.encode("hello world<|end|>"))
        9
        """
        if num_threads == 1:
            encode = self._encode  # Python calls a variable faster than an attribute
            return encode(text, allowed_special, add_special_tokens)
        threads = thread_count(num_threads)
        return self._core.encode_parallel(text, allowed_special, add_special_tokens, threads)

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text in which special tokens are plain text.

        >>> tokenizer.encode_ordinary("hello")
        [259]
        """
        encode = self._encode
        return encode(text, (), False)

    def encode_to_numpy(
        self,
        text: str,
        allowed_special: "AllowedSpecial" = (),
        add_special_tokens: bool = False,
        num_threads: int | None = 1,
    ) -> "NDArray[np.uint32]":
        """Like :meth:`encode`, but returns a numpy array of shape ``(ids,)``.

        >>> tokenizer.encode_to_numpy("hello world")
        array([259, 264], dtype=uint32)
        """
        if num_threads == 1:
            encode = self._encode_numpy
            return encode(text, allowed_special, add_special_tokens)
        threads = thread_count(num_threads)
        return self._core.encode_parallel_numpy(text, allowed_special, add_special_tokens, threads)

    def encode_bytes(
        self,
        data: bytes,
        *,
        allowed_special: "AllowedSpecial" = (),
        add_special_tokens: bool = False,
        num_threads: int | None = 1,
    ) -> list[int]:
        """Like :meth:`encode`, for UTF-8. Raises ``UnicodeDecodeError`` if it is not UTF-8.

        >>> tokenizer.encode_bytes(b"hello world")
        [259, 264]
        """
        if num_threads == 1 or not isinstance(data, bytes):
            return self._core.encode_bytes(data, allowed_special, add_special_tokens)
        threads = thread_count(num_threads)
        return self._core.encode_parallel(data, allowed_special, add_special_tokens, threads)

    def encode_pair(
        self,
        first: str,
        second: str,
        *,
        allowed_special: "AllowedSpecial" = (),
        add_special_tokens: bool = True,
    ) -> list[int]:
        """The ids of two texts, combined as by the source's post-processor, if it has one.

        >>> tokenizer.encode_pair("hello", " world")
        [259, 264]
        """
        return self._core.encode_pair(first, second, allowed_special, add_special_tokens)

    # ---- from text to ids and their offsets: offsets.py
    encode_with_offsets = offsets.encode_with_offsets
    encode_pair_with_offsets = offsets.encode_pair_with_offsets
    encode_with_offsets_to_numpy = offsets.encode_with_offsets_to_numpy

    # ---- from many texts, or a text in parts: batches.py
    encode_batch = batches.encode_batch
    encode_batch_to_numpy = batches.encode_batch_to_numpy
    encode_ordinary_batch = batches.encode_ordinary_batch
    encode_stream = batches.encode_stream

    # ---- from ids to text: decoding.py
    decode = decoding.decode
    decode_bytes = decoding.decode_bytes
    decode_batch = decoding.decode_batch
    decode_stream = decoding.decode_stream
    decode_bytes_stream = decoding.decode_bytes_stream
    decode_tokens_bytes = decoding.decode_tokens_bytes
    decode_single_token_bytes = decoding.decode_single_token_bytes
    decode_with_offsets = decoding.decode_with_offsets

    # ---- the vocabulary as a trie: prefixes.py
    prefix_ids = prefixes.prefix_ids
    prefix_trie = prefixes.prefix_trie

    # ---- conversations to ids: chat.py
    apply_chat_template = chat.apply_chat_template
    encode_chat = chat.encode_chat

    # ---- what the file contains

    @property
    def n_vocab(self) -> int:
        """Ids are ``0 .. n_vocab - 1``; some of them may be holes.

        >>> tokenizer.n_vocab
        301
        """
        return self._core.id_count

    @property
    def token_count(self) -> int:
        """The number of ids that are tokens.

        >>> tokenizer.token_count
        266
        """
        return self._core.token_count

    @property
    def added_tokens(self) -> "tuple[AddedToken, ...]":
        """The tokens that are found in a text before the model runs, special or not.

        >>> tokenizer.added_tokens[0].content
        '<|end|>'
        """
        from tokexport.special_tokens import AddedToken

        return tuple(
            AddedToken(id, content.decode(), *(bool(flags & flag) for flag in ADDED_FLAGS))
            for id, content, flags in self._core.added_tokens()
        )

    @property
    def special_tokens_set(self) -> set[str]:
        """The contents of the special tokens that ``allowed_special`` can name.

        >>> tokenizer.special_tokens_set
        {'<|end|>'}
        """
        return {token.content for token in self.added_tokens if token.special}

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of a token, special or not, by text or bytes; of an added token, if another token
        has the same bytes. Raises ``KeyError`` if none matches.

        >>> tokenizer.encode_single_token(" world"), tokenizer.encode_single_token("<|end|>")
        (264, 300)
        """
        content = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        id = self._core.token_id(content)
        if id is None:
            raise KeyError(text_or_bytes)
        return id

    def is_special_token(self, id: int) -> bool:
        """Whether ``skip_special_tokens`` leaves out an id; ``KeyError`` if it is out of range.

        >>> tokenizer.is_special_token(300)
        True
        """
        return bool(self._core.token_flags(id) & SPECIAL)

    @property
    def special_ids(self) -> "SpecialIds":
        """The ids with a role: ``bos``, ``eos``, ``pad``, ``unk`` (``None``: none), and ``stop``,
        all that end a generation.

        >>> tokenizer.special_ids.pad is None
        True
        """
        from tokexport.special_tokens import SpecialIds

        bos, eos, pad, unk = (self._core.special_id(role) for role in range(4))
        return SpecialIds(bos, eos, pad, unk, tuple(self._core.stop_ids()))

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``, or else the id that ends a text; ``KeyError`` if none."""
        try:
            return self.encode_single_token("<|endoftext|>")
        except KeyError:
            eos = self.special_ids.eos
            if eos is None:
                raise
            return eos

    def token_byte_values(self) -> list[bytes]:
        """The bytes of every token of the model, sorted, without added tokens.

        >>> tokenizer.token_byte_values()[-1]
        b'\\xff'
        """
        model = (self.records["flags"] & KIND_MASK) == KIND_MODEL
        return sorted(map(self._core.token_bytes, model.nonzero()[0].tolist()))

    @property
    def chat_template(self) -> str | None:
        """The chat template that came with the source, or ``None``."""
        from tokexport.runtime.metadata import chat_template

        return chat_template(self)

    @property
    def chat_templates(self) -> dict[str, str]:
        """The chat templates that came with the source, by name; the main one is ``default``.

        >>> tokenizer.chat_templates
        {}
        """
        from tokexport.runtime.metadata import chat_settings

        named, default = chat_settings(self, "templates"), self.chat_template
        return named if default is None else {"default": default, **named}

    @property
    def chat_frame(self) -> "Frame | None":
        """The fixed texts that the chat template puts between messages, if it does no more."""
        from tokexport.runtime.chat import chat_frame

        return chat_frame(self)

    @property
    def provenance(self) -> "dict[str, Any]":
        """Where the file came from: kind of source, SHA-256 of its files, reference, exporter.

        >>> sorted(tokenizer.provenance)
        ['exporter', 'reference', 'sha256', 'source']
        """
        from tokexport.runtime.metadata import metadata

        return {name: value for name, value in metadata(self).items() if name != "chat"}

    @property
    def records(self) -> "NDArray[np.void]":
        """One record per id (``offset``, ``length``, ``flags``), read-only and not copied.

        >>> int(tokenizer.records[264]["length"])
        6
        """
        records = self._view(b"RECS", [*RECORD])
        assert records is not None  # no file opens without it
        return records

    @property
    def scores(self) -> "NDArray[np.float32] | NDArray[np.float64] | None":
        """-ln(rank + 1) for each token with a merge and -1e6 for all others, or the scores of a
        Unigram model, read-only; ``None`` if the file has no scores.

        >>> tokenizer.scores is None or float(tokenizer.scores[0])
        -1000000.0
        """
        double = self._view(b"SC64", "<f8")
        return self._view(b"SCOR", "<f4") if double is None else double

    @property
    def ranks(self) -> "NDArray[np.uint32] | None":
        """The rank of each token's merge, read-only; ``None`` if ranks are in the order of ids."""
        return self._view(b"RANK", "<u4")

    def sections(self) -> list[tuple[str, int]]:
        """Tag and size in bytes of each section of the file.

        >>> tokenizer.sections()[0]
        ('RECS', 2408)
        """
        from tokexport.runtime.metadata import section_sizes

        return section_sizes(self._data)

    def to_bytes(self) -> bytes:
        """The bytes of the file, which :func:`load` accepts in another process or machine."""
        return bytes(self._data)

    def check(self) -> None:
        """Checks the whole file as ``tkx_check`` does: the checksums, which ``load`` verifies too,
        and that every key and pair in its indexes is found. Takes milliseconds.

        Raises ``FormatError`` at the first defect.
        """
        self._core.check(whole=True)

    def self_test(self) -> int:
        """Encodes the file's self-test texts, and compares the ids with the stored ones of the
        source's own library. Returns the number of texts.

        Raises ``FormatError`` at the first difference.
        """
        return self._core.self_test()

    def _view(self, tag: bytes, row: "DTypeLike") -> "NDArray[Any] | None":
        """A section as a read-only array, not copied; ``None`` if there is none."""
        import numpy as np

        extent = self._core.section(tag)
        if extent is None:
            return None
        dtype: np.dtype[Any] = np.dtype(row)
        return np.frombuffer(self._data, dtype, extent[1] // dtype.itemsize, extent[0])

    def __reduce__(self) -> "tuple[Any, ...]":
        source = self.to_bytes() if self._path is None else os.path.abspath(self._path)
        return _load_again, (source, bytes(self._data[:_HEADER_SIZE]), self._cache_size)

    def __copy__(self) -> "Tokenizer":
        return self

    def __deepcopy__(self, memo: "dict[int, Any]") -> "Tokenizer":
        return self

    def __repr__(self) -> str:
        count = self._core.token_count
        return f"<tokexport.Tokenizer {count:,} tokens, {self._path or 'from bytes'}>"


def _load_again(source: str | bytes, header: bytes, cache_size: int) -> Tokenizer:
    """The tokenizer of a pickle, which has the header of the file and its path or its bytes."""
    tokenizer = load(source, check=False, cache_size=cache_size)
    if tokenizer._data[:_HEADER_SIZE] != header:
        from tokexport.errors import FormatError

        hint = "pickle the tokenizer again, or load it by path"
        raise FormatError(f"{source!s}: not the file that was pickled", hint)
    return tokenizer
