"""Counts the words (pre-tokens) of texts by a compiled pattern."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from tokexport._core import Core, WordCounter
from tokexport.conversion import file_bytes
from tokexport.corpus.documents import InputFile, Position, lone_surrogate
from tokexport.errors import TokexportError, UnsupportedError
from tokexport.model import Provenance
from tokexport.runtime.tokenizer import thread_count
from tokexport.sources.tiktoken.encoding import build
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.sources.tiktoken.ranks import regular_expression

# The text that is counted together: enough for all threads, and little memory.
BATCH_CHARACTERS: Final = 1 << 22
BATCH_TEXTS: Final = 1 << 14
START: Final = Position()

# A text, or the parts of a text too long for memory.
Text = str | Iterator[str]


@dataclass(frozen=True, slots=True)
class Run:
    """One run over files: the files, the settings, and the next document to count."""

    files: tuple[InputFile, ...]
    field: str
    lines: bool
    doc_cap: int | None
    max_chars: int | None
    next: Position = START
    documents: int = 0
    characters: int = 0
    complete: bool = False

    @classmethod
    def read(cls, value: dict[str, Any]) -> Run:
        """The run from the object of ``asdict``. TypeError or KeyError for another one."""
        files = tuple(InputFile(**file) for file in value["files"])
        return cls(**{**value, "files": files, "next": Position(**value["next"])})

    def at_start(self) -> Run:
        """The same run before its first document."""
        return replace(self, next=START, documents=0, characters=0, complete=False)


class WordCounts:
    """The distinct words of texts, and how often each occurs.

    ``pattern`` is a known name or a regular expression. Texts are cut at ``special_tokens``, which
    are not counted; special tokens that are not listed are plain text. ``runs`` records the files
    of the words. Memory grows only with the distinct words. Raises UnsupportedError for a pattern
    that is not supported or whose words cannot be counted.

    >>> counts = WordCounts("gpt2", ["<|end|>"])
    >>> counts.add(["a b<|end|>b", "b"])
    >>> dict(counts.items())
    {b'a': 1, b' b': 1, b'b': 2}
    """

    def __init__(self, pattern: str = "nanochat", special_tokens: Sequence[str] = ()) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"pattern must be a str, not {type(pattern).__name__}")
        known = KNOWN.get(pattern)
        self.pattern: Final = known.pattern if known else regular_expression(pattern)
        self.special_tokens: Final = checked(special_tokens)
        self.ordered = True  # words are in the order of the texts
        self.runs: tuple[Run, ...] = ()
        self.native: Final = WordCounter(_core_of(self.pattern))
        self._specials = _Specials(self.special_tokens) if self.special_tokens else None

    @property
    def words(self) -> int:
        """The number of words in the texts."""
        return self.native.word_count()

    @property
    def distinct_words(self) -> int:
        """The number of distinct words."""
        return self.native.distinct_count()

    @property
    def text_bytes(self) -> int:
        """The number of bytes in the words."""
        return self.native.byte_count()

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Each distinct word and its count, in the order of the texts (``ordered``) or sorted."""
        counts, lengths, content = self.native.words_of_all(not self.ordered)
        at = 0
        for count, length in zip(counts.tolist(), lengths.tolist(), strict=True):
            yield content[at : at + length].tobytes(), count
            at += length

    def add(
        self,
        texts: Iterable[Text],
        *,
        num_threads: int | None = None,
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Adds the words of texts; calls ``progress`` after each batch.

        Raises TypeError for a text that is not a str, TextError for a lone surrogate.
        """
        for batch in self._batches(texts):
            try:
                self.native.add(batch, thread_count(num_threads))
            except UnicodeEncodeError as error:
                raise lone_surrogate(error) from None
            progress()

    def join(self, other: WordCounts, name: str = "the other") -> None:
        """Adds the words of other counts; errors call them ``name``.

        Raises TokexportError if they were made with other settings, or from a file counted here.
        """
        self.refuse_other(other, name)
        self.refuse_counted(other.runs, name)
        self.native.add_words(*other.native.words_of_all(not other.ordered))
        self.ordered = self.ordered and other.ordered
        self.runs += other.runs

    def refuse_other(self, other: WordCounts, name: str) -> None:
        """Raises TokexportError if other counts have other settings, or are incomplete."""
        if self.pattern != other.pattern:
            raise TokexportError(
                f"{name}: its words were counted with the pattern {other.pattern!r}, not with"
                f" {self.pattern!r}",
                "count the texts again",
            )
        if set(self.special_tokens) != set(other.special_tokens):
            raise TokexportError(
                f"{name}: its texts were cut at {_named(other.special_tokens)}, not at"
                f" {_named(self.special_tokens)}",
                "count the texts again",
            )
        other.refuse_incomplete(name)

    def refuse_counted(self, runs: Iterable[Run], name: str) -> None:
        """Raises TokexportError if a file of other runs, which errors call ``name``, is counted."""
        counted = {file.real() for run in self.runs for file in run.files}
        twice = {file.path for run in runs for file in run.files if file.real() in counted}
        if twice:
            verb = "is" if len(twice) == 1 else "are"
            raise TokexportError(
                f"{name}: {', '.join(sorted(twice))} {verb} counted already, with the same content",
                "name only other texts",
            )

    def refuse_incomplete(self, name: str) -> None:
        """Raises TokexportError if a run over files was interrupted."""
        for run in self.runs:
            if not run.complete:
                raise TokexportError(
                    f"{name}: counting was interrupted after {run.documents:,} documents",
                    "run the same `tokexport count` again to resume",
                )

    def _batches(self, texts: Iterable[Text]) -> Iterator[list[str]]:
        batch: list[str] = []
        held = 0
        for text in texts:
            for part in self._parts(text):
                if not isinstance(part, str):
                    raise TypeError(f"texts must hold str, not {type(part).__name__}")
                batch.append(part)
                held += len(part)
                if held >= BATCH_CHARACTERS or len(batch) >= BATCH_TEXTS:
                    yield batch
                    batch, held = [], 0
        if batch:
            yield batch

    def _parts(self, text: Text) -> Iterable[str]:
        """A text in parts that together have the words of the whole."""
        if isinstance(text, Iterator):
            return self._cut(self._specials.divided(text) if self._specials else text)
        if self._specials and isinstance(text, str):
            return self._specials.split(text)
        return (text,)

    def _cut(self, parts: Iterator[str] | Iterator[str | None]) -> Iterator[str]:
        pending = [next(parts, "") or ""]
        for part in parts:
            if part is None:  # a special token
                yield "".join(pending)
                pending = []
                continue
            try:
                data = part.encode()
            except UnicodeEncodeError as error:
                raise lone_surrogate(error) from None
            if end := self.native.cut(data):
                yield "".join((*pending, data[:end].decode()))
                pending = []
            pending.append(data[end:].decode())
        yield "".join(pending)


class _Specials:
    """Cuts texts at special tokens: at the leftmost match, the longest at that position."""

    def __init__(self, contents: Sequence[str]) -> None:
        longest_first = sorted(contents, key=len, reverse=True)
        self._longest = len(longest_first[0])
        self._expression = re.compile("|".join(map(re.escape, longest_first)))

    def split(self, text: str) -> list[str]:
        """The text between special tokens."""
        return self._expression.split(text)

    def divided(self, parts: Iterator[str]) -> Iterator[str | None]:
        """The parts of a text, with None in place of each special token."""
        pending = ""
        for part in parts:
            pending += part
            known = len(pending) - self._longest  # a token that begins up to here is complete
            start = 0
            for match in self._expression.finditer(pending):
                if match.start() > known:
                    break
                yield pending[start : match.start()]
                yield None
                start = match.end()
            end = max(start, known + 1)
            yield pending[start:end]
            pending = pending[end:]
        for number, part in enumerate(self.split(pending)):
            if number:
                yield None
            yield part


def checked(special_tokens: Iterable[str]) -> tuple[str, ...]:
    """Special tokens. Raises TokexportError for an empty or repeated one, or a lone surrogate,
    TypeError for a single str, or for anything else in them.
    """
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens must be several special tokens, not str")
    found = tuple(special_tokens)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"special_tokens must hold str, not {type(name).__name__}")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise TokexportError(
                f"the special token {name!r} has a lone surrogate, invalid in UTF-8", "remove it"
            ) from None
    wrong = [name for name, times in Counter(found).items() if times > 1 or not name]
    if wrong:
        raise TokexportError(f"special tokens must differ, and none may be empty: {wrong[0]!r}")
    return found


@lru_cache(8)
def _core_of(pattern: str) -> Core:
    """The core of a tokenizer of bytes; compiled once for the counts of many files.

    Raises UnsupportedError if WordCounter does not support the pattern.
    """
    ranks = {bytes((byte,)): byte for byte in range(256)}
    model = build("pattern", ranks, pattern, {}, Provenance("bytes"), spelling={})
    core = Core(file_bytes(model), "pattern")
    try:
        WordCounter(core)
    except ValueError:
        raise UnsupportedError(
            "pattern",
            f"the pattern {pattern!r} leaves out a part of a text, or needs a large automaton",
            "use a pattern whose matches cover all texts, as the named ones do",
        ) from None
    return core


def _named(special_tokens: Sequence[str]) -> str:
    if not special_tokens:
        return "no special token"
    noun = "token" if len(special_tokens) == 1 else "tokens"
    return f"the special {noun} {', '.join(special_tokens)}"
