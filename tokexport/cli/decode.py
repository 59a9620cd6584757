"""tokexport decode: ids in, bytes out."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from tokexport import load
from tokexport.cli.console import json_option, read_bytes, say_json
from tokexport.errors import TokexportError
from tokexport.escape import escape, visible


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("path", metavar="TOKENIZER", type=click.Path(path_type=Path))
@click.argument("ids", nargs=-1)
@click.option("--skip-special-tokens", is_flag=True, help="Leave special tokens out.")
@json_option
def decode(path: Path, ids: tuple[str, ...], skip_special_tokens: bool, as_json: bool) -> None:
    """Decodes ids and writes exactly their bytes: no line end is added.

    The ids are IDS, or else standard input; between them white space or commas, and brackets do not
    matter. On a terminal control characters are shown as escapes; into a file or a pipe the bytes
    go as they are.

    \b
    tokexport decode tokenizer.bin 9906 11 1917
    tokexport encode tokenizer.bin "Hello" | tokexport decode tokenizer.bin
    echo '[9906, 11, 1917]' | tokexport decode tokenizer.bin --json
    """
    numbers = parse_ids(" ".join(ids) if ids else read_bytes(None).decode("utf-8", "replace"))
    tokenizer = load(path)
    try:
        tokens = tokenizer.decode_tokens_bytes(numbers, skip_special_tokens=skip_special_tokens)
        text = tokenizer.decode(numbers, skip_special_tokens=skip_special_tokens)
    except KeyError as error:
        raise TokexportError(
            f"{path}: no id {error.args[0]}; its ids are 0 to {tokenizer.n_vocab - 1:,}"
        ) from error
    content = b"".join(tokens)
    if as_json:
        say_json(
            {
                "text": text,
                "escaped": escape(content),
                "tokens": [escape(token) for token in tokens],
            }
        )
    elif sys.stdout.isatty():
        click.echo(visible(text))
    else:
        click.echo(content, nl=False)


def parse_ids(text: str) -> list[int]:
    """The numbers of a text.

    >>> parse_ids("[1, 2]\\n3")
    [1, 2, 3]
    """
    words = re.sub(r"[\[\],]", " ", text).split()
    wrong = next((word for word in words if not (word.isascii() and word.isdigit())), None)
    if wrong is not None:
        raise TokexportError(f"{wrong!r} is not an id; ids are numbers such as 0 or 1917")
    return [int(word) for word in words]
