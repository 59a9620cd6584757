"""The ``normalizer`` of a tokenizer.json, as steps, and what they make of an added token."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from tokexport.compiler.normalizer.normalize import normalize
from tokexport.errors import SourceError
from tokexport.model import (
    CharacterMap,
    Charsmap,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Strip,
)
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.parts import flat

_FORMS: Final = {form.value: form for form in NormalForm if not form.is_of_unicode_17}
_MAPS: Final = {
    kind.value: kind
    for kind in (CharacterMap.LOWERCASE, CharacterMap.STRIP_ACCENTS, CharacterMap.NMT)
}
_SUPPORTED: Final = (
    "supported are null, "
    + ", ".join((*_FORMS, *_MAPS))
    + ", Strip, Replace, Prepend, Precompiled, BertNormalizer, ByteLevel and a Sequence of these"
)


@dataclass(frozen=True, slots=True)
class Normalizer:
    """Steps in their order."""

    steps: tuple[NormalizerStep, ...] = ()

    def normalized(self, content: str) -> str:
        """What the reference's normalizer makes of the content of an added token."""
        return normalize(content, self.steps)


def read_normalizer(node: Node | None) -> Normalizer:
    """The normalizer at ``node``.

    UnsupportedError for one that is not known, SourceError for one that the reference refuses.
    """
    parts = flat(node, "normalizers")
    return Normalizer(tuple(step for part in parts for step in _steps(part)))


def _steps(node: Node) -> list[NormalizerStep]:
    kind = node.field("type")
    match kind.string():
        case name if name in _FORMS:
            node.object({"type"})
            return [_FORMS[name]]
        case name if name in _MAPS:
            node.object({"type"})
            return [_MAPS[name]]
        case "Strip":
            node.object({"type", "strip_left", "strip_right"})
            return [Strip(node.field("strip_left").boolean(), node.field("strip_right").boolean())]
        case "Replace":
            node.object({"type", "pattern", "content"})
            pattern, literal = read_pattern(node.field("pattern"))
            content = node.field("content").string()
            # An empty text is looked for as the empty regular expression.
            return [Replace(pattern, content, literal and pattern != "", path=node.path)]
        case "Prepend":
            node.object({"type", "prepend"})
            if not node.field("prepend").string():
                # The reference then takes the first character for inserted, and stops or loses
                # count in later steps.
                node.field("prepend").unsupported(
                    "after an empty text the reference stops at the next step, or doubles what it"
                    " has; a longer one is supported"
                )
            return [Prepend(node.field("prepend").string())]
        case "Precompiled":
            node.object({"type", "precompiled_charsmap"})
            charsmap = _base64(node.field("precompiled_charsmap"))
            if not charsmap:
                raise SourceError(
                    f"{node.file}: {node.path}.precompiled_charsmap is empty, at which the"
                    " reference stops; remove this normalizer"
                )
            return [Charsmap(charsmap, by_grapheme=True, path=node.path)]
        case "BertNormalizer":
            return _bert(node)
        case "ByteLevel":
            node.object({"type"})
            return [SpellBytes()]
        case _:
            return kind.unsupported(_SUPPORTED)


def _bert(node: Node) -> list[NormalizerStep]:
    node.object({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"})
    lowercase = node.field("lowercase").boolean()
    accents = node.optional("strip_accents")
    steps: list[NormalizerStep] = []
    if node.field("clean_text").boolean():
        steps.append(CharacterMap.BERT_CLEAN)
    if node.field("handle_chinese_chars").boolean():
        steps.append(CharacterMap.BERT_CHINESE)
    if lowercase if accents is None else accents.boolean():
        steps += [NormalForm.NFD, CharacterMap.BERT_STRIP_ACCENTS]
    if lowercase:
        steps.append(CharacterMap.LOWERCASE)
    return steps


def read_pattern(node: Node) -> tuple[str, bool]:
    """A pattern, and whether it is a text and not a regular expression."""
    fields = node.object()
    if set(fields) not in ({"String"}, {"Regex"}):
        node.fail('{"String": text} or {"Regex": pattern}')
    if "Regex" in fields:
        return node.field("Regex").string(), False
    return node.field("String").string(), True


def _base64(node: Node) -> bytes:
    try:
        return base64.b64decode(node.string(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SourceError(f"{node.file}: {node.path} is not base64: {error}") from None
