"""The golden files, and the script that makes them."""

import json
import struct
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from damage import Sections
from repository import ROOT, script

from tokexport.file.layout import Header, HeaderFlag
from tokexport.file.write import assemble

FOLDER = ROOT / "formats" / "tokexport" / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.bin"))
DECODER_NAMES = sorted(path.stem for path in FOLDER.glob("decode-*.json"))
EXPECTED_NAMES = sorted({path.stem for path in FOLDER.glob("*.json")} - {*DECODER_NAMES})
REFUSED_NAMES = sorted(path.name for path in (FOLDER / "refused").glob("*.bin"))
# Tag, offset in the section, struct format, number.
Changes = list[tuple[bytes, int, str, int]]


def content(name: str) -> bytes:
    return (FOLDER / f"{name}.bin").read_bytes()


def expected(name: str) -> dict[str, Any]:
    """The results that a reader must return for it."""
    value: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return value


def refused(name: str) -> bytes:
    """A file that a reader must refuse."""
    return (FOLDER / "refused" / name).read_bytes()


def error_of(name: str) -> str:
    """The error with which a reader must refuse it, which begins its file name."""
    return "TKX_E_" + name.removesuffix(".bin").partition("-")[0]


def maker() -> ModuleType:
    """The script that makes them, as a module."""
    return script(FOLDER / "make.py")


def patched(name: str, *changes: tuple[bytes, int, str, int]) -> bytes:
    """A golden file with numbers in sections replaced: tag, offset in the section, struct format,
    number. The checksums are correct.
    """
    data = bytearray(content(name))
    sections = Sections(data)
    for tag, offset, struct_format, number in changes:
        struct.pack_into("<" + struct_format, sections.view(tag), offset, number)
    sections.seal()
    return bytes(data)


def fill(
    tag: bytes, start: int, count: int, struct_format: str, number: int, stride: int = 0
) -> Changes:
    """Changes to consecutive numbers of a section, ``stride`` bytes apart."""
    step = stride or struct.calcsize(struct_format)
    return [(tag, start + step * i, struct_format, number) for i in range(count)]


def parts(start: int, **counts: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """The offsets of consecutive tables, and their numbers of entries; ``counts``: the number of
    entries and the size of an entry.
    """
    tables = {}
    for name, (count, size) in counts.items():
        tables[name] = (start, count)
        start += size * count
    return tables


def numbers(name: str, tag: bytes, offset: int, count: int) -> list[int]:
    """Some u32 of a section of a golden file."""
    return list(struct.unpack_from(f"<{count}I", section(name, tag), offset))


def section(name: str, tag: bytes) -> bytes:
    return bytes(Sections(bytearray(content(name))).view(tag))


def rebuilt(name: str, sections: Mapping[Any, bytes], **fields: int) -> bytes:
    """A golden file with other sections and header fields, and correct checksums."""
    original = Sections(bytearray(content(name)))
    header = Header.parse(original.file)
    contents = {tag: bytes(original.view(tag)) for tag in original.table}
    values = {
        field: fields.get(field, getattr(header, field))
        for field in ("id_count", "token_count", "max_token_bytes", "unknown_id", "model", "flags")
    }
    values["flags"] = HeaderFlag(values["flags"])
    return b"".join(assemble(contents | dict(sections), **values))
