"""Numbers in bytes, and errors (SPEC 1.1, 4.4)."""

from __future__ import annotations

import struct

NONE = 0xFFFFFFFF  # no id, no rank


class TokexportError(Exception):
    """A file or a call is refused; ``name`` is the error of SPEC 4.4, such as ``TKX_E_MAGIC``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def require(truth: bool, name: str) -> None:
    """Refuses with the error ``name`` unless a condition is true."""
    if not truth:
        raise TokexportError(name)


def u16(data: bytes, at: int) -> int:
    """The 16-bit number at an offset."""
    return int(struct.unpack_from("<H", data, at)[0])


def u32(data: bytes, at: int) -> int:
    """The 32-bit number at an offset."""
    return int(struct.unpack_from("<I", data, at)[0])


def u64(data: bytes, at: int) -> int:
    """The 64-bit number at an offset."""
    return int(struct.unpack_from("<Q", data, at)[0])


def u16s(data: bytes, at: int, count: int) -> tuple[int, ...]:
    """Consecutive 16-bit numbers."""
    return struct.unpack_from(f"<{count}H", data, at)


def u32s(data: bytes, at: int, count: int) -> tuple[int, ...]:
    """Consecutive 32-bit numbers."""
    return struct.unpack_from(f"<{count}I", data, at)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8: Python's decoder is as strict as SPEC 3.1 requires."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def characters(data: bytes) -> list[bytes]:
    """The characters of a text, each as its bytes."""
    return [character.encode() for character in data.decode()]
