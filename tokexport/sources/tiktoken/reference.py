"""The `tiktoken` library (OpenAI) as a reference."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Literal

from tokexport.errors import SourceError
from tokexport.model import AddedToken
from tokexport.sources.json_node import show
from tokexport.sources.reference import (
    PANIC,
    Mode,
    ReferenceStopsError,
    ReferenceTokenizer,
    needs_library,
    refusal,
)

with needs_library("tiktoken"):
    import tiktoken


class TiktokenReference(ReferenceTokenizer):
    """An encoding, made here from ranks, a pattern and special tokens, or given by the caller."""

    library = "tiktoken"
    version = tiktoken.__version__
    modes = (Mode.TEXT, Mode.IDS, Mode.SOME)  # the library has no post-processor

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        # Not with encode_single_token: a special token can have the bytes of another token.
        self._special = dict(sorted(encoding._special_tokens.items(), key=lambda item: item[1]))
        self._allowed = {
            Mode.TEXT: frozenset[str](),
            Mode.IDS: frozenset(self._special),
            Mode.SOME: frozenset([*self._special][::2]),
        }

    @classmethod
    def from_ranks(
        cls, data: bytes, pattern: str, special_tokens: dict[str, int]
    ) -> TiktokenReference:
        """Makes the encoding of a rank file, whose lines are parsed as in the library."""
        lines = [line.split() for line in data.splitlines() if line]
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        if len(ranks) < len(lines):
            raise SourceError("two lines of the ranks hold the same token")
        return cls.from_parts(ranks, pattern, special_tokens)

    @classmethod
    def from_parts(
        cls, ranks: dict[bytes, int], pattern: str, special_tokens: dict[str, int]
    ) -> TiktokenReference:
        """Makes the encoding. SourceError if the library refuses the pattern or the ranks."""
        try:
            encoding = tiktoken.Encoding(
                "reference", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
            )
        except (ValueError, AssertionError) as error:
            raise cls._refusal(pattern, error) from error
        return cls(encoding)

    @classmethod
    def _refusal(cls, pattern: str, error: Exception) -> SourceError:
        """Names the pattern if the library refuses it with any ranks."""
        try:
            tiktoken.Encoding("p", pat_str=pattern, mergeable_ranks={b"a": 0}, special_tokens={})
        except ValueError:
            where = f"the pattern {show(pattern)}"
            problem = refusal(where, cls.library, cls.version, error).problem.strip()
            hint = "correct this regular expression, or give ranks a known name (--pattern NAME)"
            return SourceError(problem, hint)
        return refusal("the encoding", cls.library, cls.version, error)

    def allowed_special(self, mode: Mode) -> Literal["all"] | frozenset[str]:
        return self._allowed[mode]

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Many texts, one by one: for short ones the library's threads cost more than they save."""
        try:
            if mode is Mode.TEXT:
                return [self._encoding.encode_ordinary(text) for text in texts]
            encode, allowed = self._encoding.encode, self._allowed[mode]
            return [encode(text, allowed_special=allowed, disallowed_special=()) for text in texts]
        except BaseException as error:  # at an empty match of its pattern
            if type(error).__name__ == PANIC:
                raise ReferenceStopsError(str(error)) from None
            raise

    def decode_batch(self, batch: Sequence[Sequence[int]], skip_special_tokens: bool) -> list[str]:
        """Ids to text. The library cannot skip, so special ids are removed first."""
        skipped = set(self._special.values()) if skip_special_tokens else set()
        return [self._encoding.decode([id for id in ids if id not in skipped]) for ids in batch]

    def token_bytes(self, id: int) -> bytes | None:
        return self._encoding.decode_single_token_bytes(id)

    def ids(self) -> Sequence[int]:
        """The ranks and the special tokens; unused ids between them are holes."""
        return sorted({*self._encoding._mergeable_ranks.values(), *self._special.values()})

    def added_tokens(self) -> Sequence[AddedToken]:
        return [AddedToken(id, content, True) for content, id in self._special.items()]
