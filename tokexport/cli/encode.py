"""tokexport encode: a text in, ids out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Literal

import click

from tokexport import Tokenizer, load
from tokexport.cli.console import (
    SCHEMA_VERSION,
    bytes_value,
    json_option,
    quoted,
    say,
    say_json,
    table,
)
from tokexport.cli.options import DashCommand, InputPath, parts_of_file
from tokexport.errors import TextError, TokexportError


@click.command(cls=DashCommand)
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("text", required=False)
@click.option("--file", "text_file", metavar="FILE", help="Encode this file's bytes.")
@click.option(
    "--special",
    is_flag=True,
    help="Special tokens in the text become their ids. Do not use it on untrusted text.",
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
    help="Print one line a token: its id, start and end in the text, its bytes. The text is held in"
    " memory as a whole.",
)
@click.option(
    "--unit",
    type=click.Choice(["char", "byte"]),
    help="What --offsets counts; by default characters.",
)
@json_option
def encode(
    path: str,
    text: str | None,
    text_file: str | None,
    special: bool,
    add_special_tokens: bool,
    show_tokens: bool,
    offsets: bool,
    unit: Literal["char", "byte"] | None,
    as_json: bool,
) -> None:
    """Encodes a text and prints its ids.

    The text is TEXT, or a file's bytes, or else standard input (also -). It must be UTF-8, and is
    taken as it is: no escapes are processed and no line end is stripped. TEXT may begin with a
    dash; put -- before one that begins with two. Text of any length goes through in constant
    memory.

    \b
    tokexport encode tokenizer.bin "Hello, world"
    printf 'Hello, world' | tokexport encode tokenizer.bin
    tokexport encode tokenizer.bin --file book.txt --json
    tokexport encode tokenizer.bin --special --tokens "<|endoftext|>"
    tokexport encode tokenizer.bin --offsets "Hello, world"
    tokexport encode tokenizer.bin -- "--- a/file"
    """
    if text is not None and text_file is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    if unit is not None and not offsets:
        raise click.UsageError("--unit says what --offsets counts; give that too.")
    tokenizer = load(path)
    given = text is not None and text != "-"
    name = "TEXT" if given else text_file or "-"
    parts = iter([os.fsencode(text or "")]) if given else parts_of_file(name)
    try:
        if offsets:
            content = b"".join(parts).decode()
            show_offsets(tokenizer, content, special, add_special_tokens, unit or "char", as_json)
        else:
            stream(tokenizer, parts, special, add_special_tokens, show_tokens, as_json)
    except (TextError, UnicodeDecodeError) as error:
        place = error.byte_offset if isinstance(error, TextError) else error.start
        if place is None:
            raise
        where = "standard input" if name == "-" else name
        raise TokexportError(f"{where}: not UTF-8 at byte {place:,}; convert it first") from error


def stream(
    tokenizer: Tokenizer,
    parts: Iterator[bytes],
    special: bool,
    add_special_tokens: bool,
    show_tokens: bool,
    as_json: bool,
) -> None:
    """Prints ids or tokens as they come."""
    count = size = 0
    width = len(str(tokenizer.n_vocab))

    def counted() -> Iterator[bytes]:
        nonlocal size
        for part in parts:
            size += len(part)
            yield part

    def value(id: int) -> str:
        return json.dumps({"id": id, **bytes_value(tokenizer.decode_single_token_bytes(id))})

    def line(id: int) -> str:
        return f"{id:>{width}}  {quoted(tokenizer.decode_single_token_bytes(id))}"

    show: Callable[[int], str] = str if not show_tokens else value if as_json else line
    shown: dict[int, str] = {}
    between = ", " if as_json else "\n" if show_tokens else " "
    key = "tokens" if show_tokens else "ids"
    start = f'{{"schema_version": {SCHEMA_VERSION}, "command": "encode", "{key}": [' * as_json
    for ids in tokenizer.encode_stream(
        counted(), allowed_special="all" if special else (), add_special_tokens=add_special_tokens
    ):
        numbers = ids.tolist()
        shown |= {id: show(id) for id in {*numbers} - shown.keys()}
        sys.stdout.write(
            (between if count else start) + between.join(map(shown.__getitem__, numbers))
        )
        count += len(numbers)
    end = f'], "count": {count}, "bytes": {size}}}' * as_json
    sys.stdout.write(("" if count else start) + end + "\n")


def show_offsets(
    tokenizer: Tokenizer,
    text: str,
    special: bool,
    add_special_tokens: bool,
    unit: Literal["char", "byte"],
    as_json: bool,
) -> None:
    """Prints each token with its place in the text."""
    encoding = tokenizer.encode_with_offsets(
        text,
        allowed_special="all" if special else (),
        add_special_tokens=add_special_tokens,
        unit=unit,
    )
    tokens = [tokenizer.decode_single_token_bytes(id) for id in encoding.ids]
    rows = list(zip(encoding.ids, encoding.offsets, tokens, strict=True))
    if as_json:
        shown = [
            {"id": id, "start": start, "end": end, **bytes_value(token)}
            for id, (start, end), token in rows
        ]
        counts = {"count": len(rows), "bytes": len(text.encode())}
        say_json("encode", {"tokens": shown, "unit": unit, **counts})
    else:
        say(
            table(
                [(str(id), str(start), str(end), quoted(token)) for id, (start, end), token in rows]
            )
        )
