"""Where the tensors of a GGUF file are.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from typing import Any, Final

from tokexport.sources.gguf.metadata import Reader

_ALIGNMENT: Final = "general.alignment"


def last_tensor(data: Any, file: str) -> int:
    """Where the last tensor begins in a file, or where its data would, if it has none.

    SourceError for a file that is damaged, or ends before that is known.

    >>> last_tensor(b"GGUF\\x03\\0\\0\\0" + bytes(16), "x.gguf")
    32
    """
    reader = Reader(data, file)
    alignment = reader.values((_ALIGNMENT,)).get(_ALIGNMENT, 32)
    if type(alignment) is not int or alignment < 1:
        reader.fail(f"has the {_ALIGNMENT} {alignment}")
    last = 0
    for _ in range(reader.tensors):
        reader.text()
        reader.skip(8 * reader.number("I") + 4)  # its dimensions and its type
        last = max(last, reader.number("Q"))
    return reader.at + -reader.at % alignment + last
