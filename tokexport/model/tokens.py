"""The tokens of a large vocabulary, by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from tokexport.model.vocabulary import Token, TokenKind

KINDS: Final = (*TokenKind,)


@dataclass(frozen=True, eq=False)
class Tokens(Sequence[Token | None]):
    """A sequence of tokens whose fields are kept in columns: a quarter of a million objects would
    take most of the time of a conversion. A hole has ``None`` as its forms.

    >>> tokens = Tokens.of([Token(b"a"), None])
    >>> tokens[0] == Token(b"a"), tokens.contents
    (True, [b'a', None])
    """

    # What each id decodes to between others, as the first, and as the last: one list where these
    # are the same.
    contents: Sequence[bytes | None]
    firsts: Sequence[bytes | None]
    lasts: Sequence[bytes | None]
    # Places in KINDS.
    kinds: npt.NDArray[np.uint8]
    special: npt.NDArray[np.bool_]
    fallback: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, tokens: Iterable[Token | None]) -> Tokens:
        """The columns of tokens."""
        if isinstance(tokens, cls):
            return tokens
        rows = [*tokens]
        full = [token or Token(b"") for token in rows]
        forms = [token.forms for token in full]
        contents, firsts, lasts = (
            [
                None if token is None else some[place]
                for token, some in zip(rows, forms, strict=True)
            ]
            for place in range(3)
        )
        return cls(
            contents,
            contents if firsts == contents else firsts,
            contents if lasts == contents else lasts,
            np.array([KINDS.index(token.kind) for token in full], np.uint8),
            np.array([token.special for token in full], np.bool_),
            np.array([token.fallback for token in full], np.bool_),
        )

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The bytes of each content; -1 where there is a hole."""
        return np.array([-1 if data is None else len(data) for data in self.contents], np.int64)

    @cached_property
    def with_forms(self) -> Sequence[tuple[int, bytes, bytes, bytes]]:
        """The ids that decode to other bytes as the first or the last, with all three."""
        if self.firsts is self.contents and self.lasts is self.contents:
            return ()
        rows = zip(range(len(self)), self.contents, self.firsts, self.lasts, strict=True)
        return [row for row in rows if row[1] != row[2] or row[1] != row[3]]  # type: ignore[misc]

    def padded(self, count: int) -> Tokens:
        """The tokens, and holes up to ``count`` ids.

        >>> len(Tokens.of([Token(b"a")]).padded(3))
        3
        """
        holes = [None] * (count - len(self))
        contents = [*self.contents, *holes]
        firsts, lasts = (
            contents if column is self.contents else [*column, *holes]
            for column in (self.firsts, self.lasts)
        )
        return Tokens(
            contents,
            firsts,
            lasts,
            np.pad(self.kinds, (0, len(holes))),
            np.pad(self.special, (0, len(holes))),
            np.pad(self.fallback, (0, len(holes))),
        )

    def __len__(self) -> int:
        """How many ids there are, holes and all."""
        return len(self.contents)

    @overload
    def __getitem__(self, place: int) -> Token | None: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Token | None]: ...
    def __getitem__(self, place: int | slice) -> Token | Sequence[Token | None] | None:
        """The token of an id, or those of some."""
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        content, first, last = self.contents[place], self.firsts[place], self.lasts[place]
        if content is None:
            return None
        return Token(
            content,
            KINDS[self.kinds[place]],
            bool(self.special[place]),
            None if first == content else first,
            None if last == content else last,
            bool(self.fallback[place]),
        )

    def __iter__(self) -> Iterator[Token | None]:
        """All tokens."""
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether it is a sequence of the same tokens."""
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]
