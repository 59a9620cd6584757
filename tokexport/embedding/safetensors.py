"""The header of a safetensors file: its length as u64, then JSON; tensors follow without gaps."""

import json
from pathlib import Path
from typing import Any, BinaryIO, Final

from tokexport.errors import SourceError, parse_problem

TENSOR: Final = "tokexport.tokenizer"
PADDING: Final = "tokexport.padding"
_LONGEST_HEADER: Final = 100_000_000  # by the format
_MULTIPLE: Final = 8  # alignment of the header's end, by the format


def with_tokenizer(
    file: BinaryIO, path: Path, file_size: int, size: int, alignment: int
) -> tuple[bytes, int, int, int]:
    """The bytes of a file's header with one more tensor of ``size`` bytes at the end, which begins
    at a multiple of ``alignment`` in the new file; where the tensors that stay begin and end in the
    old one, without a previously embedded tokenizer; and the number of zeros after them.

    SourceError for a file that is not safetensors, or is damaged.
    """
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
        problem = f"{path}: its header is damaged: {parse_problem(error)}"
        raise SourceError(problem, "fetch it again") from error
    if 8 + length + max(ends.values(), default=0) != file_size:
        raise SourceError(f"{path}: its tensors do not end with the file", "fetch the file again")
    kept = {name: value for name, value in values.items() if name not in (TENSOR, PADDING)}
    data_size = max((end for name, end in ends.items() if name in kept), default=0)
    starts = [values[name]["data_offsets"][0] for name in ends.keys() - kept.keys()]
    if any(start < data_size for start in starts):
        raise SourceError(
            f"{path}: its tokenizer is not the last tensor", "embed into the original"
        )
    padding = -data_size % _MULTIPLE
    begin = data_size + padding
    kept |= {PADDING: _bytes(data_size, begin)} if padding else {}
    kept |= {TENSOR: _bytes(begin, begin + size)}
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text) + begin) % alignment)
    data_start = 8 + length
    return len(text).to_bytes(8, "little") + text, data_start, data_start + data_size, padding


def _end(value: Any) -> int:
    start, end = value["data_offsets"]
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        raise ValueError("offsets of a tensor are not in order")
    return end


def _bytes(begin: int, end: int) -> dict[str, Any]:
    return {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
