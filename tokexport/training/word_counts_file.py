"""Files of word counts (format: formats/word-counts/README.md)."""

import json
import os
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from construct import Bytes, Const, Int32ul, Int64ul, Struct, this

from tokexport.errors import FormatError, parse_problem, reading
from tokexport.output import replacing
from tokexport.training.counting import Run, WordCounts

SUFFIX: Final = ".counts"
MAGIC: Final = b"TKXWORDS"
VERSION: Final = 1
HEADER: Final = Struct(
    "magic" / Const(MAGIC),
    "version" / Int32ul,
    "settings_size" / Int32ul,  # a multiple of 8
    "word_count" / Int64ul,
    "words_size" / Int64ul,
)
WORD_COUNTS: Final = Struct(
    *HEADER.subcons,
    "settings" / Bytes(this.settings_size),  # JSON, padded with spaces
    "counts" / Int64ul[this.word_count],
    "lengths" / Int32ul[this.word_count],
    "words" / Bytes(this.words_size),
    "crc" / Int32ul,  # a CRC-32 of all bytes before it
)


def write_word_counts(path: Path, counts: WordCounts) -> int:
    """Writes or replaces a file atomically; returns its size in bytes."""
    times, lengths, words = counts.native.words_of_all(not counts.ordered)
    values = {
        "pattern": counts.pattern,
        "special_tokens": counts.special_tokens,
        "ordered": counts.ordered,
        "runs": [asdict(run) for run in counts.runs],
    }
    settings = json.dumps(values).encode()
    settings += b" " * (-len(settings) % 8)
    header = {
        "magic": None,
        "version": VERSION,
        "settings_size": len(settings),
        "word_count": len(times),
        "words_size": len(words),
    }
    crc = 0
    with replacing(path) as file:
        for part in (HEADER.build(header), settings, times.astype("<u8").data,
                     lengths.astype("<u4").data, words.data):  # fmt: skip
            file.write(part)
            crc = zlib.crc32(part, crc)
        file.write(crc.to_bytes(4, "little"))
        return file.tell()


def read_word_counts(path: str | os.PathLike[str]) -> WordCounts:
    """Reads the counts of a file. Raises FormatError if it is damaged or of another format."""
    with reading(path):
        data = Path(path).read_bytes()
    if data[:8] != MAGIC or len(data) < HEADER.sizeof():
        raise FormatError(f"{path}: not a file of word counts", "`tokexport count` makes a new one")
    header = HEADER.parse(data)
    if header.version != VERSION:
        raise FormatError(f"{path}: it has version {header.version}", "install a newer tokexport")
    ends = np.cumsum(
        [HEADER.sizeof(), header.settings_size, 8 * header.word_count, 4 * header.word_count,
         header.words_size], dtype=object,
    )  # fmt: skip
    if len(data) != ends[-1] + 4 or zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise FormatError(f"{path}: damaged: its checksum is wrong", "count the texts again")
    try:
        values = json.loads(data[ends[0] : ends[1]])
        counts = WordCounts(values["pattern"], values["special_tokens"])
        counts.ordered = values["ordered"]
        counts.runs = tuple(map(Run.read, values["runs"]))
        counts.native.add_words(
            np.frombuffer(data, "<u8", header.word_count, ends[1]),
            np.frombuffer(data, "<u4", header.word_count, ends[2]),
            np.frombuffer(data, "<u1", header.words_size, ends[3]),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        problem = f"{path}: damaged: {parse_problem(error)}"
        raise FormatError(problem, "count the texts again") from error
    return counts
