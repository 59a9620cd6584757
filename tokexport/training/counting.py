"""Counts the words (pre-tokens) of texts by a compiled pattern."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from tokexport._core import Core, WordCounter
from tokexport.conversion import file_bytes
from tokexport.errors import TextError, UnsupportedError
from tokexport.model import Provenance
from tokexport.sources.tiktoken.encoding import build

# Of text that is counted together: enough for all threads, and little memory.
BATCH_CHARACTERS: Final = 1 << 22
BATCH_TEXTS: Final = 1 << 14

# A text, or the parts of one that is too long to be held.
Text = str | Iterator[str]


def word_counter(pattern: str) -> WordCounter:
    """Counts words by a regular expression. UnsupportedError for one that it cannot do."""
    ranks = {bytes((byte,)): byte for byte in range(256)}
    model = build("pattern", ranks, pattern, {}, Provenance("bytes"), spelling={})
    try:
        return WordCounter(Core(file_bytes(model), "pattern"))
    except ValueError:
        raise UnsupportedError(
            "pattern",
            f"the pattern {pattern!r} leaves out a part of a text, or needs a large automaton",
            "use a pattern whose matches cover all texts, as those with a name do",
        ) from None


def count(counter: WordCounter, texts: Iterable[Text], num_threads: int | None) -> Iterator[int]:
    """Adds the words of texts; gives the bytes of all texts after each batch of them.

    Raises TypeError for what is no str, TextError for a lone surrogate.
    """
    for batch in _batches(counter, texts):
        try:
            counter.add(batch, num_threads or os.cpu_count() or 1)
        except UnicodeEncodeError as error:
            raise _surrogate(error) from None
        yield counter.byte_count()


def _batches(counter: WordCounter, texts: Iterable[Text]) -> Iterator[list[str]]:
    batch: list[str] = []
    held = 0
    for text in texts:
        for part in _cut(counter, text) if isinstance(text, Iterator) else (text,):
            if not isinstance(part, str):
                raise TypeError(f"texts must hold str, not {type(part).__name__}")
            batch.append(part)
            held += len(part)
            if held >= BATCH_CHARACTERS or len(batch) >= BATCH_TEXTS:
                yield batch
                batch, held = [], 0
    if batch:
        yield batch


def _cut(counter: WordCounter, parts: Iterator[str]) -> Iterator[str]:
    """A text in parts that have the words of the whole."""
    pending = [next(parts, "")]
    for part in parts:
        try:
            data = part.encode()
        except UnicodeEncodeError as error:
            raise _surrogate(error) from None
        if end := counter.cut(data):
            yield "".join((*pending, data[:end].decode()))
            pending = []
        pending.append(data[end:].decode())
    yield "".join(pending)


def _surrogate(error: UnicodeEncodeError) -> TextError:
    around = error.object[max(0, error.start - 10) : error.end + 10]
    return TextError(f"a text has a lone surrogate, which UTF-8 cannot say: {around!r}; remove it")
