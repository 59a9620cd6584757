"""The self test in a file (SPEC 3.9)."""

from __future__ import annotations

from .added_tokens import ALL
from .data import is_utf8, require, u32s
from .encode import encode
from .file import File

SPECIAL = 1


def self_test(file: File) -> int:
    """Encodes each case of TEST; returns the number of cases."""
    require(b"TEST" in file.sections, "TKX_E_NOT_FOUND")
    section = file.sections[b"TEST"]
    case_count, id_count, text_size = u32s(section, 0, 3)
    ids = u32s(section, 16 + 20 * case_count, id_count)
    texts = section[len(section) - text_size :]
    for at in range(16, 16 + 20 * case_count, 20):
        offset, length, first, count, flags = u32s(section, at, 5)
        require(offset + length <= text_size and first + count <= id_count, "TKX_E_CORRUPT")
        text = texts[offset : offset + length]
        require(is_utf8(text), "TKX_E_CORRUPT")
        found = encode(file, text, ALL if flags & SPECIAL else ())
        require(found == list(ids[first : first + count]), "TKX_E_SELF_TEST")
    return case_count
