"""The header of a safetensors file: its length as u64, then JSON; tensors follow without gaps."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tokexport.errors import SourceError

TENSOR: Final = "tokexport.tokenizer"
PADDING: Final = "tokexport.padding"
_LONGEST_HEADER: Final = 100_000_000  # by the format
_MULTIPLE: Final = 8  # alignment of the header's end, by the format


@dataclass(frozen=True, slots=True)
class Header:
    """The values of the header, without a previously embedded tokenizer."""

    values: dict[str, Any]
    data_start: int  # in the file
    data_size: int  # of the tensors that stay


def read_header(file: BinaryIO, path: Path, file_size: int) -> Header:
    """Reads the header. SourceError for a file that is not safetensors, or is damaged."""
    start = file.read(9)
    length = int.from_bytes(start[:8], "little")
    if start[8:] != b"{" or not 2 <= length <= min(file_size - 8, _LONGEST_HEADER):
        raise SourceError(
            f"{path}: it is neither a GGUF nor a safetensors file", "give a model file"
        )
    try:
        values = json.loads(b"{" + file.read(length - 1))
        ends = {name: _end(value) for name, value in values.items() if name != "__metadata__"}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SourceError(f"{path}: its header is damaged: {error}", "fetch it again") from error
    if 8 + length + max(ends.values(), default=0) != file_size:
        raise SourceError(f"{path}: its tensors do not end with the file", "fetch the file again")
    kept = {name: value for name, value in values.items() if name not in (TENSOR, PADDING)}
    size = max((end for name, end in ends.items() if name in kept), default=0)
    starts = [values[name]["data_offsets"][0] for name in ends.keys() - kept.keys()]
    if any(start < size for start in starts):
        raise SourceError(
            f"{path}: its tokenizer is not the last tensor", "embed into the original"
        )
    return Header(kept, 8 + length, size)


def _end(value: Any) -> int:
    start, end = value["data_offsets"]
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        raise ValueError("offsets of a tensor are not in order")
    return end


def with_tokenizer(header: Header, size: int, alignment: int) -> tuple[bytes, int]:
    """The bytes of a header with one more tensor of ``size`` bytes at the end, which begins at a
    multiple of ``alignment`` in the file; and the number of zeros before it.
    """
    padding = -header.data_size % _MULTIPLE
    begin = header.data_size + padding
    values = header.values | ({PADDING: _bytes(header.data_size, begin)} if padding else {})
    values |= {TENSOR: _bytes(begin, begin + size)}
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text) + begin) % alignment)
    return len(text).to_bytes(8, "little") + text, padding


def _bytes(begin: int, end: int) -> dict[str, Any]:
    return {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
