"""Counts the words of files of documents, each exactly once, even if the process is killed."""

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tokexport.corpus.documents import (
    Batch,
    ByteStream,
    InputFile,
    LongDocument,
    Position,
    find_files,
    read_documents,
    read_stream,
)
from tokexport.corpus.pipeline import read_ahead
from tokexport.errors import SourceError, TextError, TokexportError
from tokexport.output import locked, make_folder, resolve
from tokexport.training.counting import Run, Text, WordCounts
from tokexport.training.word_counts_file import read_word_counts, write_word_counts

# Text between two checkpoints; more if the file is large, so that most time goes to counting.
CHECKPOINT_BYTES: Final = 1 << 29
CHECKPOINT_FILES: Final = 16
SURROGATE: Final = re.compile("[\ud800-\udfff]")

# Called with the counts so far, and the bytes of the files read in this run.
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
    """Counts the words of the documents of ``inputs`` (files and folders) into the file ``target``.

    ``target`` is rewritten after every ``checkpoint_bytes`` of text, or 16 times its size if that
    is more. After a kill, a call with the same arguments resumes from there: no document is lost or
    counted twice. With ``add``, ``target`` may hold the counts of other files. ``pattern`` (None:
    that of ``target``, or nanochat's) and ``special_tokens`` are those of ``WordCounts``; of each
    document the first ``doc_cap`` characters count, and counting stops after the document that
    exceeds ``max_chars`` in total.

    Raises ``SourceError``, with file and line, for anything that cannot be read;
    ``TokexportError`` if ``target`` holds something else, or another process is writing it.

    >>> import pathlib
    >>> _ = pathlib.Path("a.txt").write_text("low lower low")
    >>> dict(count_files(["a.txt"], "words.counts").items())
    {b'low': 1, b' lower': 1, b' low': 1}
    """
    path = resolve(target, force=True)
    files = find_files([os.fspath(name) for name in inputs])
    run = Run(tuple(map(InputFile.of, files)), field, lines, doc_cap, max_chars)
    make_folder(path.parent)
    with locked(target, path.with_name(f"{path.name}.lock")):
        counts, run = _resumed(target, run, pattern, special_tokens, add=add)
        before = counts.runs
        counts.runs = (*before, run)
        if run.complete:
            return counts
        checkpoint, size = counts.text_bytes, path.stat().st_size if path.exists() else 0
        documents = read_documents(files, field=field, lines=lines, start=run.next)
        for after, read in count_documents(
            counts, documents, files, run, num_threads, progress=progress
        ):
            counts.runs = (*before, after)
            due = max(checkpoint_bytes, CHECKPOINT_FILES * size)
            if after.complete or counts.text_bytes - checkpoint >= due:
                size = write_word_counts(path, counts)
                checkpoint = counts.text_bytes
            progress(counts, read)
        return counts


def count_stream(
    parts: Iterable[bytes],
    target: str | os.PathLike[str],
    *,
    name: str = "standard input",
    pattern: str | None = None,
    special_tokens: Sequence[str] | None = None,
    add: bool = False,
    field: str | None = None,
    lines: bool = False,
    doc_cap: int | None = None,
    max_chars: int | None = None,
    num_threads: int | None = None,
    progress: Progress = lambda counts, read: None,
) -> WordCounts:
    """Counts the words of a stream of UTF-8 into the file ``target``, like ``count_files``. The
    stream is lines of JSON with a text in ``field``, or one document per line (``lines``), or else
    one document, cut at ``max_chars``.

    A stream cannot be resumed, so ``target`` is written only at its end: a killed process counts
    nothing. Raises like ``count_files``.

    >>> dict(count_stream([b"low low", b"er low"], "stream.counts").items())
    {b'low': 1, b' lower': 1, b' low': 1}
    """
    path = resolve(target, force=True)
    stream = ByteStream(parts, name)
    run = stream_run(field=field, lines=lines, doc_cap=doc_cap, max_chars=max_chars)
    make_folder(path.parent)
    with locked(target, path.with_name(f"{path.name}.lock")):
        counts, run = _resumed(target, run, pattern, special_tokens, add=add)
        documents = read_stream(stream, field=field, lines=lines)
        for after, read in count_documents(
            counts, documents, [name], run, num_threads, progress=progress
        ):
            run = after
            progress(counts, read)
        run = replace(run, files=(InputFile(name, stream.size, stream.crc),))
        counts.refuse_counted([run], str(target))
        counts.runs = (*counts.runs, run)
        write_word_counts(path, counts)
        return counts


def stream_run(
    *, field: str | None, lines: bool, doc_cap: int | None, max_chars: int | None
) -> Run:
    """The run over a stream."""
    if field is None and not lines and max_chars is not None:
        doc_cap = min(doc_cap or max_chars, max_chars)
    return Run((), field or "text", lines, doc_cap, max_chars)


