"""The vocabulary as a trie, for constrained decoding and token healing: methods of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokexport.errors import FormatError
from tokexport.runtime.metadata import file_name

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class PrefixNode:
    """A node of the vocabulary as a trie: the ids whose bytes begin with ``prefix``.

    Created by :meth:`Tokenizer.prefix_trie`. Its nodes are all views of one array of the file.
    """

    prefix: bytes
    _tokenizer: Tokenizer = field(repr=False, compare=False)
    _begin: int = field(repr=False)
    _end: int = field(repr=False)

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def ids(self) -> NDArray[np.uint32]:
        """The ids that begin with the prefix, in the order of their bytes; read-only."""
        order: NDArray[np.uint32] | None = self._tokenizer._view(b"SORT", "<u4")
        assert order is not None  # no node is made without it
        return order[self._begin : self._end]

    @property
    def ending(self) -> NDArray[np.uint32]:
        """The ids whose bytes are exactly the prefix: one, none, or several."""
        first = next(self.children(), None)
        return self.ids if first is None else self.ids[: first._begin - self._begin]

    def children(self) -> Iterator[PrefixNode]:
        """The node of each possible next byte, in order. FormatError for a damaged file."""
        place = self._begin, self._end, len(self.prefix)
        for byte, *found in self._tokenizer._core.prefix_children(*place):
            yield PrefixNode(self.prefix + bytes([byte]), self._tokenizer, *found)

    def child(self, byte: int) -> PrefixNode:
        """The node of a next byte, empty if no id continues with it. ValueError if not a byte."""
        return prefix_trie(self._tokenizer, self.prefix + bytes([byte]))


def prefix_ids(self: Tokenizer, prefix: bytes) -> NDArray[np.uint32]:
    """The ids whose bytes (:meth:`decode_single_token_bytes`) begin with a prefix, sorted by these
    bytes; not copied. Raises ``FormatError`` for a file without ``--prefix-index``.

    >>> tokenizer.prefix_ids(b"hel")
    array([258, 259], dtype=uint32)
    """
    return prefix_trie(self, prefix).ids


def prefix_trie(self: Tokenizer, prefix: bytes = b"") -> PrefixNode:
    """The vocabulary as a trie: the node of a prefix, or the root. Raises like `prefix_ids`.

    >>> [(node.prefix, node.ids.tolist()) for node in tokenizer.prefix_trie(b"h").children()]
    [(b'he', [256, 258, 259])]
    """
    if not isinstance(prefix, bytes):
        raise TypeError(f"prefix must be bytes, not {type(prefix).__name__}")
    found = self._core.prefix_ids(prefix)
    if found is None:
        hint = "convert the source again with --prefix-index (prefix_index=True)"
        raise FormatError(f"{file_name(self)}: the file has no index of prefixes", hint)
    return PrefixNode(prefix, self, *found)
