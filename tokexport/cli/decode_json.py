"""What `decode --json` prints, in constant memory: the ids are stored in a temporary file."""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, groupby, islice
from tempfile import SpooledTemporaryFile

import numpy as np

from tokexport import Tokenizer
from tokexport.cli.console import bytes_value, json_start, say_json, write_joined
from tokexport.errors import naming_temporary
from tokexport.file.layout import RecordFlag

BLOCK = 1 << 16  # ids that are decoded at once
IN_MEMORY = 1 << 22  # ids; more are in a temporary file
LONGEST_RUN = 255  # bytes that a stream keeps until it is known whether a run of them is UTF-8


def write_json(tokenizer: Tokenizer, parts: Iterable[list[int]], skip_special: bool) -> None:
    is_special = tokenizer.records["flags"] & RecordFlag.SPECIAL != 0
    with SpooledTemporaryFile(4 * IN_MEMORY) as file:
        for part in parts:
            tokenizer.decode_bytes(part)  # nothing is written if an id is not a token
            ids = np.array(part, np.uint32)
            with naming_temporary():
                file.write((ids[~is_special[ids]] if skip_special else ids).tobytes())
        count = file.tell() // 4

        def blocks() -> Iterator[list[int]]:
            file.seek(0)
            while block := file.read(4 * BLOCK):
                yield np.frombuffer(block, np.uint32).tolist()

        if not can_stream(tokenizer, blocks()):
            whole = [*chain.from_iterable(blocks())]
            tokens = [bytes_value(token) for token in tokenizer.decode_tokens_bytes(whole)]
            say_json("decode", {"text": tokenizer.decode(whole), "tokens": tokens})
            return
        stream = tokenizer.decode_stream()
        sys.stdout.write(f'{json_start("decode")}, "text": "')
        sys.stdout.writelines(json.dumps(stream.feed(block))[1:-1] for block in blocks())
        sys.stdout.write(f'{json.dumps(stream.flush() or "")[1:-1]}", "tokens": [')
        values = token_values(tokenizer, chain.from_iterable(blocks()), count)
        write_joined(iter(lambda: [*islice(values, BLOCK)], []), ", ")
        sys.stdout.write("]}\n")


def can_stream(tokenizer: Tokenizer, blocks: Iterator[list[int]]) -> bool:
    """Whether a stream finds the text, and the bytes of each id as soon as it is added."""
    flags = tokenizer.records["flags"]
    if (flags & RecordFlag.LAST_SKIP).any():
        return False
    is_byte = (flags & RecordFlag.FALLBACK != 0).tobytes()
    for in_run, run in groupby(chain.from_iterable(blocks), is_byte.__getitem__):
        if in_run:
            content = b"".join(map(tokenizer.decode_single_token_bytes, run))
            if len(content) > LONGEST_RUN and bytes_value(content)["text"] is None:
                return False
    return True


def token_values(tokenizer: Tokenizer, ids: Iterator[int], count: int) -> Iterator[str]:
    @cache
    def value(token: bytes) -> str:
        return json.dumps(bytes_value(token))

    tokens = tokenizer.decode_bytes_stream([id] for id in ids)
    yield from map(value, islice(tokens, max(0, count - 1)))
    if count:
        yield value(b"".join(tokens))  # the last one, and the end of the text
