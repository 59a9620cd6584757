"""tokexport tokenize: documents in, token shards out."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tokexport import Tokenizer, load
from tokexport.cli.console import Output, ProgressLine, output_options, plural, resumable, size
from tokexport.cli.options import (
    AnyPath,
    InputPath,
    document_options,
    is_standard_input,
    number_option,
    parts_of_file,
    target_option,
    token_option,
)
from tokexport.corpus import tokenize as library
from tokexport.corpus.documents import ByteStream, find_files, repeated, total_size
from tokexport.corpus.pipeline import SHARD_TOKENS
from tokexport.errors import TokexportError


@click.command()
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=AnyPath())
@target_option("folder", required=True, metavar="DIR", help="The shards' folder.")
@document_options
@token_option(
    "--begin", metavar="TOKEN", help="Starts each document; none: no token.  [BOS or EOT]"
)
@token_option("--end", metavar="TOKEN", help="Ends each document.  [none]")
@number_option(
    "--shard-tokens",
    default=SHARD_TOKENS,
    help="End a shard with the document in which it reaches N ids.",
)
@click.option(
    "--dtype",
    type=click.Choice(["uint16", "uint32"]),
    help="The type of an id.  [uint16 if all fit]",
)
@click.option(
    "--header",
    type=click.Choice(["none", "llm.c"]),
    default="none",
    help="The header of each shard.",
)
@output_options
def tokenize(
    path: str,
    inputs: tuple[str, ...],
    folder: str,
    begin: str | None,
    end: str | None,
    threads: int | None,
    output: Output,
    **how: Any,
) -> None:
    """Encodes documents into shards of ids for training.

    The shards are flat arrays, which a training run maps into memory. INPUT is a .txt file (one
    document, or one per line with --lines), .jsonl or .ndjson, each optionally with .gz, .bz2, .xz
    or .zst, or .parquet; or a folder of these. Parquet and zstd need pip install
    'tokexport[corpus]'. INPUT may also be - for standard input: one text, lines of text (--lines),
    or lines of JSON (--field). Special tokens in a document are plain text.

    Memory does not grow with the corpus. A run that was interrupted, even by kill -9, resumes when
    the same command is run again: no document is lost or duplicated; standard input cannot be
    resumed. --header none writes shards for numpy.memmap (nanoGPT), --header llm.c shards for
    llm.c.

    \b
    tokexport tokenize tokenizer.bin corpus/ -o shards
    tokexport tokenize gpt2.bin *.parquet -o shards --header llm.c
    tokexport tokenize tokenizer.bin pages.jsonl.gz -o shards --field content
    """
    tokenizer = load(path)
    begin_id = default_begin(tokenizer) if begin is None else id_of(tokenizer, begin)
    end_id = id_of(tokenizer, end)
    source: Sequence[str] | ByteStream = inputs
    files: list[Path] = []
    is_stream = is_standard_input(inputs)
    if is_stream:
        source = ByteStream(parts_of_file("-"), "standard input")
    else:
        files = find_files(inputs)
    total = total_size(files)
    started = time.monotonic()
    with resumable(not is_stream), ProgressLine(output.quiet) as line:

        def progress(read: int, tokens: int) -> None:
            rate = size(int(read / max(time.monotonic() - started, 1e-9)))
            line(f"{plural(tokens, 'token')}, {rate}/s", read, total)

        index = library(
            source,
            tokenizer,
            folder,
            begin=begin_id,
            end=end_id,
            num_threads=threads,
            progress=progress,
            **how,
        )
    count = plural(index.documents, "document")
    text = (
        f"{folder}: {plural(index.tokens, 'token')} of {count} in"
        f" {plural(len(index.shards), 'shard')} of {index.dtype}"
    )
    notes = repeated(files)
    if begin is None and begin_id is not None:
        text_of = tokenizer.decode([begin_id])  # none for <s> of SentencePiece
        first = f"{text_of} (id {begin_id})" if text_of else f"id {begin_id}"
        notes.append(f"note: each document begins with {first}; for none, use --begin none")
    values: dict[str, object] = {
        "folder": folder,
        "dtype": index.dtype,
        "header": index.header,
        "begin": begin_id,
        "end": end_id,
        "tokens": index.tokens,
        "documents": index.documents,
        "shards": [asdict(shard) for shard in index.shards],
    }
    output.give("tokenize", values, text, notes)


def default_begin(tokenizer: Tokenizer) -> int | None:
    """The id before each document: BOS, or else the id that ends a text, as in GPT-2."""
    bos = tokenizer.special_ids.bos
    if bos is not None:
        return bos
    try:
        return tokenizer.eot_token
    except KeyError:
        return None


def id_of(tokenizer: Tokenizer, content: str | None) -> int | None:
    """The id of a token by its content. Raises TokexportError if there is none."""
    if content is None or content == "none":
        return None
    try:
        return tokenizer.encode_single_token(content)
    except KeyError:
        raise TokexportError(
            f"{content!r} is not a token of this tokenizer",
            "`tokexport inspect --added` lists its special tokens",
        ) from None
