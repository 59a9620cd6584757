"""The ``decoder`` of a tokenizer.json as the steps of a chain.

Source: ``tokenizers``, the module ``decoders``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tokexport.model import ReplaceLiteral, StripChars, TextEdit
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json import parts

_SUPPORTED: Final = (
    "use null, ByteLevel, Replace, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder or a"
    " Sequence of these"
)
_PATTERNS: Final = (
    r'use a pattern without special characters, or "(?<!\\n)^ " or "\\A ", which drop one'
    " character at the start; no published tokenizer has any other"
)
_SYNTAX: Final = frozenset("\\^$.|?*+()[]{}")
# One character at the start of a text.
_LEADING: Final = re.compile(r"(?:\\A|\(\?<!(?:\\n|\n)\)\^)([^\\^$.|?*+()\[\]{}])")
# What the reference calls cleanup of tokenization artifacts: each of these in order.
CLEANUP: Final = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    *((f" {end}", end) for end in ("n't", "'m")),
    (" do not", " don't"),
    *((f" {end}", end) for end in ("'s", "'ve", "'re")),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One decoder, with its path in the source and its type there."""

    path: str
    name: str
    # What it does to a joined text; None: not supported.
    on_text: TextEdit | None = None
    # What it does to each string; a function also gets whether that is the first and the last.
    on_strings: ReplaceLiteral | Callable[[str, bool, bool], str] | None = None
    sees_first: bool = False
    sees_last: bool = False


def read_decoder(root: Node) -> list[Step]:
    """The steps of the decoder of the tokenizer.json ``root``, with Sequences flattened.

    Raises UnsupportedError for an unsupported decoder or pattern, SourceError for a decoder that
    the reference refuses.
    """
    node = root.optional("decoder")
    if node is not None:
        return [_step(part) for part in parts.flat(node, "decoders")]
    return [
        Step(
            "decoder",
            "null",
            on_strings=lambda text, first, last: text if first else " " + text,
            sees_first=True,
        )
    ]


def _step(node: Node) -> Step:
    kind = node.field("type")
    match kind.string():
        case "ByteLevel":
            parts.check_byte_level(node)
            return Step(node.path, "ByteLevel")
        case "Fuse" | "ByteFallback" as name:
            node.object({"type"})
            return Step(node.path, name)
        case "Replace":
            return _replace(node)
        case "WordPiece":
            return _word_piece(node)
        case "Strip":
            node.object({"type", "content", "start", "stop"})
            stripped = parts.character(node.field("content"))
            start, stop = node.field("start").u32(), node.field("stop")
            if stop.u32():
                stop.unsupported("a Strip of the end is not supported", "use 0 as stop")
            return Step(node.path, "Strip", StripChars(stripped, start, node.path))
        case "Metaspace":
            return _metaspace(node)
        case "BPEDecoder":
            node.object({"type", "suffix"})
            suffix = node.field("suffix").string()
            return Step(
                node.path,
                "BPEDecoder",
                on_strings=lambda text, first, last: text.replace(suffix, "" if last else " "),
                sees_last=True,
            )
        case "CTC":
            problem = "the decoder CTC is not supported: no published tokenizer.json has it"
            hint = "use Fuse, and drop repeated ids and padding before decoding"
            return kind.unsupported(problem, hint)
        case _:
            return kind.unsupported(f"the decoder {show(kind.value)} is not supported", _SUPPORTED)


def _replace(node: Node) -> Step:
    node.object({"type", "pattern", "content"})
    content = node.field("content").string()
    text, literal = parts.read_pattern(node.field("pattern"))
    field = node.field("pattern").field("String" if literal else "Regex")
    leading = None if literal or content else _LEADING.fullmatch(text)
    if leading:
        return Step(node.path, "Replace", StripChars(leading[1], 1, node.path))
    if not literal and not _SYNTAX.isdisjoint(text):
        field.unsupported(f"the pattern {show(text)} is not supported", _PATTERNS)
    if not text:
        field.unsupported('the pattern "" is not supported', "use at least one character")
    edit = ReplaceLiteral(text, content, path=node.path)
    return Step(node.path, "Replace", edit, edit)


def _word_piece(node: Node) -> Step:
    node.object({"type", "prefix", "cleanup"})
    prefix = node.field("prefix").string()
    cleanup = CLEANUP if node.field("cleanup").boolean() else ()

    def apply(text: str, first: bool, last: bool) -> str:
        if not first:
            text = text[len(prefix) :] if text.startswith(prefix) else " " + text
        for pattern, content in cleanup:
            text = text.replace(pattern, content)
        return text

    return Step(node.path, "WordPiece", on_strings=apply, sees_first=True)


def _metaspace(node: Node) -> Step:
    replacement, scheme = parts.read_metaspace(node)
    # If encoding prepends a space to a text, decoding drops it again.
    sees_first = scheme != "never"
    at_start = "" if sees_first else " "
    on_text = ReplaceLiteral(replacement, at_start, path=node.path)
    on_strings = ReplaceLiteral(replacement, " ", at_start if sees_first else None, node.path)
    return Step(node.path, "Metaspace", on_text, on_strings, sees_first)
