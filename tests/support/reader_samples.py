"""Small tokenizer.json documents for tests of the readers, read by the reference and by us."""

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import tokenizers

from tokexport.compiler.compile import prepared
from tokexport.model import TokenizerModel
from tokexport.sources import read


def spelled(content: str | bytes) -> str:
    """Bytes, or the bytes of a text, in that alphabet."""
    data = content.encode() if isinstance(content, str) else content
    return "".join(map(CHARACTERS.__getitem__, data))


# GPT-2's byte alphabet: bytes that are printable in Latin-1, others numbered from U+0100 on.
_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = itertools.count(0x100)
CHARACTERS = [chr(byte if byte in _PRINTABLE else next(_OTHERS)) for byte in range(256)]
_FLAGS = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTE_LEVEL = {"type": "ByteLevel", **_FLAGS}
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
BYTES = {character: byte for byte, character in enumerate(CHARACTERS)}


def document(**changes: Any) -> dict[str, Any]:
    """A tokenizer.json of the 256 bytes with changed fields; ``model`` is merged into its model."""
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
    return {"id": number, "content": content, **dict.fromkeys(FLAGS, False), **flags}


def read_document(fields: dict[str, Any] | str, folder: Path, **other_files: Any) -> TokenizerModel:
    """The model read from a document or its text; ``other_files``: by stem, as JSON."""
    path = folder / "tokenizer.json"
    path.write_text(fields if isinstance(fields, str) else json.dumps(fields), encoding="utf-8")
    for stem, value in other_files.items():
        (folder / f"{stem}.json").write_text(json.dumps(value), encoding="utf-8")
    return prepared(read(path))


def reference(fields: dict[str, Any] | str) -> tokenizers.Tokenizer:
    """The reference library's tokenizer of a document (or its text)."""
    return tokenizers.Tokenizer.from_str(fields if isinstance(fields, str) else json.dumps(fields))
