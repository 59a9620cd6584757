"""GPT-2's alphabet for the references; readers have another, lest one mistake hide another."""

from __future__ import annotations

from typing import Final

# A byte that prints stands for itself, the others for U+0100 onwards, in their order.
_PRINTING: Final = [byte for byte in range(256) if chr(byte).isprintable() and byte != 0x20]
_OTHERS: Final = [byte for byte in range(256) if byte not in _PRINTING]
BYTE_OF: Final = {chr(byte): byte for byte in _PRINTING} | {
    chr(0x100 + n): byte for n, byte in enumerate(_OTHERS)
}
