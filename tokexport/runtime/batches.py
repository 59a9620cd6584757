"""Methods of a tokenizer: from many texts, or from a text in parts, to ids."""

from __future__ import annotations

from tokexport._core import EncodeStream
from tokexport.runtime.tokenizer import thread_count

TYPE_CHECKING = False  # as in tokenizer.py
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal, Protocol

    import numpy as np
    from numpy.typing import NDArray

    from tokexport.runtime.tokenizer import AllowedSpecial, Tokenizer

    class ArrowArray(Protocol):
        """An array of strings in Arrow's memory layout."""

        def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
        def __getitem__(self, part: slice) -> ArrowArray: ...


def encode_batch(
    self: Tokenizer,
    texts: Iterable[str],
    *,
    num_threads: int | None = None,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
) -> list[list[int]]:
    """The ids of each text, encoded by ``num_threads`` threads (``None``: one per processor
    available to this process); long texts are cut as by :meth:`encode`.

    >>> tokenizer.encode_batch(["hello", "hello world"])
    [[259], [259, 264]]
    """
    threads = thread_count(num_threads)
    return self._core.encode_batch(texts, allowed_special, add_special_tokens, threads)


def encode_batch_to_numpy(
    self: Tokenizer,
    texts: Iterable[str] | ArrowArray,
    *,
    num_threads: int | None = None,
    allowed_special: AllowedSpecial = (),
    add_special_tokens: bool = False,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Like :meth:`encode_batch`, but returns two arrays: the ids of all texts, and
    ``len(texts) + 1`` offsets; the ids of text ``i`` are ``ids[offsets[i]:offsets[i + 1]]``.

    The texts may be an Arrow array of strings (pyarrow and others with ``__arrow_c_array__``),
    which is not copied, or a column of a pyarrow table. Raises ``ValueError`` if it contains
    nulls, or bytes that are not UTF-8.

    >>> tokenizer.encode_batch_to_numpy(["hello", "hello world"])
    (array([259, 259, 264], dtype=uint32), array([0, 1, 3], dtype=uint64))
    """
    threads = thread_count(num_threads)
    if joined := getattr(texts, "combine_chunks", None):  # of a pyarrow.ChunkedArray
        texts = joined()
    return self._core.encode_flat(texts, allowed_special, add_special_tokens, threads)


def encode_stream(
    self: Tokenizer,
    parts: Iterable[str | bytes],
    *,
    allowed_special: Literal["all"] | tuple[()] = (),
    add_special_tokens: bool = False,
) -> Iterator[NDArray[np.uint32]]:
    """Like :meth:`encode`, for a text in parts of any length: yields arrays of ids as soon as
    the ids are certain. The joined arrays are the ids of the joined parts.

    Memory use does not grow with the text, only with its longest word, except for tokenizers
    that can only encode a text as a whole. A part that is bytes may end within a character.
    Raises ``FormatError`` for a decode-only file, ``TextError`` if the text is not UTF-8.

    >>> [ids.tolist() for ids in tokenizer.encode_stream(["hello wo", "rld hello"])]
    [[259], [264], [32, 259]]
    """
    stream = EncodeStream(self._core, allowed_special, add_special_tokens)
    for part in whole_pairs(parts):
        if (ids := stream.feed(part)).size:
            yield ids
    if (ids := stream.finish()).size:
        yield ids


def encode_ordinary_batch(
    self: Tokenizer, texts: Iterable[str], *, num_threads: int | None = None
) -> list[list[int]]:
    """Like :meth:`encode_batch`; special tokens are plain text.

    >>> tokenizer.encode_ordinary_batch(["hello", " world"])
    [[259], [264]]
    """
    return self.encode_batch(texts, num_threads=num_threads)


def whole_pairs(parts: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """The same text, with no surrogate pair in two parts: a reference that replaces lone surrogates
    takes a pair for a character.
    """
    high = ""
    for part in parts:
        if not isinstance(part, str):
            yield high
            high = ""
        elif high or "\ud800" <= part[-1:] < "\udc00":
            part = high + part
            high = part[-1:] if "\ud800" <= part[-1:] < "\udc00" else ""
            part = part[: len(part) - len(high)]
        yield part
    yield high
