"""The ``pre_tokenizer`` of a tokenizer.json 2.0, as a ``pre_tokenizer`` of version 1.0.

The release candidate has a newer Unicode version, and knows a few regular expressions. Each has
dedicated code, which does not always do what the expression says.
"""

from collections.abc import Sequence
from typing import Any, Final

from tokexport.sources.json_node import Node, show
from tokexport.sources.patterns import DEEPSEEK, GPT2, KIMI, LLAMA3, O200K, QWEN, TEKKEN
from tokexport.sources.tokenizer_json import document
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json_2.unicode_17 import PUNCTUATION, WORDS, with_unicode_17

# The patterns that its Split knows; with any other it fails at the first text.
_PATTERNS: Final = (
    *(GPT2, LLAMA3, QWEN, O200K, TEKKEN, KIMI),
    LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}{1,2}"),
    LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+"),
)
_KIMI_AFTER_WORDS: Final = (
    r"|[\p{N}&&[^\p{Han}]]{1,3}| ?[^\s\p{L}\p{N}\p{Han}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Where its code differs from a pattern: the pattern, and what the code does.
_AS_RUN: Final = (
    # Kimi: only the first alternative matches an ideograph; four of the script are not ideographs.
    (KIMI, KIMI[: KIMI.index(r"|\p{N}")] + _KIMI_AFTER_WORDS),
    # Contractions ignore case only in ASCII: U+017F is not an s.
    ("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"),
    # DeepSeek: unassigned code points among kana count as punctuation.
    (r"\p{P}\p{S}]", r"\p{P}\p{S}\x{3040}\x{3097}\x{3098}]"),
    # Llama-3's with other groups of digits: the code uses groups of three.
    (r"|\p{N}{1,2}|", r"|\p{N}{1,3}|"),
    (r"|\p{N}+|", r"|\p{N}{1,3}|"),
    (r"\p{Han}", r"[\p{Han}&&[^\x{16FE2}\x{16FE3}\x{16FF0}\x{16FF1}]]"),
)


def version_1_pre_tokenizer(node: Node | None, byte_level: bool) -> Any:
    """The ``pre_tokenizer`` of version 1.0 for that at ``node``; ``byte_level``: of the model.

    SourceError where the reference refuses, UnsupportedError for a pattern at which it fails.
    """
    parts = _splits(node)
    _check_patterns(parts)
    steps = [step for part in parts for step in _unicode_17(part)]
    if byte_level:
        steps.append(document.byte_level(use_regex=False))
    if len(steps) == 1:
        return steps[0]
    return document.sequence(*steps) if steps else None


def _splits(node: Node | None) -> list[Node]:
    parts = flat(node, "pretokenizers")
    if node is not None and any(part.path.count(".pretokenizers[") > 1 for part in parts):
        node.fail("a Sequence without another Sequence in it")
    for part in parts:
        name = part.field("type")
        if name.value == "Split" and part.field("pattern").object().get("String") == "":
            part.field("pattern").fail("a non-empty text")
        if name.string() in ("ByteLevel", "Metaspace"):
            name.fail("byte_level of the model, or a MetaspaceNormalizer, in its place")
    return parts


def _unicode_17(part: Node) -> list[dict[str, Any]]:
    """The equivalent parts of version 1.0, with Unicode 17."""
    match part.value["type"]:
        case "Split":
            part.object({"type", "pattern", "behavior", "invert"})
            split = {"behavior": "Isolated", "invert": False, **part.value}
            expression = _expression(part)
            if expression is not None:
                for written, run in _AS_RUN:
                    expression = expression.replace(written, run)
                split["pattern"] = {"Regex": with_unicode_17(expression)}
            return [split]
        case "Digits":
            return [{"individual_digits": False, **part.value}]
        case "FixedLength" if (length := part.get("length")) is not None and length.u32() == 0:
            part.object({"type", "length"})
            return []  # no cut; 0.23 fails here
        case "Punctuation":
            part.object({"type", "behavior"})
            behavior = part.value.get("behavior", "Isolated")
            if behavior in ("Isolated", "Removed"):
                return [document.split(PUNCTUATION, behavior)]
            return [part.value]  # the reference's old code, with the punctuation of 0.23
        case "BertPreTokenizer":
            part.object({"type"})
            return [{"type": "WhitespaceSplit"}, document.split(PUNCTUATION)]
        case "Whitespace":
            part.object({"type"})
            return [document.split(WORDS, "Removed", invert=True)]
        case _:
            return [part.value]


def _check_patterns(parts: Sequence[Node]) -> None:
    isolates = all(_behavior(part) == ("Isolated", False) for part in parts)
    if isolates and tuple(map(_expression, parts)) == DEEPSEEK:
        return
    for part in parts:
        expression = _expression(part)
        if expression is None:
            continue
        if expression not in _PATTERNS:
            part.field("pattern").unsupported(
                f"the pattern {show(expression)} is not supported",
                "use a pattern of GPT-2, cl100k, Qwen, o200k, tekken, Kimi or (all three) DeepSeek:"
                " the reference has no engine for regular expressions, and stops at any other",
            )
        behavior, invert = _behavior(part)
        if (behavior, invert) not in (("Isolated", False), ("Removed", True)):
            part.field("pattern").unsupported(
                f"the behavior {show(behavior)} with invert {show(invert)} is not supported",
                'use the behavior "Isolated", or "Removed" with invert: the reference stops at any'
                " other",
            )


def _expression(part: Node) -> str | None:
    """The regular expression of a Split; None for any other part or for literal text."""
    if part.value["type"] != "Split":
        return None
    expression = part.field("pattern").get("Regex")
    return None if expression is None else expression.string()


def _behavior(part: Node) -> tuple[Any, bool]:
    return part.value.get("behavior", "Isolated"), bool(part.value.get("invert", False))
