"""Small tokenizer.json documents for tests of the readers, read by the reference and by us."""

import copy
import json
from pathlib import Path
from typing import Any

import tokenizers

from tokexport.compiler.compile import prepared
from tokexport.model import TokenizerModel
from tokexport.sources import read


def byte_characters() -> list[str]:
    """GPT-2's byte alphabet, constructed as in its encoder.py."""
    ranges = (("!", "~"), ("¡", "¬"), ("®", "ÿ"))
    printable = [byte for first, last in ranges for byte in range(ord(first), ord(last) + 1)]
    characters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(256 + len(characters) - len(printable))
    return [characters[byte] for byte in range(256)]


def spelled(content: str | bytes) -> str:
    """Bytes, or the bytes of a text, in that alphabet."""
    data = content.encode() if isinstance(content, str) else content
    return "".join(map(CHARACTERS.__getitem__, data))


CHARACTERS = byte_characters()
_FLAGS = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTE_LEVEL = {"type": "ByteLevel", **_FLAGS}
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
BYTES = {character: byte for byte, character in enumerate(CHARACTERS)}


def document(**changes: Any) -> dict[str, Any]:
    """A tokenizer.json of the 256 bytes. A change replaces a field; ``model`` is merged into the
    model.
    """
    fields: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            **dict.fromkeys(("dropout", "unk_token", *AFFIXES)),
            **dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), False),
            "vocab": BYTES,
            "merges": [],
        },
    }
    fields = copy.deepcopy(fields)
    fields["model"].update(changes.pop("model", {}))
    fields.update(changes)
    return fields


def added(content: str, number: int = 0, **flags: bool) -> dict[str, Any]:
    """An item of ``added_tokens``, with every flag false except the given ones."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": number, "content": content, **{name: flags.get(name, False) for name in names}}


def read_document(fields: dict[str, Any] | str, folder: Path, **other_files: Any) -> TokenizerModel:
    """The model that the reader returns for a document (or its text); ``other_files``: by stem, as
    JSON.
    """
    path = folder / "tokenizer.json"
    path.write_text(fields if isinstance(fields, str) else json.dumps(fields), encoding="utf-8")
    for stem, value in other_files.items():
        (folder / f"{stem}.json").write_text(json.dumps(value), encoding="utf-8")
    return prepared(read(path))


def reference(fields: dict[str, Any] | str) -> tokenizers.Tokenizer:
    """The reference library's tokenizer of a document (or its text)."""
    return tokenizers.Tokenizer.from_str(fields if isinstance(fields, str) else json.dumps(fields))
