"""The ``decoder`` of a tokenizer.json, as the steps of a chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import Begun, Dialect, Matching, Split
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.decoder_steps import (
    DecoderStep,
    FallbackStep,
    FuseStep,
    RepeatsStep,
    Step,
    StripStep,
    literal,
    replaced,
)
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json.replace_regex import replacer

BYTE_LEVEL_FIELDS: Final = frozenset(("type", "add_prefix_space", "trim_offsets", "use_regex"))
_METASPACE_FIELDS: Final = frozenset(
    ("type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep")
)
_SCHEMES: Final = ("always", "first", "never")
_SUPPORTED: Final = (
    "supported are ByteLevel, Replace, WordPiece, ByteFallback, Fuse, Strip, Metaspace, BPEDecoder,"
    " CTC, a Sequence of these, and null"
)
_SYNTAX: Final = frozenset("\\^$.|?*+()[]{}")
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


def read_decoder(root: Node, dialect: Dialect = Dialect.ONIGURUMA) -> list[DecoderStep]:
    """The steps of the decoder of the tokenizer.json ``root``, Sequences opened.

    ``dialect``: that of its regular expressions. Without a decoder the
    reference joins tokens by spaces. Raises UnsupportedError for a decoder that is not known.
    """
    node = root.optional("decoder")
    if node is None:
        return [
            Step(
                "decoder",
                "null",
                lambda text, first, last: text if first else " " + text,
                None,
                sees_first=True,
            )
        ]
    return [_step(part, dialect) for part in flat(node, "decoders")]


def _step(node: Node, dialect: Dialect) -> DecoderStep:
    kind = node.field("type")
    match kind.string():
        case "ByteLevel":
            check_byte_level(node)
            return FuseStep(node.path, byte_level=True)
        case "Fuse":
            node.object({"type"})
            return FuseStep(node.path)
        case "ByteFallback":
            node.object({"type"})
            return FallbackStep(node.path)
        case "Replace":
            return _replace(node, dialect)
        case "WordPiece":
            return _word_piece(node)
        case "Strip":
            node.object({"type", "content", "start", "stop"})
            return StripStep(
                node.path,
                _character(node.field("content")),
                node.field("start").u32(),
                node.field("stop").u32(),
            )
        case "Metaspace":
            return _metaspace(node)
        case "BPEDecoder":
            node.object({"type", "suffix"})
            suffix = node.field("suffix").string()
            return Step(
                node.path,
                "BPEDecoder",
                lambda text, first, last: text.replace(suffix, "" if last else " "),
                literal(((suffix, ""),)),
                suffix=suffix,
            )
        case "CTC":
            return _ctc(node)
        case _:
            return kind.unsupported(_SUPPORTED)


def _character(node: Node) -> str:
    return text if len(text := node.string()) == 1 else node.fail("one character")


def _replace(node: Node, dialect: Dialect) -> Step:
    node.object({"type", "pattern", "content"})
    content = node.field("content").string()
    pattern = node.field("pattern")
    if set(pattern.object()) not in ({"String"}, {"Regex"}):
        pattern.fail('{"String": text} or {"Regex": pattern}')
    string = pattern.get("String")
    if string is not None:
        text = string.string()
        # The empty pattern is at every place of a text that is not empty.
        apply = _alike(lambda string: string and string.replace(text, content))
        empty = (Matching(Split("", path=pattern.path), content),)
        return Step(node.path, "Replace", apply, literal(((text, content),)) if text else empty)
    regex = pattern.field("Regex")
    split = Split(regex.string(), dialect=dialect, path=regex.path)
    apply = _alike(replacer(split, content))
    plain = regex.string() if _SYNTAX.isdisjoint(regex.string()) else ""
    edits = (Matching(split, content),) if not plain else literal(((plain, content),))
    return Step(node.path, "Replace of a regular expression", apply, edits)


def _alike(apply: Callable[[str], str]) -> Callable[[str, bool, bool], str]:
    """The same at every place."""
    return lambda text, first, last: apply(text)


def _word_piece(node: Node) -> Step:
    node.object({"type", "prefix", "cleanup"})
    prefix = node.field("prefix").string()
    cleanup = CLEANUP if node.field("cleanup").boolean() else ()

    def apply(text: str, first: bool, last: bool) -> str:
        if not first:
            text = text[len(prefix) :] if text.startswith(prefix) else " " + text
        return replaced(text, cleanup)

    edits = literal(cleanup) or ()
    return Step(node.path, "WordPiece", apply, edits, (Begun(prefix, " "), *edits), sees_first=True)


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
        literal(((replacement, at_start),)),
        literal(((replacement, " "),)),
        sees_first=scheme != "never",
    )


def _ctc(node: Node) -> RepeatsStep:
    node.object({"type", "pad_token", "word_delimiter_token", "cleanup"})
    replacements: tuple[tuple[str, str], ...] = ((node.field("pad_token").string(), ""),)
    delimiter = node.field("word_delimiter_token").string()
    if node.field("cleanup").boolean():
        replacements += (*CLEANUP, (delimiter, " "))
    return RepeatsStep(node.path, replacements)
