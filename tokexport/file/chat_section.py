"""FRAM: the frame of a chat template."""

from collections.abc import Collection

import numpy as np

import tokexport.file.layout as layout
from tokexport.chat.frame import Frame
from tokexport.chat.markup import marks
from tokexport.file.pack import struct

_SIZES = [field.name for field in layout.FrameHeader.subcons][4:]


def frame(value: Frame | None, special: Collection[str]) -> bytes | None:
    """FRAM, or None if there is no frame. ``special``: the special tokens."""
    if value is None:
        return None
    places = marks(value.texts, special)
    texts = [text.encode() for text in (*value.texts, *value.reserved)]
    sizes = [len(text) for text in texts]
    reserved = sizes[len(_SIZES) :]
    flags = [layout.FrameFlag[f"STRIP_{role.upper()}"] for role in value.stripped]
    flags += [layout.FrameFlag[f"TRIMMED_{role.upper()}"] for role in value.trimmed]
    flags += [layout.FrameFlag.HAS_SYSTEM] * (value.system is not None)
    flags += [layout.FrameFlag.TAKES_EMPTY] * value.takes_empty
    header = struct(
        layout.FrameHeader,
        flags=sum(flags),
        mark_count=len(places),
        reserved_count=len(reserved),
        text_size=sum(sizes),
        **dict(zip(_SIZES, sizes, strict=False)),
    )
    numbers = np.array(places, layout.FRAME_MARK).tobytes()
    return header + numbers + np.array(reserved, layout.RESERVED_SIZE).tobytes() + b"".join(texts)