def _resumed(
    target: str | os.PathLike[str],
    run: Run,
    pattern: str | None,
    special_tokens: Sequence[str] | None,
    *,
    add: bool,
) -> tuple[WordCounts, Run]:
    """The counts that a run adds to, without the run itself, and the run's state so far."""
    counts = read_word_counts(target) if os.path.exists(target) else None
    if counts is None:
        return WordCounts(pattern or "nanochat", special_tokens or ()), run
    specials = counts.special_tokens if special_tokens is None else special_tokens
    if run.files and counts.runs and counts.runs[-1].at_start() == run:
        run = counts.runs[-1]
        counts.runs = counts.runs[:-1]
    elif counts.runs and not counts.runs[-1].complete:
        raise TokexportError(
            f"{target}: counting was interrupted after {counts.runs[-1].documents:,} documents, and"
            " the files or options are not the same now",
            f"use the same ones to resume, or remove {target} to count from the start",
        )
    elif not add:
        raise TokexportError(
            f"{target} holds the counts of other files",
            "add to it (--add, add=True), or name another",
        )
    WordCounts(pattern or counts.pattern, specials).refuse_other(counts, str(target))
    counts.refuse_counted([run], str(target))
    return counts, run


def join_files(
    sources: Sequence[str | os.PathLike[str]], target: str | os.PathLike[str]
) -> WordCounts:
    """Joins the word counts of files into ``target``, a new file.

    Raises ``TokexportError`` if it exists, the settings differ, or two counted the same file.
    """
    first, *others = sources
    counts = read_word_counts(first)
    counts.refuse_incomplete(str(first))
    path = resolve(target, force=True)
    if path.exists():
        raise TokexportError(f"{target} exists already", "name a new file for the joined counts")
    for other in others:
        counts.join(read_word_counts(other), os.fspath(other))
    write_word_counts(path, counts)
    return counts


def count_documents(
    counts: WordCounts,
    documents: Iterator[Batch | LongDocument],
    names: Sequence[str | Path],
    run: Run,
    num_threads: int | None,
    seen: Seen = lambda text: None,
    progress: Progress = lambda counts, read: None,
) -> Iterator[tuple[Run, int]]:
    """Adds the documents of a run that are not yet counted; yields the run after each batch, and
    the bytes read. ``names`` are those of the files, for errors; ``seen`` is called with each text,
    or part of a long one; ``progress`` is called within long ones.
    """
    characters, read = run.characters, 0

    def see(text: str) -> str:
        nonlocal characters
        characters += len(text)
        seen(text)
        return text

    def is_full() -> bool:
        return run.max_chars is not None and characters > run.max_chars

    def report() -> None:
        if isinstance(batch, LongDocument):
            progress(counts, batch.read)

    for batch in read_ahead(documents):
        texts: list[Text] = []
        if isinstance(batch, LongDocument):
            name = str(names[batch.first.file])
            texts.append(map(see, capped(decoded(batch.parts, name), run.doc_cap)))
            after, count = Position(batch.first.file + 1), 1
        else:
            for text in strings(batch, names):
                texts.append(see(text[: run.doc_cap]))
                if is_full():
                    break
            after, count = batch.after(len(texts)), len(texts)
        try:
            counts.add(texts, num_threads=num_threads, progress=report)
        except TextError as error:
            raise SourceError(
                f"{_place(batch, names, texts)}: {error.problem}", error.hint
            ) from error
        run = replace(
            run, next=after, documents=run.documents + count, characters=characters,
            complete=is_full(),
        )  # fmt: skip
        read = batch.read
        yield run, read
        if run.complete:
            return
    yield replace(run, complete=True), max(read, sum(file.size for file in run.files))


def decoded(parts: Iterator[bytes], name: str) -> Iterator[str]:
    """Decodes the parts of a text. Raises SourceError if they are not UTF-8."""
    decoder, size = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for part in parts:
            size += len(part)
            yield decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = size - len(error.object) + error.start  # the object ends where the parts so far do
        raise SourceError(f"{name}: not UTF-8 at byte {at:,}", "convert it to UTF-8") from error


def strings(batch: Batch, names: Sequence[str | Path]) -> list[str]:
    """The texts of a batch: a list, or a column of Arrow. Raises SourceError if one is not UTF-8,
    which a library other than Arrow may have written.
    """
    column: Any = batch.texts
    if isinstance(column, list):
        return column
    try:
        found: list[str] = column.to_pylist()
        return found
    except UnicodeDecodeError:
        for number, text in enumerate(column):
            try:
                text.as_py()
            except UnicodeDecodeError as error:
                raise SourceError(f"{batch.name_of(number, names)}: {error}") from error
        raise


def capped(parts: Iterator[str], cap: int | None) -> Iterator[str]:
    """A text up to ``cap`` characters (None: all of it)."""
    for part in parts:
        yield part[:cap]
        if cap is not None and (cap := cap - len(part)) <= 0:
            return


def _place(batch: Batch | LongDocument, names: Sequence[str | Path], texts: Sequence[Text]) -> str:
    """Where the first text with a lone surrogate is."""
    for number, text in enumerate(texts):
        if isinstance(batch, Batch) and isinstance(text, str) and SURROGATE.search(text):
            return batch.name_of(number, names)
    return str(names[batch.first.file])
