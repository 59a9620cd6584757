"""The ``pre_tokenizer`` of a tokenizer.json as splits and as steps that rewrite each pre-token.

ByteLevel ends in a step that spells each byte as a character, which later steps see.
"""

import functools
import re
from typing import Final

from tokexport.model import (
    Behavior,
    CharacterRuns,
    CharacterTest,
    Dialect,
    Prepend,
    PreTokenizerStep,
    Replace,
    SpellBytes,
    Split,
)
from tokexport.sources.json_node import Node, show
from tokexport.sources.patterns import GPT2
from tokexport.sources.tokenizer_json import parts

WORDS_PATTERN: Final = r"\w+|[^\w\s]+"

_BEHAVIORS: Final = {behavior.value: behavior for behavior in Behavior}
_FIXED_LENGTH_DEFAULT: Final = 5
# The settings of pre-tokenizers that are splits.
_SETTINGS: Final = {
    "Split": ("pattern", "behavior", "invert"),
    "Digits": ("individual_digits",),
    "Punctuation": ("behavior",),
    "Whitespace": (),
    "WhitespaceSplit": (),
    "CharDelimiterSplit": ("delimiter",),
    "BertPreTokenizer": (),
    "UnicodeScripts": (),
    "FixedLength": ("length",),
}


def read_pre_tokenizer(root: Node) -> tuple[PreTokenizerStep, ...]:
    """The steps of the pre-tokenizer of ``root``; UnsupportedError for an unknown one."""
    steps: list[PreTokenizerStep] = []
    for part in parts.flat(root.optional("pre_tokenizer"), "pretokenizers"):
        match part.field("type").string():
            case "ByteLevel":
                steps += _byte_level(part)
            case "Metaspace":
                steps += _metaspace(part)
            case _:
                steps += _splits(part)
    return tuple(steps)


def _byte_level(node: Node) -> list[PreTokenizerStep]:
    parts.check_byte_level(node)
    steps: list[PreTokenizerStep] = []
    if node.field("add_prefix_space").boolean():
        steps.append(Prepend(" ", unless_present=True))
    if node.flag("use_regex", True):
        steps.append(Split(GPT2, path=node.path))
    return [*steps, SpellBytes()]


def _metaspace(node: Node) -> list[PreTokenizerStep]:
    mark, scheme = parts.read_metaspace(node)
    steps: list[PreTokenizerStep] = [Replace(" ", mark, path=node.path)]
    if scheme != "never":
        steps.append(Prepend(mark, unless_present=True, only_first=scheme == "first"))
    if node.flag("split", True):
        steps.append(Split(re.escape(mark), Behavior.MERGED_WITH_NEXT, path=node.path))
    return steps


def _splits(node: Node) -> list[Split]:
    split = functools.partial(Split, path=node.path)
    kind = node.field("type").string()
    if kind not in _SETTINGS:
        known = ", ".join(("ByteLevel", "Metaspace", *_SETTINGS))
        problem = f"the pre-tokenizer {show(kind)} is not supported"
        node.field("type").unsupported(problem, f"use {known} or a Sequence of these")
    node.object({"type", *_SETTINGS[kind]})
    match kind:
        case "Split":
            pattern, literal = parts.read_pattern(node.field("pattern"))
            pattern = re.escape(pattern) if literal else pattern
            return [split(pattern, _behavior(node), node.field("invert").boolean())]
        case "Digits":
            alone = node.field("individual_digits").boolean()
            behavior = Behavior.ISOLATED if alone else Behavior.CONTIGUOUS
            return [split(CharacterTest.NUMERIC, behavior)]
        case "Punctuation":
            behavior = _behavior(node) if "behavior" in node.value else Behavior.ISOLATED
            return [split(CharacterTest.PUNCTUATION, behavior)]
        case "Whitespace":
            # The reference has this pattern in Rust's regex engine, whose \w is not Oniguruma's.
            return [split(WORDS_PATTERN, Behavior.REMOVED, True, Dialect.FANCY_REGEX)]
        case "WhitespaceSplit":
            return [split(CharacterTest.WHITESPACE, Behavior.REMOVED)]
        case "CharDelimiterSplit":
            return [split(re.escape(parts.character(node.field("delimiter"))), Behavior.REMOVED)]
        case "BertPreTokenizer":
            spaces = split(CharacterTest.WHITESPACE, Behavior.REMOVED)
            return [spaces, split(CharacterTest.PUNCTUATION)]
        case "UnicodeScripts":
            return [split(CharacterRuns.SCRIPTS, Behavior.REMOVED, True)]
    length = node.get("length")
    size = _FIXED_LENGTH_DEFAULT if length is None else length.u32()
    if length is not None and size == 0:
        length.fail("1 or more: with 0 the reference stops")
    return [split(rf"[\s\S]{{1,{size}}}")]


def _behavior(node: Node) -> Behavior:
    behavior = node.field("behavior")
    if behavior.string() not in _BEHAVIORS:
        behavior.fail("one of " + ", ".join(_BEHAVIORS))
    return _BEHAVIORS[behavior.string()]
