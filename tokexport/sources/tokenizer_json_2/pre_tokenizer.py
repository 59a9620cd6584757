"""The ``pre_tokenizer`` of a tokenizer.json 2.0, as that of version 1.0.

The release candidate has a newer Unicode, and runs the few regular expressions that it knows by
programs of its own, not all to the letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tokexport.sources.json_node import Node
from tokexport.sources.tiktoken.known_patterns import KIMI, LLAMA3, O200K, QWEN, TEKKEN
from tokexport.sources.tokenizer_json.parts import flat
from tokexport.sources.tokenizer_json.pre_tokenizer import GPT2_PATTERN
from tokexport.sources.tokenizer_json_2.unicode_17 import PUNCTUATION, WORDS, with_unicode_17

# Its Split has no engine for regular expressions: it knows these patterns, text for text, and stops
# at the first text with another one.
_PATTERNS: Final = (
    *(GPT2_PATTERN, LLAMA3, QWEN, O200K, TEKKEN, KIMI),
    *(LLAMA3.replace(r"\p{N}{1,3}", numbers) for numbers in (r"\p{N}{1,2}", r"\p{N}+")),
)
_DEEPSEEK: Final = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ).replace(r"\r\n", "\r\n"),  # in DeepSeek's file they stand as they are
)
_KIMI_BEHIND_WORDS: Final = (
    r"|[\p{N}&&[^\p{Han}]]{1,3}| ?[^\s\p{L}\p{N}\p{Han}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# What it does otherwise than these say, as what they say and what it does.
_AS_RUN: Final = (
    # Kimi: an ideograph is in no other part of the pattern, and four characters of the script are
    # none.
    (KIMI, KIMI[: KIMI.index(r"|\p{N}")] + _KIMI_BEHIND_WORDS),
    # The case of contractions is ignored in ASCII only: U+017F is no s.
    ("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"),
    # DeepSeek: what is no character yet among kana goes with their punctuation.
    (r"\p{P}\p{S}]", r"\p{P}\p{S}\x{3040}\x{3097}\x{3098}]"),
    # Llama-3's with other groups of digits: it has groups of three.
    (r"|\p{N}{1,2}|", r"|\p{N}{1,3}|"),
    (r"|\p{N}+|", r"|\p{N}{1,3}|"),
    (r"\p{Han}", r"[\p{Han}&&[^\x{16FE2}\x{16FE3}\x{16FF0}\x{16FF1}]]"),
)
BYTE_LEVEL: Final = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def version_1_pre_tokenizer(node: Node | None, byte_level: bool) -> Any:
    """The ``pre_tokenizer`` of version 1.0 that is the one at ``node``. ``byte_level``: the model
    works on bytes.

    Raises SourceError for what the reference refuses, UnsupportedError for a pattern at which it
    stops.
    """
    parts = _splits(node)
    _check_patterns(parts)
    steps = [step for part in parts for step in _unicode_17(part)]
    if byte_level:
        steps.append(BYTE_LEVEL)
    if len(steps) == 1:
        return steps[0]
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


def _splits(node: Node | None) -> list[Node]:
    parts = flat(node, "pretokenizers")
    if node is not None and any(part.path.count(".pretokenizers[") > 1 for part in parts):
        node.fail("a Sequence without another one in it; the reference refuses that")
    for part in parts:
        name = part.field("type")
        if name.value == "Split" and part.field("pattern").object().get("String") == "":
            part.field("pattern").fail("a text that is not empty; the reference refuses that")
        if name.string() in ("ByteLevel", "Metaspace"):
            name.fail(
                "what version 2.0 has in its place: byte_level of the model, or a"
                " MetaspaceNormalizer"
            )
    return parts


def _unicode_17(part: Node) -> list[dict[str, Any]]:
    """The parts of version 1.0 that do what this one does, by the reference's version of Unicode."""
    match part.value["type"]:
        case "Split":
            part.object({"type", "pattern", "behavior", "invert"})
            split = {"behavior": "Isolated", "invert": False, **part.value}
            expression = _expression(part)
            if expression is None:
                return [split]
            return [{**split, "pattern": {"Regex": with_unicode_17(_as_run(expression))}}]
        case "Digits":
            return [{"individual_digits": False, **part.value}]
        case "FixedLength" if (length := part.get("length")) is not None and length.u32() == 0:
            part.object({"type", "length"})
            return []  # no cut, where 0.23 stops
        case "Punctuation":
            part.object({"type", "behavior"})
            if part.value.get("behavior", "Isolated") in ("Isolated", "Removed"):
                return [_split(PUNCTUATION, part.value.get("behavior", "Isolated"))]
            return [part.value]  # the reference's old code, with the punctuation of 0.23
        case "BertPreTokenizer":
            part.object({"type"})
            return [{"type": "WhitespaceSplit"}, _split(PUNCTUATION, "Isolated")]
        case "Whitespace":
            part.object({"type"})
            return [_split(WORDS, "Removed", invert=True)]
        case _:
            return [part.value]


def _as_run(expression: str) -> str:
    for written, run in _AS_RUN:
        expression = expression.replace(written, run)
    return expression


def _split(pattern: str, behavior: Any, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def _check_patterns(parts: Sequence[Node]) -> None:
    """Refuse a regular expression that the reference's wheels do not know."""
    expressions = [(part, _expression(part)) for part in parts]
    if tuple(expression for _, expression in expressions) == _DEEPSEEK and all(
        map(_isolates, parts)
    ):
        return
    for part, expression in expressions:
        if expression is None:
            continue
        if expression not in _PATTERNS:
            part.field("pattern").unsupported(
                "the reference's Split has no engine for regular expressions, and stops at every"
                " text with another pattern than those of GPT-2, cl100k, Qwen, o200k, tekken, Kimi"
                " and (all three) DeepSeek"
            )
        if not (
            _isolates(part)
            or (part.value.get("behavior") == "Removed" and part.value.get("invert") is True)
        ):
            part.field("pattern").unsupported(
                "the reference stops at every text, but where it is Isolated, or Removed and"
                " inverted"
            )


def _expression(part: Node) -> str | None:
    """The regular expression of a Split; None for another part or for plain text."""
    if part.value["type"] != "Split":
        return None
    expression = part.field("pattern").get("Regex")
    return None if expression is None else expression.string()


def _isolates(part: Node) -> bool:
    return part.value.get("behavior", "Isolated") == "Isolated" and not part.value.get(
        "invert", False
    )
