"""The layout of an embedded tokexport file at the end of a model's file (formats/embedded)."""

from typing import Final

from construct import Bytes, Int64ul, Struct

from tokexport.runtime.embedded import TAIL_MARK

TAIL: Final = Struct(
    "size" / Int64ul * "of the tokexport file, which ends where this begins",
    "mark" / Bytes(len(TAIL_MARK)) * "`TKXTAIL`, and a zero",
)
