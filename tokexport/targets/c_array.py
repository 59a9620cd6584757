"""A tokexport file as a C array, for programs that keep it in flash; the bytes are unchanged."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tokexport.conversion import file_bytes
from tokexport.errors import SourceError
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.targets.material import Material, of_file
from tokexport.targets.target import Files, Target, single

_WIDTH: Final = 16  # bytes per line
_ARRAY: Final = re.compile(rb"const unsigned char tokenizer\[(\d+)\] = \{([^}]*)\};")
_HEAD: Final = """\
/* A tokexport file: tkx_open(&t, tokenizer, sizeof tokenizer), at any alignment. */
/* extern const unsigned char tokenizer[{size}]; */
const unsigned char tokenizer[{size}] = {{
"""


def _write(source: Material) -> Files:
    data = source.file
    if data is None:
        assert source.model is not None
        data = file_bytes(source.model)
    rows = (data[at : at + _WIDTH] for at in range(0, len(data), _WIDTH))
    lines = "\n".join(" " + "".join(f"{byte}," for byte in row) for row in rows)
    return single(f"{_HEAD.format(size=len(data))}{lines}\n}};\n".encode())


def _open(path: Path) -> Tokenizer:
    found = _ARRAY.search(path.read_bytes())
    numbers = [] if found is None else [int(word) for word in found[2].split(b",") if word.strip()]
    if found is None or len(numbers) != int(found[1]) or max(numbers, default=0) > 255:
        raise SourceError(f"{path}: it is cut off, or not an array that tokexport wrote")
    return load(bytes(numbers))


class CoreRuntime:
    """The C core: the file's own ids."""

    finds_special_tokens = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, allowed_special="all")

    def decode(self, ids: Sequence[int]) -> bytes:
        return self._tokenizer.decode_bytes(ids)


C_ARRAY: Final = Target(
    "c-array",
    "tokexport.c",
    _write,
    lambda path: of_file(_open(path), path.name),
    lambda path, how: CoreRuntime(_open(path)),
    Path("c-array/golden.c"),
    whole=True,
)
