"""tokexport encode: a text in, ids out."""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from tokexport import Tokenizer, load
from tokexport._core import give_back_memory
from tokexport.cli.console import bytes_value, json_option, json_start, quoted, write_joined
from tokexport.cli.options import DashCommand, InputPath, given_text, not_utf8, path_option
from tokexport.errors import TextError
from tokexport.runtime.offset_blocks import offset_blocks

BLOCK = 1 << 16  # ids that are formatted at once
ROWS = 1 << 12  # of --offsets that are formatted at once; more leave the processor's cache
LONG = 10  # digits of an offset in a longer text, whose size is not known yet


@click.command(cls=DashCommand)
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("text", required=False)
@path_option("--file", "text_file", help="Encode this file's bytes.")
@click.option("--special", is_flag=True, help="Special tokens become ids: for trusted text only.")
@click.option("--add-special-tokens", is_flag=True, help="Add the template's ids, such as BOS.")
@click.option("--tokens", "tokens", is_flag=True, help="One line per token: id and bytes.")
@click.option("--offsets", is_flag=True, help="One line per token: id, start, end, bytes.")
@click.option("--show", is_flag=True, help="Show the tokens of the text in colours, or with bars.")
@click.option("--unit", type=click.Choice(["char", "byte"]), help="What --offsets counts.")
@json_option
def encode(
    path: str,
    text: str | None,
    text_file: str | None,
    special: bool,
    add_special_tokens: bool,
    tokens: bool,
    offsets: bool,
    show: bool,
    unit: str | None,
    as_json: bool,
) -> None:
    """Encodes a text and prints its ids.

    The text is TEXT, a file's bytes, or standard input (the default, or -). It must be UTF-8 and is
    used unchanged: no escapes are processed and no newline is stripped. TEXT may begin with a dash;
    put -- before a TEXT that begins with two. Memory does not grow with the text, only with its
    longest word, except for a few tokenizers. --offsets counts characters unless --unit is byte.

    \b
    tokexport encode tokenizer.bin "Hello, world"
    printf 'Hello, world' | tokexport encode tokenizer.bin
    tokexport encode tokenizer.bin --file book.txt --json
    tokexport encode tokenizer.bin --special --tokens "<|endoftext|>"
    tokexport encode tokenizer.bin --offsets "Hello, world"
    tokexport encode tokenizer.bin --show "Hello, world"
    tokexport encode tokenizer.bin -- "--- a/file"
    """
    name, parts = given_text(text, text_file)
    if show and (tokens or offsets or as_json):
        raise click.UsageError("--show excludes --tokens, --offsets and --json.")
    if tokens and offsets:
        raise click.UsageError("--offsets excludes --tokens: its lines have the tokens, too.")
    if unit is not None and not offsets:
        raise click.UsageError("--unit requires --offsets.")
    tokenizer = load(path)
    allowed = "all" if special else ()
    how: dict[str, Any] = {"allowed_special": allowed, "add_special_tokens": add_special_tokens}
    try:
        if show:
            write_shown(tokenizer, parts, how)
        elif offsets:
            how["unit"] = unit or "char"
            write_offsets(tokenizer, parts, how, as_json)
        else:
            write_stream(tokenizer, parts, how, tokens, as_json)
    except (TextError, UnicodeDecodeError) as error:
        offset = error.byte_offset if isinstance(error, TextError) else error.start
        if offset is None:
            raise
        raise not_utf8(name, offset) from error


def write_stream(
    tokenizer: Tokenizer, parts: Iterator[bytes], how: dict[str, Any], tokens: bool, as_json: bool
) -> None:
    count = size = 0
    width = len(str(tokenizer.n_vocab))

    def counted() -> Iterator[bytes]:
        nonlocal size
        for part in parts:
            size += len(part)
            yield part

    def shown(id: int) -> str:
        if not tokens:
            return str(id)
        token = tokenizer.decode_single_token_bytes(id)
        value = {"id": id, **bytes_value(token)}
        return json.dumps(value) if as_json else f"{id:>{width}}  {quoted(token)}"

    def items() -> Iterator[list[str]]:
        nonlocal count
        known: dict[int, str] = {}
        for ids in tokenizer.encode_stream(counted(), **how):
            count += ids.size
            for at in range(0, ids.size, BLOCK):
                numbers = ids[at : at + BLOCK].tolist()
                known.update((id, shown(id)) for id in {*numbers} - known.keys())
                yield [known[id] for id in numbers]

    if as_json:
        name = "tokens" if tokens else "ids"
        write_json(items(), name, lambda: {"count": count, "bytes": size})
    else:
        write_joined(items(), "\n" if tokens else " ")
        sys.stdout.write("\n" if count or not tokens else "")


def write_shown(tokenizer: Tokenizer, parts: Iterator[bytes], how: dict[str, Any]) -> None:
    """Prints the tokens as text; on a terminal in alternating colours."""
    from tokexport.viewing.terminal import shown, wants_colours

    arrays = tokenizer.encode_stream(parts, **how)
    ids = (id for array in arrays for id in array.tolist())
    for text in shown(tokenizer, ids, colours=wants_colours(sys.stdout)):
        sys.stdout.write(text)
    sys.stdout.write("\n")


def write_offsets(
    tokenizer: Tokenizer, parts: Iterator[bytes], how: dict[str, Any], as_json: bool
) -> None:
    count = size = 0  # of the blocks before the current one
    width = LONG
    between = ", " if as_json else "\n"
    # What is printed of each id, before and after its offsets, once a text has it.
    known = np.zeros(tokenizer.n_vocab, bool)
    shown = np.empty((tokenizer.n_vocab, 2), object)

    def around(id: int) -> tuple[str, str]:
        token = tokenizer.decode_single_token_bytes(id)
        if as_json:
            return f'{{"id": {id}, "start": ', json.dumps(bytes_value(token))[1:]
        return f"{id:>{len(str(tokenizer.n_vocab))}}", quoted(token)

    def rows(ids: NDArray[np.uint32], offsets: NDArray[np.int64]) -> str:
        for id in np.unique(ids[~known[ids]]).tolist():
            known[id], shown[id] = True, around(id)
        row = '%s%d, "end": %d, %s' if as_json else f"%s  %{width}d  %{width}d  %s"
        values = np.empty((len(ids), 4), object)
        values[:, ::3], values[:, 1:3] = shown[ids], offsets
        # One operation for all rows takes a quarter of the time of one for each.
        return between.join([row] * len(ids)) % tuple(values.ravel().tolist())

    def items() -> Iterator[list[str]]:
        nonlocal count, size, width
        for block in offset_blocks(tokenizer, parts, **how):
            if not size and block.is_last:
                width = len(str(block.size))
            count, size = count + len(block.ids), size + block.size
            for at in range(0, len(block.ids), ROWS):
                yield [rows(block.ids[at : at + ROWS], block.offsets[at : at + ROWS])]
            give_back_memory()  # arrays of many sizes leave holes: 140 MB after 100 MB of text

    if as_json:
        write_json(items(), "tokens", lambda: {"count": count, "unit": how["unit"], "bytes": size})
    else:
        write_joined(items(), "\n")
        sys.stdout.write("\n" if count else "")


def write_json(items: Iterator[list[str]], name: str, last: Any) -> None:
    """Writes an object whose array ``name`` is streamed, before its other values."""
    first = next(items, [])  # nothing is written if the text cannot be encoded
    sys.stdout.write(f'{json_start("encode")}, "{name}": [')
    write_joined(chain([first], items), ", ")
    sys.stdout.write(f"], {json.dumps(last())[1:]}\n")
