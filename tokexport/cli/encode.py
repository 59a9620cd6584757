"""tokexport encode: a text in, ids out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

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
    "--special",
    is_flag=True,
    help="Special tokens in the text become their ids. Not for text from strangers.",
)
@click.option(
    "--add-special-tokens",
    is_flag=True,
    help="Add what the tokenizer puts around a text, such as BOS.",
)
@click.option(
    "--tokens",
    "show_tokens",
    is_flag=True,
    help="Print one line a token: its id, and its bytes, escaped.",
)
@click.option(
    "--offsets",
    is_flag=True,
    help="Print one line a token: its id, start and end in the text, its bytes.",
)
@click.option(
    "--unit",
    type=click.Choice(["char", "byte"]),
    default="char",
    show_default=True,
    help="What --offsets counts.",
)
@json_option
def encode(
    path: Path,
    text: str | None,
    text_file: str | None,
    special: bool,
    add_special_tokens: bool,
    show_tokens: bool,
    offsets: bool,
    unit: Literal["char", "byte"],
    as_json: bool,
) -> None:
    """Encodes a text and prints its ids.

    The text is TEXT, or a file's bytes, or else standard input. It must be UTF-8, and is taken as
    it is: no escapes are processed and no line end is stripped.

    \b
    tokexport encode tokenizer.bin "Hello, world"
    printf 'Hello, world' | tokexport encode tokenizer.bin
    tokexport encode tokenizer.bin --file book.txt --json
    tokexport encode tokenizer.bin --special --tokens "<|endoftext|>"
    tokexport encode tokenizer.bin --offsets "Hello, world"
    """
    if text is not None and text_file is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    content = read_bytes(text_file) if text is None else os.fsencode(text)
    tokenizer = load(path)
    allowed: Literal["all"] | tuple[str, ...] = "all" if special else ()
    spans: list[tuple[int, int]] = []
    try:
        if offsets:
            encoding = tokenizer.encode_with_offsets(
                content.decode(),
                allowed_special=allowed,
                add_special_tokens=add_special_tokens,
                unit=unit,
            )
            ids, spans = encoding.ids, encoding.offsets
        else:
            ids = tokenizer.encode_bytes(
                content, allowed_special=allowed, add_special_tokens=add_special_tokens
            )
    except UnicodeDecodeError as error:
        raise TokexportError(
            f"the text is not UTF-8: {error.reason} at byte {error.start}"
        ) from error
    tokens = tokenizer.decode_tokens_bytes(ids) if as_json or show_tokens or offsets else []
    if as_json:
        shown: dict[str, object] = {"ids": ids, "tokens": [escape(token) for token in tokens]}
        if offsets:
            shown |= {"offsets": spans, "unit": unit}
        say_json({**shown, "count": len(ids), "bytes": len(content)})
    elif offsets:
        rows = zip(ids, spans, tokens, strict=True)
        say(
            table(
                [
                    (str(id), str(start), str(end), f'"{escape(token)}"')
                    for id, (start, end), token in rows
                ]
            )
        )
    elif show_tokens:
        say(
            table(
                [
                    (str(token_id), f'"{escape(token)}"')
                    for token_id, token in zip(ids, tokens, strict=True)
                ]
            )
        )
    else:
        say(" ".join(map(str, ids)))
