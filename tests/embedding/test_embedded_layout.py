"""The files that `tokexport embed` writes match formats/embedded."""

import json
import re
from pathlib import Path

import golden_files
import numpy as np
from construct import Bytes, Int64ul, Struct
from repository import ROOT
from safetensors.numpy import save_file
from struct_fields import fields

from tokexport.embedding import embed
from tokexport.runtime.embedded import TAIL_MARK, tail

TAIL = Struct(
    "size" / Int64ul * "of the tokexport file, which ends where this begins",
    "mark" / Bytes(len(TAIL_MARK)) * "`TKXTAIL`, and a zero",
)
README = (ROOT / "formats" / "embedded" / "README.md").read_text("utf-8")
TOKENIZER = golden_files.FOLDER / "added.bin"
CONTENT = TOKENIZER.read_bytes()


def test_the_table_of_the_tail_matches_the_writer() -> None:
    rows = re.findall(r"\| (\d+) \| ([^|]+) \| `(\w+)` \| ([^|]+) \|", README)
    assert rows == [*fields(TAIL)]
    assert TAIL.build({"size": 5, "mark": TAIL_MARK}) == tail(5)


def span(data: bytes) -> tuple[int, int]:
    """The offset and size of the tokexport file, found as the specification says."""
    found = TAIL.parse(data[-TAIL.sizeof() :])
    assert found.mark == b"TKXTAIL\0"
    end = len(data) - TAIL.sizeof()
    return end - found.size, end


def test_the_last_tensor_of_safetensors_is_the_file_and_its_tail(tmp_path: Path) -> None:
    for size in (5, 8, 13):
        model = tmp_path / f"{size}.safetensors"
        save_file({"w": np.arange(size, dtype=np.uint8)}, model, {"format": "pt"})
        data = embed(TOKENIZER, model, tmp_path / f"{size}.one").target.read_bytes()
        begin, end = span(data)
        assert (data[begin:end], begin % 64) == (CONTENT, 0)
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
        last = header["tokexport.tokenizer"]
        assert (last["dtype"], start + last["data_offsets"][0]) == ("U8", begin)
        assert start + last["data_offsets"][1] == len(data)
        assert ("tokexport.padding" in header) == (size % 8 != 0)
        if size % 8:
            gap = header["tokexport.padding"]["data_offsets"]
            assert gap == [size, last["data_offsets"][0]]
            assert not any(data[start + gap[0] : start + gap[1]])
