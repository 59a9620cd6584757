"""Files of records, a score and a text each, as llama2.c made them and others took them over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from construct import Bytes, Construct, ConstructError, Float32l, Int32ul, Rebuild, Struct, this

from tokexport.errors import SourceError

RECORD: Final = Struct(
    "score" / Float32l,
    "length" / Rebuild(Int32ul, lambda it: len(it.text)),
    "text" / Bytes(this.length),
)


def build_records(header: bytes, scores: Iterable[float], texts: Iterable[bytes]) -> bytes:
    """The bytes of a file: its header, then a record for each id."""
    rows = zip(scores, texts, strict=True)
    return header + b"".join(RECORD.build({"score": score, "text": text}) for score, text in rows)


def parse_records(
    data: bytes, header: Construct, name: str
) -> tuple[Any, list[float], list[bytes]]:
    """The header, the scores and the texts in the bytes of a file. SourceError for one that is cut
    off.
    """
    scores: list[float] = []
    texts: list[bytes] = []
    try:
        head = header.parse(data)
        place = header.sizeof()
        while place < len(data):
            # A copy of the rest for each record would take quadratic time.
            size = 8 + int.from_bytes(data[place + 4 : place + 8], "little")
            record = RECORD.parse(data[place : place + size])
            scores.append(record.score)
            texts.append(record.text)
            place += size
    except ConstructError as error:
        raise SourceError(f"{name}: it is cut off in the record {len(texts)}") from error
    return head, scores, texts


def longest(texts: Sequence[bytes]) -> int:
    """The bytes of the longest text."""
    return max(map(len, texts), default=0)
