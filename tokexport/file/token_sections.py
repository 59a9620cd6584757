"""The sections about each id: its bytes, its key, its score and its rank, and how ids decode."""

import numpy as np
import numpy.typing as npt

import tokexport.file.layout as layout
from tokexport.compiler.tables import (
    KINDS,
    BytePairTables,
    DecoderTable,
    EncodingTables,
    Tables,
    TokenIndex,
    TrieTables,
)
from tokexport.file.layout import RecordFlag
from tokexport.file.pack import Part, rows, struct, view

_PART = 1 << 14  # tokens at a time, so that temporary arrays stay small


def records_and_bytes(tables: Tables) -> tuple[memoryview, bytes]:
    """RECS and BYTS. Equal byte strings are stored once."""
    tokens, forms = tables.tokens, tables.forms
    encoder = tables.encoding.encoder if tables.encoding else None
    records = np.zeros(len(tokens), layout.RECORD)
    records["offset"] = forms.offsets
    ends, lengths = tokens.contents.ends, records["length"]
    lengths[:1] = ends[:1]
    np.subtract(ends[1:], ends[:-1], out=lengths[1:], casting="unsafe")
    all_flags = records["flags"]
    if isinstance(encoder, BytePairTables):
        all_flags[encoder.tokens.whole] = RecordFlag.WHOLE
    of_kinds = np.array([RecordFlag[f"KIND_{kind.name}"] for kind in KINDS], np.uint16)
    for at in range(0, len(tokens), _PART):
        part = slice(at, at + _PART)
        flags = all_flags[part]
        flags |= of_kinds[tokens.kinds[part]]
        for column, factor in (
            (tokens.special, RecordFlag.SPECIAL),
            (tokens.fallback, RecordFlag.FALLBACK),
            (forms.first_skip, RecordFlag.FIRST_SKIP.put(1)),
            (forms.first_more, RecordFlag.FIRST_MORE.put(1)),
            (forms.last_skip, RecordFlag.LAST_SKIP.put(1)),
        ):
            flags |= column[part] * np.uint16(factor)
        flags[tokens.is_hole[part]] = 0
    return view(records), forms.data


def keys(
    tables: Tables, tokens: TokenIndex, written: memoryview, blob: bytes
) -> tuple[bytes | None, bytes]:
    """KEYS, or None if the index needs only the tokens' bytes; and BYTS, with all other keys added.

    ``written`` and ``blob`` are RECS and BYTS.
    """
    contents = tables.tokens.contents
    done, others = 0, list[int]()
    for part in tokens.keys.parts():
        decoded = contents.take(tokens.ids[done : done + len(part)])
        others += (done + part.indices_of_others(decoded)).tolist()
        done += len(part)
    if not others:
        return None, blob
    records = np.frombuffer(written, layout.RECORD)
    entries = np.zeros(len(records), layout.KEY)
    entries["offset"], entries["length"] = records["offset"], records["length"]
    more = bytearray(blob)
    offsets: dict[bytes, int] = {}
    for index in others:
        number, key = int(tokens.ids[index]), tokens.keys[index]
        # The key is a part of the content, as in CLIP, where the end of a word decodes to a space.
        at = contents[number].find(key)
        if at >= 0:
            offset = int(records[number]["offset"]) + at
        else:
            if key not in offsets:
                offsets[key] = len(more)
                more += key
            offset = offsets[key]
        entries[number] = (offset, len(key), 0)
    return entries.tobytes(), bytes(more)


def scores(tables: EncodingTables, wanted: bool) -> tuple[Part | None, Part | None]:
    """SCOR, or SC64 if some score of Unigram is not a 32-bit float."""
    values = tables.scores
    if values is None:
        return None, None
    is_unigram = isinstance(tables.encoder, TrieTables)
    with np.errstate(over="ignore"):
        parts = (values[at : at + _PART] for at in range(0, len(values), _PART))
        if is_unigram and any((part.astype(layout.SCORE) != part).any() for part in parts):
            return None, view(values.astype(layout.DOUBLE_SCORE, copy=False))
        return view(values.astype(layout.SCORE)) if wanted or is_unigram else None, None


def ids(numbers: npt.NDArray[np.int64] | None) -> bytes | None:
    """RANK, BIDS: a number for each id or byte, or NONE."""
    return None if numbers is None else numbers.astype("<u4").tobytes()


def sorted_ids(tables: Tables) -> bytes:
    """SORT: the ids of tokens, sorted by their bytes, then by id."""
    tokens = zip(tables.tokens.contents, range(len(tables.tokens)), strict=True)
    ordered = np.array([id for _, id in sorted(tokens)], layout.SORTED_ID)
    return ordered[~tables.tokens.is_hole[ordered]].tobytes()


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
