"""tokexport count: texts in, a file of word counts out."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tokexport.cli.console import Output, ProgressLine, output_options, plural, resumable, size
from tokexport.cli.options import (
    AnyPath,
    Utf8,
    document_options,
    is_standard_input,
    number_option,
    parts_of_file,
    target_option,
    token_option,
)
from tokexport.corpus.documents import find_files, repeated, total_size
from tokexport.errors import TokexportError
from tokexport.sources.tiktoken.known_patterns import KNOWN
from tokexport.training.counting import WordCounts
from tokexport.training.files import count_files, count_stream, join_files
from tokexport.training.word_counts_file import SUFFIX

# Also options of `train`.
pattern_option = click.option(
    "--pattern", type=Utf8(), metavar="NAME", help=f"{', '.join(KNOWN)}; or a regex.  [nanochat]"
)
max_chars_option = number_option("--max-chars", help="Stop after N characters.")
doc_cap_option = number_option("--doc-cap", help="Characters per document.")
CUT_HELP = "Cut texts at this token, and do not count it."


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=AnyPath())
@target_option("target", required=True, help="The counts file.")
@pattern_option
@token_option("--special-token", "special_tokens", multiple=True, help=CUT_HELP)
@click.option("--add", is_flag=True, help="Add to the counts in FILE.")
@max_chars_option
@doc_cap_option
@document_options
@output_options
def count(
    inputs: tuple[str, ...],
    target: str,
    special_tokens: tuple[str, ...],
    threads: int | None,
    field: str | None,
    output: Output,
    **how: Any,
) -> None:
    """Counts the words of texts, for `tokexport train --counts`.

    Counting is the only part of training that grows with the corpus. INPUT is what
    `tokexport tokenize` reads: .txt, .jsonl, .parquet, compressed or not, or a folder of them. A
    run that was interrupted, even by kill -9, resumes when the same command is run again: no
    document is lost or counted twice.

    INPUT may also be - for standard input: one text, lines of text (--lines), or lines of JSON
    (--field). Standard input cannot be resumed: an interrupted run counts nothing.

    Counts files (.counts) given as INPUT are summed; they must have the same pattern and special
    tokens.

    \b
    tokexport count corpus/ -o words.counts
    tokexport count more/ -o words.counts --add
    tokexport count a.counts b.counts -o words.counts
    tokexport train --counts words.counts --vocab-size 32768 -o tokenizer
    """
    files: list[Path] = []
    joined = [name for name in inputs if Path(name).suffix == SUFFIX]
    if joined:
        if len(joined) < len(inputs) or how["add"]:
            raise TokexportError(
                "files of counts can only be joined with each other",
                "count texts into a file of their own, or add them with --add",
            )
        if special_tokens or field or any(how.values()):
            raise click.UsageError("Files of counts are joined without options for texts.")
        counts = join_files(joined, target)
    else:
        common = {"special_tokens": special_tokens or None, "num_threads": threads, **how}
        is_stream = is_standard_input(inputs)
        with resumable(not is_stream), ProgressLine(output.quiet) as line:
            if is_stream:
                parts, show = parts_of_file("-"), counting(line, 0)
                counts = count_stream(parts, target, field=field, progress=show, **common)
            else:
                files = find_files(inputs)
                show = counting(line, total_size(files))
                counts = count_files(inputs, target, field=field or "text", progress=show, **common)
    documents = sum(run.documents for run in counts.runs)
    values = {
        "target": target,
        "size": Path(target).stat().st_size,
        "words": counts.words,
        "distinct_words": counts.distinct_words,
        "text_bytes": counts.text_bytes,
        "documents": documents,
    }
    text = (
        f"{target}: {plural(counts.words, 'word')} ({counts.distinct_words:,} distinct) of"
        f" {plural(documents, 'document')}, {size(counts.text_bytes)}"
    )
    output.give("count", values, text, repeated(files))


def counting(line: ProgressLine, total: int) -> Callable[[WordCounts, int], None]:
    """Shows the progress of counting in ``total`` bytes of files (0: unknown)."""
    unit, divisor = ("MB", 1_000_000) if total >= 1_000_000 else ("bytes", 1)
    started = 0.0
    before: int | None = None  # bytes of text that an earlier run counted

    def show(counts: WordCounts, read: int) -> None:
        nonlocal before, started
        if before is None:
            before, started = counts.text_bytes, time.monotonic()
        done, seconds = counts.text_bytes - before, time.monotonic() - started
        rate = f"{size(int(done / seconds))}/s, " if done and seconds else ""
        step = unit if total else f"{size(read)} read"
        line(f"{rate}{plural(counts.words, 'word')}, {step}", read // divisor, total // divisor)

    return show
