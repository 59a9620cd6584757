"""The tokens of a large vocabulary, by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from tokexport.model.byte_strings import ByteStrings, Numbers, Suffixes
from tokexport.model.vocabulary import Token, TokenKind

KINDS: Final = (*TokenKind,)


@dataclass(frozen=True, eq=False)
class Tokens(Sequence[Token | None]):
    """A sequence of tokens with their fields in columns: a quarter of a million objects would take
    most of the time of a conversion. A hole decodes to no bytes.

    >>> tokens = Tokens.of([Token(b"a"), None])
    >>> tokens[0] == Token(b"a"), [*tokens.contents], tokens.is_hole.tolist()
    (True, [b'a', b''], [False, True])
    """

    # What ids decode to between others, first and last: one object where these are equal.
    contents: ByteStrings
    firsts: ByteStrings | Suffixes
    lasts: ByteStrings
    is_hole: npt.NDArray[np.bool_]
    # Indexes in KINDS.
    kinds: npt.NDArray[np.uint8]
    special: npt.NDArray[np.bool_]
    fallback: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, tokens: Iterable[Token | None]) -> Tokens:
        if isinstance(tokens, cls):
            return tokens
        rows = [*tokens]
        full = [token or Token(b"") for token in rows]
        contents, firsts, lasts = (
            ByteStrings.of(token.forms[index] for token in full) for index in range(3)
        )
        return cls(
            contents,
            contents if firsts == contents else firsts,
            contents if lasts == contents else lasts,
            np.array([token is None for token in rows], np.bool_),
            np.array([KINDS.index(token.kind) for token in full], np.uint8),
            np.array([token.special for token in full], np.bool_),
            np.array([token.fallback for token in full], np.bool_),
        )

    @classmethod
    def joined(cls, contents: Mapping[int, bytes], added: Collection[int] = ()) -> Tokens:
        """Tokens whose bytes are only joined, by id; those with the ids ``added`` are special."""
        ids = range(max(contents) + 1)
        strings = ByteStrings.of(contents.get(id, b"") for id in ids)
        is_hole = np.array([id not in contents for id in ids], np.bool_)
        special, fallback = np.zeros((2, len(ids)), np.bool_)
        special[[*added]] = True
        kinds = np.where(special, KINDS.index(TokenKind.ADDED), KINDS.index(TokenKind.MODEL))
        return cls(strings, strings, strings, is_hole, kinds.astype(np.uint8), special, fallback)

    @property
    def with_forms(self) -> Numbers:
        """The ids that decode to different bytes as the first or the last id."""
        columns = [column for column in (self.firsts, self.lasts) if column is not self.contents]
        if len(columns) == 1:
            return columns[0].indices_of_others(self.contents)
        differs = np.zeros(len(self), np.bool_)
        for column in columns:
            differs[column.indices_of_others(self.contents)] = True
        return np.flatnonzero(differs)

    def __len__(self) -> int:
        return len(self.contents)

    @overload
    def __getitem__(self, index: int) -> Token | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Token | None]: ...
    def __getitem__(self, index: int | slice) -> Token | Sequence[Token | None] | None:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        flags = self.is_hole[index], self.kinds[index], self.special[index], self.fallback[index]
        return _token(self.contents[index], self.firsts[index], self.lasts[index], *flags)

    def __iter__(self) -> Iterator[Token | None]:
        # As Python's own objects: reading each column at each index takes five times as long.
        flags = self.is_hole, self.kinds, self.special, self.fallback
        columns = (column.tolist() for column in flags)
        return map(_token, self.contents, self.firsts, self.lasts, *columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


def _token(
    content: bytes,
    first: bytes,
    last: bytes,
    is_hole: bool,
    kind: int,
    special: bool,
    fallback: bool,
) -> Token | None:
    if is_hole:
        return None
    return Token(
        content,
        KINDS[kind],
        bool(special),
        None if first == content else first,
        None if last == content else last,
        bool(fallback),
    )
