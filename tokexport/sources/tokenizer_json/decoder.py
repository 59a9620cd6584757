"""The ``decoder`` of a tokenizer.json, as the steps of a chain."""

from __future__ import annotations

import re
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import ReplaceLiteral, StripChars
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.decoder_steps import (
    CharacterStep,
    DecoderStep,
    FallbackStep,
    JoinStep,
    RepeatsStep,
    Step,
    replaced,
    stripped,
)
from tokexport.sources.tokenizer_json.parts import flat

BYTE_LEVEL_FIELDS: Final = frozenset(("type", "add_prefix_space", "trim_offsets", "use_regex"))
_METASPACE_FIELDS: Final = frozenset(
    ("type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep")
)
_SCHEMES: Final = ("always", "first", "never")
_SUPPORTED: Final = (
    "supported are ByteLevel, Replace, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder,"
    " CTC, a Sequence of these, and null"
)
_PATTERNS: Final = (
    r'patterns without a special character are, and "(?<!\\n)^ " and "\\A ", which drop one character'
    " at the start: a tokenizer that others publish has no other one"
)
_SYNTAX: Final = frozenset("\\^$.|?*+()[]{}")
# One character at the start of a text.
_LEADING: Final = re.compile(r"(?:\\A|\(\?<!(?:\\n|\n)\)\^)([^\\^$.|?*+()\[\]{}])")
# What the reference calls the cleanup of tokenization artifacts: each of these in turn.
CLEANUP: Final = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def check_byte_level(node: Node) -> None:
    """Check the fields of a ByteLevel part: as pre-tokenizer, decoder and post-processor it has the
    same ones.
    """
    node.object(BYTE_LEVEL_FIELDS)
    node.field("add_prefix_space").boolean()
    node.field("trim_offsets").boolean()
    use_regex = node.get("use_regex")
    if use_regex is not None:
        use_regex.boolean()


def read_decoder(root: Node) -> list[DecoderStep]:
    """The steps of the decoder of the tokenizer.json ``root``, Sequences opened.

    Raises UnsupportedError for a decoder, or a pattern in one, that is not supported, SourceError
    for one that the reference refuses.
    """
    node = root.optional("decoder")
    if node is None:
        # The reference joins tokens by spaces.
        return [
            Step(
                "decoder",
                "null",
                lambda text, first, last: text if first else " " + text,
                sees_first=True,
            )
        ]
    return [_step(part) for part in flat(node, "decoders")]


def _step(node: Node) -> DecoderStep:
    kind = node.field("type")
    match kind.string():
        case "ByteLevel":
            check_byte_level(node)
            return JoinStep(node.path, byte_level=True)
        case "Fuse":
            node.object({"type"})
            return JoinStep(node.path)
        case "ByteFallback":
            node.object({"type"})
            return FallbackStep(node.path)
        case "Replace":
            return _replace(node)
        case "WordPiece":
            return _word_piece(node)
        case "Strip":
            return _strip(node)
        case "Metaspace":
            return _metaspace(node)
        case "BPEDecoder":
            node.object({"type", "suffix"})
            suffix = node.field("suffix").string()
            return Step(
                node.path,
                "BPEDecoder",
                lambda text, first, last: text.replace(suffix, "" if last else " "),
                sees_last=True,
            )
        case "CTC":
            return _ctc(node)
        case _:
            return kind.unsupported(_SUPPORTED)


def _character(node: Node) -> str:
    return text if len(text := node.string()) == 1 else node.fail("one character")


def _replace(node: Node) -> Step:
    node.object({"type", "pattern", "content"})
    content = node.field("content").string()
    pattern = node.field("pattern")
    if set(pattern.object()) not in ({"String"}, {"Regex"}):
        pattern.fail('{"String": text} or {"Regex": pattern}')
    literal, regex = pattern.get("String"), pattern.get("Regex")
    if regex is not None:
        leading = _LEADING.fullmatch(regex.string())
        if leading and not content:
            return _strip_start(node.path, "Replace", leading[1], 1)
        if not _SYNTAX.isdisjoint(regex.string()):
            regex.unsupported(_PATTERNS)
        literal = regex
    assert literal is not None
    text = literal.string()
    if not text:
        literal.unsupported("a text of one character or more is")
    edit = ReplaceLiteral(text, content, path=node.path)
    return Step(
        node.path,
        "Replace",
        lambda string, first, last: string.replace(text, content),
        (edit,),
        CharacterStep(text, content, content) if len(text) == 1 else None,
    )


def _strip(node: Node) -> Step:
    node.object({"type", "content", "start", "stop"})
    character = _character(node.field("content"))
    start, stop = node.field("start").u32(), node.field("stop").u32()
    if not stop:
        return _strip_start(node.path, "Strip", character, start)
    return Step(
        node.path, "Strip", lambda text, first, last: stripped(text, character, start, stop)
    )


def _strip_start(path: str, name: str, character: str, count: int) -> Step:
    return Step(
        path,
        name,
        lambda text, first, last: stripped(text, character, count, 0),
        (StripChars(character, count, path),) if count else (),
    )


def _word_piece(node: Node) -> Step:
    node.object({"type", "prefix", "cleanup"})
    prefix = node.field("prefix").string()
    cleanup = CLEANUP if node.field("cleanup").boolean() else ()

    def apply(text: str, first: bool, last: bool) -> str:
        if not first:
            text = text[len(prefix) :] if text.startswith(prefix) else " " + text
        return replaced(text, cleanup)

    return Step(node.path, "WordPiece", apply, sees_first=True)


def _metaspace(node: Node) -> Step:
    node.object(_METASPACE_FIELDS)
    replacement = _character(node.field("replacement"))
    named = node.get("prepend_scheme")
    scheme = "always" if named is None else named.string()
    if named is not None and scheme not in _SCHEMES:
        named.fail('"always", "first" or "never"')
    prefix_space = node.optional("add_prefix_space")
    if prefix_space is not None and not prefix_space.boolean() and scheme != "never":
        raise SourceError(
            f"{node.file}: {prefix_space.path} is false and the prepend_scheme is {scheme!r}, which"
            ' the reference refuses; set prepend_scheme to "never"'
        )
    # At the start of a text that got a space before it, the space is dropped again.
    at_start = " " if scheme == "never" else ""
    return Step(
        node.path,
        "Metaspace",
        lambda text, first, last: text.replace(replacement, at_start if first else " "),
        (ReplaceLiteral(replacement, at_start, path=node.path),),
        CharacterStep(replacement, " ", at_start),
        sees_first=scheme != "never",
    )


def _ctc(node: Node) -> RepeatsStep:
    node.object({"type", "pad_token", "word_delimiter_token", "cleanup"})
    replacements: tuple[tuple[str, str], ...] = ((node.field("pad_token").string(), ""),)
    delimiter = node.field("word_delimiter_token").string()
    if node.field("cleanup").boolean():
        replacements += (*CLEANUP, (delimiter, " "))
    return RepeatsStep(node.path, replacements)
