"""The vocabulary as a trie, for constrained decoding and token healing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokexport._core import Core
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
    _core: Core = field(repr=False, compare=False)
    _order: NDArray[np.uint32] = field(repr=False, compare=False)
    _begin: int = field(repr=False)
    _end: int = field(repr=False)

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def ids(self) -> NDArray[np.uint32]:
        """The ids that begin with the prefix, in the order of their bytes; read-only."""
        return self._order[self._begin : self._end]

    @property
    def ending(self) -> NDArray[np.uint32]:
        """The ids whose bytes are exactly the prefix: one, none, or several."""
        first = next(self.children(), None)
        return self._order[self._begin : self._end if first is None else first._begin]

    def children(self) -> Iterator[PrefixNode]:
        """The node of each possible next byte, in order. FormatError for a damaged file."""
        depth = len(self.prefix)
        for byte, begin, end in self._core.prefix_children(self._begin, self._end, depth):
            yield PrefixNode(self.prefix + bytes([byte]), self._core, self._order, begin, end)

    def child(self, byte: int) -> PrefixNode:
        """The node of a next byte, empty if no id continues with it. ValueError if not a byte."""
        return _node(self._core, self._order, self.prefix + bytes([byte]))


def prefix_node(tokenizer: Tokenizer, prefix: bytes) -> PrefixNode:
    """The node of a prefix. FormatError for a file without SORT."""
    order = tokenizer._view(b"SORT", "SORTED_ID")
    if order is None:
        raise FormatError(
            f"{file_name(tokenizer)}: the file has no index of prefixes; convert the source again"
            " with --prefix-index (prefix_index=True)"
        )
    return _node(tokenizer._core, order, prefix)


def _node(core: Core, order: NDArray[np.uint32], prefix: bytes) -> PrefixNode:
    found = core.prefix_ids(prefix)
    assert found is not None  # it has SORT
    return PrefixNode(prefix, core, order, *found)
