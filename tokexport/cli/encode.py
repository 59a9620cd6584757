"""tokexport encode: a text in, ids out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tokexport import load
from tokexport.cli.console import json_option, read_bytes, say, say_json, table
from tokexport.errors import TokexportError
from tokexport.escape import escape


@click.command()
@click.argument("path", metavar="TOKENIZER", type=click.Path(path_type=Path))
@click.argument("text", required=False)
@click.option("--file", "text_file", metavar="FILE", help="Encode this file's bytes.")
@click.option(
    "--special", is_flag=True, help="Special tokens in the text become their ids. Not for text from strangers."
)
@click.option("--add-special-tokens", is_flag=True, help="Add what the tokenizer puts around a text, such as BOS.")
@click.option("--tokens", "show_tokens", is_flag=True, help="Print one line a token: its id, and its bytes, escaped.")
@json_option
def encode(
    path: Path,
    text: str | None,
    text_file: str | None,
    special: bool,
    add_special_tokens: bool,
    show_tokens: bool,
    as_json: bool,
) -> None:
    """Encodes a text and prints its ids.

    The text is TEXT, or a file's bytes, or else standard input. It must be UTF-8, and is taken as it is: no escapes are
    processed and no line end is stripped.

    \b
    tokexport encode tokenizer.bin "Hello, world"
    printf 'Hello, world' | tokexport encode tokenizer.bin
    tokexport encode tokenizer.bin --file book.txt --json
    tokexport encode tokenizer.bin --special --tokens "<|endoftext|>"
    """
    if text is not None and text_file is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    content = read_bytes(text_file) if text is None else os.fsencode(text)
    tokenizer = load(path)
    try:
        ids = tokenizer.encode_bytes(
            content, allowed_special="all" if special else (), add_special_tokens=add_special_tokens
        )
    except UnicodeDecodeError as error:
        raise TokexportError(f"the text is not UTF-8: {error.reason} at byte {error.start}") from error
    tokens = tokenizer.decode_tokens_bytes(ids) if as_json or show_tokens else []
    if as_json:
        say_json({"ids": ids, "tokens": [escape(token) for token in tokens], "count": len(ids), "bytes": len(content)})
    elif show_tokens:
        say(table([(str(token_id), f'"{escape(token)}"') for token_id, token in zip(ids, tokens, strict=True)]))
    else:
        say(" ".join(map(str, ids)))
