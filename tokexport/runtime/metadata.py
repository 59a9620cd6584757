"""What describes a file: its section table, its provenance (PROV) and chat templates (CHAT)."""

from __future__ import annotations

import json
from struct import iter_unpack
from typing import TYPE_CHECKING, Any

from tokexport.errors import FormatError

if TYPE_CHECKING:
    from tokexport.runtime.tokenizer import Tokenizer


def section_sizes(data: bytes | memoryview) -> list[tuple[str, int]]:
    """Tag and size in bytes of each section, in the order of the file."""
    table = data[64 : 64 + 32 * int.from_bytes(data[12:16], "little")]
    rows = iter_unpack("<4sIQQII", table)  # tag, flags, offset, size, CRC-32, zero
    return [(tag.decode("ascii", "backslashreplace"), size) for tag, _, _, size, _, _ in rows]


def section(tokenizer: Tokenizer, tag: bytes) -> bytes | None:
    """The bytes of a section, or ``None`` if the file lacks it."""
    extent = tokenizer._core.section(tag)
    return None if extent is None else bytes(tokenizer._data[extent[0] : sum(extent)])


def metadata(tokenizer: Tokenizer) -> dict[str, Any]:
    """The object in PROV, or an empty one. Raises ``FormatError`` if it is damaged."""
    content = section(tokenizer, b"PROV")
    if content is None:
        return {}
    try:
        return dict(json.loads(content.decode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(tokenizer, "PROV", "it does not hold a JSON object") from error


def chat_settings(tokenizer: Tokenizer, name: str) -> dict[str, str]:
    """Texts about chats by name: ``templates`` or ``variables``. Raises ``FormatError``."""
    chat = metadata(tokenizer).get("chat", {})
    values = chat.get(name, {}) if isinstance(chat, dict) else None
    if isinstance(values, dict) and all(isinstance(each, str) for each in values.values()):
        return values
    raise damaged(tokenizer, "PROV", f'"chat" is not an object with texts as "{name}"')


def chat_template(tokenizer: Tokenizer) -> str | None:
    """The text in CHAT, or ``None``. Raises ``FormatError`` if it is not UTF-8."""
    content = section(tokenizer, b"CHAT")
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise damaged(tokenizer, "CHAT", "it is not UTF-8") from error


def file_name(tokenizer: Tokenizer) -> str:
    """The name of a tokenizer's file in errors."""
    return tokenizer._path or f"tokexport file of {len(tokenizer._data)} bytes"


def damaged(tokenizer: Tokenizer, tag: str, problem: str) -> FormatError:
    advice = "fetch the file again, or convert the source again"
    return FormatError(f"{file_name(tokenizer)}: section {tag} is damaged: {problem}", advice)
