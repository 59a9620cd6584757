"""tokexport train: texts in, a tokenizer out."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from tokexport.cli.console import (
    ProgressLine,
    bytes_value,
    json_option,
    note,
    plural,
    quiet_option,
    quoted,
    say,
    say_json,
    size,
)
from tokexport.corpus.documents import PART, LongDocument, Position, find_files, read_documents
from tokexport.errors import SourceError
from tokexport.output import resolve
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.training.train import TIE_BREAKS, train_from_iterator
from tokexport.training.trained import FILES

LONGEST_SHOWN = 8


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--vocab-size", type=click.IntRange(1), metavar="N", required=True, help="All ids.")
@click.option("-o", "--output", "folder", required=True, metavar="DIR", help="The files' folder.")
@click.option(
    "--pattern", default="nanochat", metavar="NAME", help=f"{', '.join(KNOWN)}; or a regex."
)
@click.option(
    "--special-token", "special_tokens", multiple=True, metavar="T", help="Its id is last."
)
@click.option("--tie-break", type=click.Choice(TIE_BREAKS), default=TIE_BREAKS[0])
@click.option("--max-chars", type=click.IntRange(1), metavar="N", help="Stop after so many.")
@click.option("--doc-cap", type=click.IntRange(1), metavar="N", help="Characters of a document.")
@click.option("--field", default="text", help="Where a line or a row has its text.  [text]")
@click.option("--lines", is_flag=True, help="Each line of a .txt file is a document.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="[one a processor]")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@quiet_option
@json_option
def train(
    inputs: tuple[str, ...],
    folder: str,
    threads: int | None,
    max_chars: int | None,
    doc_cap: int | None,
    field: str,
    lines: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Learns a byte-level BPE tokenizer from texts.

    INPUT is what `tokexport tokenize` reads: .txt, .jsonl, .parquet, compressed or not, a folder of
    them; or - for a text on standard input. Memory grows with the distinct words alone. The
    vocabulary counts the 256 bytes and the special tokens, which are plain text in the texts. DIR
    gets tokenizer.bin, tokenizer.json, ranks.tiktoken and merges.tsv, which give the same ids.

    \b
    tokexport train corpus/ --vocab-size 32768 -o tokenizer --special-token '<|bos|>'
    tokexport train *.parquet --vocab-size 65536 -o tokenizer --max-chars 2000000000
    """
    for name in FILES:
        resolve(Path(folder) / name, force=force)
    files = [] if inputs == ("-",) else find_files(inputs)
    total, read = sum(file.stat().st_size for file in files), 0
    started = time.monotonic()

    def texts() -> Iterator[Iterator[str]]:
        nonlocal read
        characters = 0

        def parts_of(document: Iterator[str]) -> Iterator[str]:
            nonlocal characters
            cap = doc_cap
            for part in document:
                part = part[:cap]
                characters += len(part)
                yield part
                if cap is not None and (cap := cap - len(part)) == 0:
                    return

        for document, at in documents(files, field, lines):
            read = at
            yield parts_of(document)
            if max_chars is not None and characters > max_chars:
                return

    with ProgressLine(quiet) as line:

        def progress(step: str, done: int, end: int) -> None:
            rate = size(int(done / max(time.monotonic() - started, 1e-9)))
            line(*((step, done, end) if end else (f"counting, {rate}/s", read, total)))

        trained = train_from_iterator(texts(), num_threads=threads, progress=progress, **how)
    trained.save(folder, force=force)
    names = ("special_tokens", "words", "distinct_words", "text_bytes", "text_tokens", "note")
    longest = sorted(trained.ranks, key=len, reverse=True)[:LONGEST_SHOWN]
    if as_json:
        values = {name: getattr(trained, name) for name in names}
        counts = {"tokens": len(trained), "merges": len(trained.merges)}
        shown = {"longest": list(map(bytes_value, longest))}
        say_json("train", {"folder": folder, **counts, **values, **shown})
    elif not quiet:
        mean = trained.text_bytes / trained.text_tokens
        say(
            f"{folder}: {plural(len(trained), 'token')} of {plural(trained.words, 'word')}"
            f" ({trained.distinct_words:,} distinct), {mean:.3f} bytes a token on"
            f" {size(trained.text_bytes)} of text"
        )
        say(f"longest: {', '.join(map(quoted, longest))}")
        if trained.note is not None:
            note(f"note: {trained.note}")


def documents(
    files: Sequence[Path], field: str, lines: bool
) -> Iterator[tuple[Iterator[str], int]]:
    """The parts of each document, and the bytes read by then. No files: of standard input."""
    if not files:
        parts = iter(lambda: sys.stdin.buffer.read(PART), b"")
        yield decoded(parts, "standard input"), 0
    for batch in read_documents(files, field=field, lines=lines, start=Position()):
        if isinstance(batch, LongDocument):
            yield decoded(batch.parts, str(files[batch.first.file])), batch.read
        else:
            texts: Any = batch.texts  # a list, or a column of Arrow
            for text in texts if isinstance(texts, list) else texts.to_pylist():
                yield iter((text,)), batch.read


def decoded(parts: Iterator[bytes], name: str) -> Iterator[str]:
    """The parts of a text. Raises SourceError where they are not UTF-8."""
    try:
        yield from codecs.iterdecode(parts, "utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{name}: not UTF-8: {error.reason}; convert it first") from error
