"""tokexport verify: a file against the library whose ids are the right ones."""

from __future__ import annotations

from pathlib import Path

import click

from tokexport.cli.console import ProgressLine, json_option, note, say, say_json
from tokexport.cli.options import read_special_tokens, source_options
from tokexport.verification import verify as library


@click.command()
@click.argument("path", metavar="TOKENIZER", type=click.Path(path_type=Path))
@click.option(
    "--against",
    required=True,
    type=click.Path(),
    metavar="SOURCE",
    help="What the file was made from.",
)
@source_options
@click.option(
    "--strings",
    type=click.IntRange(min=0),
    default=100_000,
    show_default=True,
    help="How many random strings.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which random strings.")
@click.option(
    "--text",
    "texts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A text of yours as well; may be repeated.",
)
@click.option("--only", metavar="KEY", help="Only this one comparison; a difference says which.")
@json_option
@click.pass_context
def verify(
    context: click.Context,
    path: Path,
    against: str,
    pattern: str | None,
    special_tokens: Path | None,
    revision: str | None,
    strings: int,
    seed: int,
    texts: tuple[Path, ...],
    only: str | None,
    as_json: bool,
) -> None:
    """Compares a tokexport file with its source's own library, and counts what it compared.

    Every id is decoded and every token encoded; then come code points, random joins of tokens,
    random Unicode, white space, digits and apostrophes, long pieces, special tokens inside text,
    and your texts. The first difference is shown in full. Exit code 0: no difference; 1: there is
    one.

    \b
    tokexport verify tokenizer.bin --against tokenizer.json
    tokexport verify tokenizer.bin --against model/ --text book.txt --strings 1000000 --seed 7
    tokexport verify cl100k.bin --against cl100k_base.tiktoken --pattern cl100k_base
    tokexport verify qwen3.bin --against Qwen/Qwen3-0.6B
    """
    progress = ProgressLine()
    try:
        result = library(
            path,
            against=against,
            pattern=pattern,
            special_tokens=read_special_tokens(special_tokens),
            revision=revision,
            strings=strings,
            seed=seed,
            texts=texts,
            only=only,
            progress=progress,
        )
    finally:
        progress.clear()
    if as_json:
        say_json(result.to_json())
    else:
        say("\n".join(result.lines()))
    if not result.compared:
        note("note: nothing was compared")
    context.exit(0 if result.ok else 1)
