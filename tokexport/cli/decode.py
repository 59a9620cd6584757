"""tokexport decode: ids in, bytes out."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

import click

from tokexport import load
from tokexport.cli.console import json_option
from tokexport.cli.options import DashCommand, InputPath, parts_of_file
from tokexport.errors import IdError, TokexportError
from tokexport.escape import visible

TO_SPACES = bytes.maketrans(b",[]", b"   ")
LONGEST = 20  # digits of an id
START = re.compile(rb'\s*\{"schema_version": \d+, "command": "encode", "ids": \[')
START_SIZE = 80  # bytes in which this start ends


@click.command(cls=DashCommand)
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.argument("ids", nargs=-1)
@click.option("--skip-special-tokens", is_flag=True, help="Leave out special tokens.")
@json_option
def decode(path: str, ids: tuple[str, ...], skip_special_tokens: bool, as_json: bool) -> None:
    """Decodes ids and writes exactly their bytes.

    No newline is added. The ids are IDS, or standard input (the default, or -): separated by white
    space or commas, with or without brackets, or the object that `encode --json` prints. On a
    terminal, control characters are shown as escapes; a file or a pipe gets the bytes unchanged,
    in constant memory, unless an object has tokens. --json keeps the ids in a temporary file.

    \b
    tokexport decode tokenizer.bin 9906 11 1917
    tokexport encode tokenizer.bin "Hello" | tokexport decode tokenizer.bin
    echo '[9906, 11, 1917]' | tokexport decode tokenizer.bin --json
    """
    # A space ends the last one, so that all are parsed, or refused, at once.
    given = parts_of_file("-") if ids in ((), ("-",)) else [os.fsencode(" ".join([*ids, ""]))]
    numbers = parse_ids(given)
    tokenizer = load(path)
    try:
        if as_json:
            from tokexport.cli.decode_json import write_json  # not above: it needs numpy

            write_json(tokenizer, numbers, skip_special_tokens)
        elif sys.stdout.isatty():
            stream = tokenizer.decode_stream(skip_special_tokens=skip_special_tokens)
            for part in numbers:
                click.echo(visible(stream.feed(part)), nl=False)
            click.echo(visible(stream.flush() or ""))
        else:
            how = {"skip_special_tokens": skip_special_tokens}
            sys.stdout.buffer.writelines(tokenizer.decode_bytes_stream(numbers, **how))
    except IdError as error:
        raise TokexportError(f"{path}: {error.problem}", error.hint) from error


def parse_ids(parts: Iterable[bytes]) -> Iterator[list[int]]:
    """Parses the numbers of a text that arrives in parts.

    >>> list(parse_ids([b"[1, 2", b"3]\\n4"]))
    [[1], [23], [4]]
    """
    rest, count = b"", 0
    parts = iter(parts)
    for part in parts:
        if not rest and part.lstrip()[:1] == b"{":
            yield from ids_of_object(chain([part], parts))
            return
        text = (rest + part).translate(TO_SPACES)
        words = text.split()
        unfinished = words and not text[-1:].isspace() and len(words[-1]) <= LONGEST
        rest = words.pop() if unfinished else b""
        if words:
            yield ids_of_words(words, count)
            count += len(words)
    if rest:
        yield ids_of_words([rest], count)


def ids_of_words(words: list[bytes], before: int) -> list[int]:
    """Parses words as numbers. Raises TokexportError, with the number of words up to there, if one
    is not a number.
    """
    if not b"".join(words).isdigit() or len(max(words, key=len)) > LONGEST:
        wrong = next(word for word in words if not word.isdigit() or len(word) > LONGEST)
        shown = visible(wrong[:40].decode("utf-8", "replace"))
        hint = "ids are numbers such as 0 or 1917"
        if wrong.isdigit():
            hint = f"it has more than {LONGEST} digits: put spaces or commas between ids"
        raise TokexportError(
            f"word {before + words.index(wrong) + 1:,}: '{shown}' is not an id", hint
        )
    return list(map(int, words))


def ids_of_object(parts: Iterable[bytes]) -> Iterator[list[int]]:
    """The ids in the output of `encode --json`; of one without tokens, as they arrive."""
    parts = iter(parts)
    rest = b""
    while len(rest.lstrip()) < START_SIZE and (part := next(parts, b"")):
        rest += part
    start = START.match(rest)
    if start is not None:

        def array() -> Iterator[bytes]:
            nonlocal rest
            for part in chain([rest[start.end() :]], parts):
                numbers, bracket, rest = part.partition(b"]")
                yield numbers
                if bracket:
                    rest = b'{"ids": []' + rest
                    return

        yield from parse_ids(array())
    try:
        value = json.loads(b"".join([rest, *parts]))
        ids = value["ids"] if "ids" in value else [token["id"] for token in value["tokens"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        ids = None
    if not isinstance(ids, list) or not all(type(id) is int and id >= 0 for id in ids):
        raise TokexportError(
            "the input begins with { but is not an object with ids, as printed by `encode --json`"
        )
    yield ids
