"""Files of records, a score and a text each, as introduced by llama2.c and adopted by others."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from construct import Bytes, Construct, ConstructError, Float32l, Int32ul, Rebuild, Struct, this

from tokexport.errors import SourceError

RECORD: Final = Struct(
    "score" / Float32l,
    "length" / Rebuild(Int32ul, lambda it: len(it.text)),
    "text" / Bytes(this.length),
)


def build_records(header: bytes, scores: Iterable[float], texts: Iterable[bytes]) -> bytes:
    """The bytes of a file: the header, then a record for each id."""
    rows = zip(scores, texts, strict=True)
    return header + b"".join(RECORD.build({"score": score, "text": text}) for score, text in rows)


def parse_records(
    path: Path, header: Construct, record: Construct, count: str | None = None
) -> tuple[Any, list[Any]]:
    """The header and the records of a file: as many as the header's field ``count`` says, or all.
    SourceError for a truncated file.
    """
    data, records = path.read_bytes(), list[Any]()
    stream = BytesIO(data)
    try:
        head = header.parse_stream(stream)
        while stream.tell() < len(data) if count is None else len(records) < head[count]:
            records.append(record.parse_stream(stream))
    except ConstructError as error:
        raise SourceError(
            f"{path}: it is cut off in the record {len(records)}, or not of this format"
        ) from error
    return head, records
