"""Counts the words of files of documents, once each, however often the process is killed."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tokexport.corpus.documents import Batch, LongDocument, Position, find_files, read_documents
from tokexport.corpus.pipeline import read_ahead
from tokexport.errors import SourceError, TextError, TokexportError
from tokexport.output import resolve
from tokexport.training.counting import Text, WordCounts
from tokexport.training.runs import Run
from tokexport.training.word_counts_file import SUFFIX, read_word_counts, write_word_counts

# Of text between two checkpoints; more where the file is large, so that most time goes to counting.
CHECKPOINT_BYTES: Final = 1 << 29
CHECKPOINT_FILES: Final = 16

# Called with the counts so far, and the bytes of the files that were read in this run.
Progress = Callable[[WordCounts, int], object]
Seen = Callable[[str], object]


def count_files(
    inputs: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Sequence[str] | None = None,
    add: bool = False,
    field: str = "text",
    lines: bool = False,
    doc_cap: int | None = None,
    max_chars: int | None = None,
    checkpoint_bytes: int = CHECKPOINT_BYTES,
    num_threads: int | None = None,
    progress: Progress = lambda counts, read: None,
) -> WordCounts:
    """Count the words of the documents of ``inputs`` (files and folders) into the file ``target``.

    ``target`` is written again after every ``checkpoint_bytes`` of text, or 16 times its size if
    that is more. A process that was killed goes on there when it is called with the same arguments:
    no document is lost or counted twice. With ``add``, ``target`` may hold the counts of other
    files. ``pattern`` (None: that of ``target``, or nanochat's) and ``special_tokens`` are those of
    ``WordCounts``; a document counts up to ``doc_cap`` characters, and the last one is that with
    which there are more than ``max_chars``.

    Raises ``SourceError`` for what cannot be read, with file and line; ``TokexportError`` where
    ``target`` holds something else.

    >>> import pathlib
    >>> _ = pathlib.Path("a.txt").write_text("low lower low")
    >>> dict(count_files(["a.txt"], "words.counts").items())
    {b'low': 1, b' lower': 1, b' low': 1}
    """
    path = Path(os.path.realpath(target))
    files = find_files([os.fspath(name) for name in inputs])
    run = Run.begin(files, field=field, lines=lines, doc_cap=doc_cap, max_chars=max_chars)
    if path.exists():
        counts = read_word_counts(path)
        specials = counts.special_tokens if special_tokens is None else special_tokens
        if counts.runs and counts.runs[-1].at_start() == run:
            run = counts.runs[-1]
            counts.runs = counts.runs[:-1]
        elif not add:
            counts.refuse_incomplete(str(target))
            raise TokexportError(
                f"{target} holds the counts of other files; add to it (--add, add=True), or name"
                " another"
            )
        WordCounts(pattern or counts.pattern, specials).refuse_other(counts, str(target))
        twice = {file for before in counts.runs for file in before.files} & {*run.files}
        if twice:
            names = ", ".join(sorted(file.path for file in twice))
            raise TokexportError(f"{target} has counted {names} already; name other files only")
    else:
        counts = WordCounts(pattern or "nanochat", special_tokens or ())
        resolve(target)
        path.parent.mkdir(parents=True, exist_ok=True)
    before = counts.runs
    counts.runs = (*before, run)
    if run.complete:
        return counts
    checkpoint = counts.text_bytes
    size = write_word_counts(path, counts)
    for after, read in count_documents(counts, files, run, num_threads):
        counts.runs = (*before, after)
        due = max(checkpoint_bytes, CHECKPOINT_FILES * size)
        if after.complete or counts.text_bytes - checkpoint >= due:
            size = write_word_counts(path, counts)
            checkpoint = counts.text_bytes
        progress(counts, read)
    return counts


def join_files(
    sources: Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    force: bool = False,
) -> WordCounts:
    """Join the word counts of files into ``target``.

    Raises ``TokexportError`` where they were made in different ways, or have a document twice.
    """
    path = resolve(target, force=force)
    first, *others = sources
    counts = read_word_counts(first)
    counts.refuse_incomplete(str(first))
    for other in others:
        counts.join(read_word_counts(other), os.fspath(other))
    write_word_counts(path, counts)
    return counts


def is_counts(name: str | os.PathLike[str]) -> bool:
    """Whether an input is a file of word counts, by its name."""
    return Path(name).suffix == SUFFIX


def count_documents(
    counts: WordCounts,
    files: Sequence[Path],
    run: Run,
    num_threads: int | None,
    seen: Seen = lambda text: None,
) -> Iterator[tuple[Run, int]]:
    """Adds the documents of a run that are not yet counted; gives the run after each batch of them,
    and the bytes read. ``seen`` is called with each text, or part of a long one.
    """
    characters = run.characters

    def see(text: str) -> None:
        nonlocal characters
        characters += len(text)
        seen(text)

    def is_full() -> bool:
        return run.max_chars is not None and characters > run.max_chars

    documents = read_documents(files, field=run.field, lines=run.lines, start=run.next)
    for batch in read_ahead(documents):
        texts: list[Text] = []
        if isinstance(batch, LongDocument):
            name = str(files[batch.first.file])
            texts.append(passing(capped(decoded(batch.parts, name), run.doc_cap), see))
            after, count = Position(batch.first.file + 1), 1
        else:
            for text in strings(batch.texts):
                text = text[: run.doc_cap]
                see(text)
                texts.append(text)
                if is_full():
                    break
            after, count = batch.after(len(texts)), len(texts)
        try:
            counts.add(texts, num_threads=num_threads)
        except TextError as error:
            raise SourceError(f"{_place(batch, files, texts)}: {error}") from error
        run = replace(
            run, next=after, documents=run.documents + count, characters=characters,
            complete=is_full(),
        )  # fmt: skip
        yield run, batch.read
        if run.complete:
            return
    yield replace(run, complete=True), sum(file.size for file in run.files)


def decoded(parts: Iterator[bytes], name: str) -> Iterator[str]:
    """The parts of a text. Raises SourceError where they are not UTF-8."""
    try:
        yield from codecs.iterdecode(parts, "utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{name}: not UTF-8: {error.reason}; convert it first") from error


def strings(texts: Any) -> list[str]:
    """The texts of a batch: a list, or a column of Arrow."""
    found: list[str] = texts if isinstance(texts, list) else texts.to_pylist()
    return found


def capped(parts: Iterator[str], cap: int | None) -> Iterator[str]:
    """A text up to ``cap`` characters (None: all of it)."""
    for part in parts:
        yield part[:cap]
        if cap is not None and (cap := cap - len(part)) <= 0:
            return


def passing(parts: Iterator[str], seen: Seen) -> Iterator[str]:
    """The same parts, each of which ``seen`` is called with."""
    for part in parts:
        seen(part)
        yield part


def _place(batch: Batch | LongDocument, files: Sequence[Path], texts: Sequence[Text]) -> str:
    """Where the first text with a lone surrogate is."""
    for number, text in enumerate(texts):
        if isinstance(batch, Batch) and isinstance(text, str) and not _is_utf8(text):
            place = batch.after(number)
            return f"{files[place.file]}: document {place.document + 1:,}"
    return str(files[batch.first.file])


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
