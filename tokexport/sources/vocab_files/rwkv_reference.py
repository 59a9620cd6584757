"""RWKV's tokenizer as it is published: the longest token at each place, by a table in plain Python.

There is no library to ask; this follows ``rwkv_tokenizer.py`` of
https://github.com/BlinkDL/ChatRWKV.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import accumulate

from tokexport.sources.reference import Mode, ReferenceTokenizer


class RwkvReference(ReferenceTokenizer):
    """A vocabulary file, read and run in the published way."""

    library = "rwkv"
    version = "world"

    def __init__(self, data: bytes) -> None:
        self._tokens: dict[int, bytes] = {}
        for line in data.decode("utf-8").split("\n"):
            if line.strip():
                literal = line[line.index(" ") + 1 : line.rindex(" ")]
                value: str | bytes = ast.literal_eval(literal)
                self._tokens[int(line[: line.index(" ")])] = (
                    value if isinstance(value, bytes) else value.encode("utf-8")
                )
        self._ids = {token: number for number, token in self._tokens.items()}
        # For each first byte the lengths of the tokens that begin with it, longest first.
        lengths: list[set[int]] = [set() for _ in range(256)]
        for token in self._ids:
            if token:
                lengths[token[0]].add(len(token))
        self._lengths = [sorted(found, reverse=True) for found in lengths]

    def encode(self, text: str, special: bool) -> list[int]:
        """One text."""
        data = text.encode("utf-8")
        ids: list[int] = []
        at = 0
        while at < len(data):
            size = next(
                size for size in self._lengths[data[at]] if data[at : at + size] in self._ids
            )
            ids.append(self._ids[data[at : at + size]])
            at += size
        return ids

    def encode_batch(self, texts: Sequence[str], mode: Mode) -> list[list[int]]:
        """Many texts."""
        return [self.encode(text, False) for text in texts]

    def starts(self, text: str, mode: Mode) -> list[int]:
        """From the lengths of the tokens, which are the bytes of the text."""
        return [0, *accumulate(len(self._tokens[number]) for number in self.encode(text, False))][
            :-1
        ]

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool
    ) -> list[str]:
        """The bytes of the tokens, U+FFFD for what is no UTF-8."""
        return [
            b"".join(self._tokens[number] for number in ids).decode("utf-8", "replace")
            for ids in sequences
        ]

    def token_bytes(self, id: int) -> bytes | None:
        """The token's bytes."""
        return self._tokens[id]

    def ids(self) -> Sequence[int]:
        """The ids of the file."""
        return sorted(self._tokens)
