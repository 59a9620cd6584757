"""Which parts of a source can be converted exactly, and the first refusal of each field.

A conversion stops at the first refusal. Here the refused field is replaced by a plain one, and the
source is read and compiled again.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tokexport.compiler.compile import prepared
from tokexport.conversion import file_bytes
from tokexport.errors import UnsupportedError
from tokexport.sources import tokenizer_json, tokenizer_json_2
from tokexport.sources.json_node import Node, show
from tokexport.sources.registry import Opened, open_source
from tokexport.sources.tokenizer_json.document import byte_level
from tokexport.sources.tokenizer_json.parts import flat

# In the order in which they run, with the name of a Sequence's array.
_SEQUENCES: Final = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"} | {
    "post_processor": "processors",
    "decoder": "decoders",
}
_FIELDS: Final = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
_WITH_PARTS: Final = (tokenizer_json.SOURCE, tokenizer_json_2.SOURCE)
_LONG: Final = ("vocab", "merges", "special_tokens", "precompiled_charsmap")
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Part:
    """``place`` is a path like ``normalizer.normalizers[0]``, ``what`` the type and options."""

    place: str
    what: str
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a source in the order in which they run, the notes of its reader, and the
    converted file without a self test, or None if something is refused.
    """

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    content: bytes | None = None

    @property
    def exact(self) -> bool:
        return not any(part.refusals for part in self.parts)


def parts_of(source: str | os.PathLike[str], **how: Any) -> Parts:
    """The parts of a tokenizer.json; any other source is a single part. The arguments are those of
    :func:`tokexport.sources.registry.open_source`. Raises SourceError for a broken source.
    """
    opened = open_source(source, **how)
    root = opened.input.json if opened.format in _WITH_PARTS else None
    if root is not None:
        opened = replace(opened, content=root)
    refusals: dict[str, UnsupportedError] = {}
    while True:
        try:
            model = prepared(opened.read())
            content = file_bytes(model)
            break
        except UnsupportedError as error:
            error.file = None
            field = re.split(r"[.\[]", error.path)[0]
            if root is None:
                return Parts((Part(opened.input.name, "the whole file", (str(error),)),))
            if field in refusals or field not in root.value:
                raise
            refusals[field] = error
            opened = _without(opened, field)
    if root is None:
        return Parts((Part(opened.input.name, model.provenance.source),), model.notes, content)
    notes = () if "model" in refusals else model.notes  # of the plain model in its place
    return Parts(tuple(_parts(root, refusals)), notes, None if refusals else content)


def _parts(root: Node, refusals: Mapping[str, UnsupportedError]) -> Iterator[Part]:
    for field in dict.fromkeys((*_FIELDS, "added_tokens", *refusals)):
        node, error = root.optional(field), refusals.get(field)
        in_sequence = field in _SEQUENCES and node is not None
        for part in flat(node, _SEQUENCES[field]) if in_sequence else [node] if node else []:
            within = re.escape(part.path) + r"(?![^.\[])"
            if error is not None and field != "added_tokens" and re.match(within, error.path):
                yield Part(part.path, _what(part), (str(error),))
                error = None
            else:
                yield Part(part.path, _what(part))
        if error is not None:
            place = re.sub(r"^([^.\[]+(\[\d+\])?).*", r"\1", error.path)
            yield Part(place, "", (str(error),))


def _without(opened: Opened, field: str) -> Opened:
    """The same source with a plain ``field``. ByteLevel stays: the model reads its alphabet."""
    fields = dict(opened.content.value)
    maps_bytes = '"ByteLevel"' in json.dumps(fields.pop(field))
    if field == "model":
        fields[field] = {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}
    elif maps_bytes and field in ("normalizer", "pre_tokenizer"):
        fields[field] = byte_level(False) if field == "pre_tokenizer" else {"type": "ByteLevel"}
    return replace(opened, content=Node(opened.content.file, "", fields))


def _what(node: Node) -> str:
    """A part in one line: its type and the options that are on."""
    if not isinstance(node.value, dict):
        return f"{len(node.value):,}" if isinstance(node.value, list) else show(node.value)
    words = [str(node.value["type"])] if "type" in node.value else []
    for name, value in node.value.items():
        if name in _LONG:
            words.append(f"{len(value):,} {'tokens' if name == 'vocab' else name}")
        elif name != "type" and value not in (None, False):
            words.append(name if value is True else _cut(f"{name} {show(value)}"))
    return ", ".join(words)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
