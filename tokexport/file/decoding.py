"""DECO and EDIT (layout: :mod:`tokexport.file.layout`)."""

from __future__ import annotations

import tokexport.file.layout as layout
from tokexport.compiler.tables import DecoderTable
from tokexport.file.layout import DecoderFlag, EditsFlag
from tokexport.file.pack import rows, struct


def decoder(table: DecoderTable | None) -> bytes | None:
    """DECO, or None if decoding is joining bytes."""
    if table is None:
        return None
    flags = sum(DecoderFlag[name] for name in table.flags)
    return struct(layout.Decoder, flags=flags, strip_left=table.strip_left)


def edits(decoder: DecoderTable | None) -> bytes | None:
    """EDIT, or None if DECO says it all. Equal texts are stored once."""
    if decoder is None or decoder.edits is None:
        return None
    table = decoder.edits
    text = bytearray()
    offsets: dict[bytes, int] = {}

    def entry(written: bytes, following: int = 0, keeps: bool = False) -> tuple[int, int, int]:
        if written not in offsets:
            offsets[written] = len(text)
            text.extend(written)
        return following, len(written) | layout.EDIT_KEEPS * keeps, offsets[written]

    steps = [
        entry(written, following, keeps)
        for row in zip(table.next, table.written, table.keeps, strict=True)
        for following, written, keeps in zip(*row, strict=True)
    ]
    entries = rows(layout.EDIT, [*steps, *map(entry, table.ends)])
    header = struct(
        layout.EditsHeader,
        state_count=len(table.next),
        class_count=len(table.next[0]),
        flags=EditsFlag.READS_TOKENS * table.reads_tokens,
        text_size=len(text),
    )
    return header + table.classes.tobytes() + entries + bytes(text)
