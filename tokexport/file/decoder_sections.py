"""The sections for decoding: the rules, and replacements in the decoded text."""

import tokexport.file.layout as layout
from tokexport.compiler.tables import DecoderTable
from tokexport.file.pack import rows, struct


def decoder(table: DecoderTable | None) -> bytes | None:
    """DECO, or None if decoding only joins bytes."""
    if table is None:
        return None
    flags = sum(layout.DecoderFlag[name] for name in table.flags)
    return struct(layout.Decoder, flags=flags, strip_left=table.strip_left)


def edits(decoder: DecoderTable | None) -> bytes | None:
    """EDIT, or None if DECO is sufficient. Equal texts are stored once."""
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

    steps = [entry(*step) for row in table.steps for step in row]
    entries = rows(layout.EDIT, [*steps, *map(entry, table.ends)])
    header = struct(
        layout.EditsHeader,
        state_count=len(table.steps),
        class_count=len(table.steps[0]),
        flags=layout.EditsFlag.READS_TOKENS * table.reads_tokens,
        text_size=len(text),
    )
    return header + table.classes.tobytes() + entries + bytes(text)
