"""The ``pre_tokenizer`` of a tokenizer.json, as a list of splits.

Each kind of pre-tokenizer is written as the split that it is, so that one mechanism serves all. Behind ByteLevel the
text is one character a byte, and the splits that stand there say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import Behavior, CharacterTest, Dialect, Split
from tokexport.readers.huggingface_decoder import check_byte_level
from tokexport.readers.huggingface_parts import flat
from tokexport.readers.json_node import Node

# What ByteLevel splits by, in the reference and in GPT-2's encoder.py.
GPT2_PATTERN: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WORDS_PATTERN: Final = r"\w+|[^\w\s]+"

_BEHAVIORS: Final = {behavior.value: behavior for behavior in Behavior}
_FIXED_LENGTH_DEFAULT: Final = 5
_OTHERS: Final = (
    "supported are ByteLevel, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, "
    "BertPreTokenizer, FixedLength and a Sequence of these"
)


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """The splits in their order, and whether each text between added tokens gets a space before it.

    ``byte_level``: behind them the text is in GPT-2's alphabet.
    """

    splits: tuple[Split, ...]
    add_prefix_space: bool
    byte_level: bool


def read_pre_tokenizer(root: Node, *, mapped: bool) -> PreTokenizer:
    """The pre-tokenizer of the tokenizer.json ``root``.

    ``mapped``: the normalizer has turned bytes into GPT-2's alphabet already. Raises UnsupportedError where the
    pre-tokenizer is not byte-level or not made of splits.
    """
    node = root.optional("pre_tokenizer")
    splits: list[Split] = []
    add_prefix_space = False
    for part in flat(node, "pretokenizers"):
        if part.field("type").string() == "ByteLevel":
            if mapped:
                part.field("type").unsupported("one ByteLevel is supported; this second one would map the bytes again")
            check_byte_level(part)
            if part.field("add_prefix_space").boolean():
                if splits:
                    part.field("add_prefix_space").unsupported("true is supported only where nothing splits before it")
                add_prefix_space = True
            use_regex = part.get("use_regex")
            if use_regex is None or use_regex.boolean():
                splits.append(Split(GPT2_PATTERN, path=part.path))
            mapped = True
        else:
            splits.extend(_splits(part, on_bytes=mapped))
    return PreTokenizer(tuple(splits), add_prefix_space, mapped)


def _splits(node: Node, *, on_bytes: bool) -> list[Split]:
    def split(
        pattern: str | CharacterTest,
        behavior: Behavior = Behavior.ISOLATED,
        invert: bool = False,
        dialect: Dialect = Dialect.ONIGURUMA,
    ) -> Split:
        return Split(pattern, behavior, invert, dialect, on_bytes, node.path)

    kind = node.field("type")
    match kind.string():
        case "Split":
            node.object({"type", "pattern", "behavior", "invert"})
            return [
                split(
                    _pattern(node.field("pattern")), _behavior(node.field("behavior")), node.field("invert").boolean()
                )
            ]
        case "Digits":
            node.object({"type", "individual_digits"})
            alone = node.field("individual_digits").boolean()
            return [split(CharacterTest.NUMERIC, Behavior.ISOLATED if alone else Behavior.CONTIGUOUS)]
        case "Punctuation":
            node.object({"type", "behavior"})
            behavior = node.get("behavior")
            return [split(CharacterTest.PUNCTUATION, Behavior.ISOLATED if behavior is None else _behavior(behavior))]
        case "Whitespace":
            # The reference has this one pattern in Rust's regex engine, whose \w is not Oniguruma's.
            node.object({"type"})
            return [split(WORDS_PATTERN, Behavior.REMOVED, True, Dialect.FANCY_REGEX)]
        case "WhitespaceSplit":
            node.object({"type"})
            return [split(CharacterTest.WHITESPACE, Behavior.REMOVED)]
        case "CharDelimiterSplit":
            node.object({"type", "delimiter"})
            delimiter = node.field("delimiter")
            if len(delimiter.string()) != 1:
                delimiter.fail("a single character")
            return [split(escape(delimiter.string()), Behavior.REMOVED)]
        case "BertPreTokenizer":
            node.object({"type"})
            return [
                split(CharacterTest.WHITESPACE, Behavior.REMOVED),
                split(CharacterTest.PUNCTUATION, Behavior.ISOLATED),
            ]
        case "FixedLength":
            node.object({"type", "length"})
            length = node.get("length")
            size = _FIXED_LENGTH_DEFAULT if length is None else length.u32()
            if size == 0:
                raise SourceError(
                    f"{node.file}: {node.path}.length is 0, with which the reference stops; it must be 1 or more"
                )
            return [split(rf"[\s\S]{{1,{size}}}")]
        case _:
            return kind.unsupported(_OTHERS)


def _pattern(node: Node) -> str:
    fields = node.object({"String", "Regex"})
    if len(fields) != 1:
        node.fail('{"String": text} or {"Regex": pattern}')
    if "Regex" in fields:
        return node.field("Regex").string()
    literal = node.field("String")
    if not literal.string():
        literal.unsupported("a string of one character or more is supported")
    return escape(literal.string())


def _behavior(node: Node) -> Behavior:
    if node.string() not in _BEHAVIORS:
        node.fail("one of " + ", ".join(_BEHAVIORS))
    return _BEHAVIORS[node.string()]


def escape(literal: str) -> str:
    """A regular expression, in Oniguruma's syntax, that matches just this text.

    >>> escape("a.b")
    'a\\\\.b'
    """
    return "".join("\\" + character if character in r"\.+*?()|[]{}^$#&-~" else character for character in literal)
