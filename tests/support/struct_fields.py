"""The fields of a structure, as the README of its format lists them."""

from collections.abc import Iterator

from construct import Bytes, Construct, FormatField

TYPES = {"L": "u32", "l": "i32", "Q": "u64", "f": "f32", "B": "u8"}


def fields(layout: Construct) -> Iterator[tuple[str, str, str, str]]:
    """Offset, type, name and meaning of each field, the last of which may have any size."""
    offset = 0
    for field in layout.subcons:
        inner = field.subcon
        while not isinstance(inner, (FormatField, Bytes)):
            inner = inner.subcon
        if isinstance(inner, FormatField):
            size, kind = inner.sizeof(), TYPES[inner.fmtstr[-1]]
        else:
            size = 0 if callable(inner.length) else inner.sizeof()
            kind = f"{size} bytes"
        yield str(offset), kind, field.name, field.docs
        offset += size
