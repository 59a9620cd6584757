"""The ``normalizer`` of a tokenizer.json as steps."""

from collections.abc import Mapping
from typing import Final, TypeAlias

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
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.parts import flat, read_pattern

Steps: TypeAlias = tuple[NormalizerStep, ...]

_MAPS: Final = (CharacterMap.LOWERCASE, CharacterMap.STRIP_ACCENTS, CharacterMap.NMT)
# Normalizers without settings.
_PLAIN: Final[Mapping[str, NormalizerStep]] = {
    **{form.value: form for form in NormalForm if not form.is_of_unicode_17},
    **{kind.value: kind for kind in _MAPS},
    "ByteLevel": SpellBytes(),
}
_SETTINGS: Final = {
    "Strip": "strip_left strip_right",
    "Replace": "pattern content",
    "Prepend": "prepend",
    "Precompiled": "precompiled_charsmap",
    "BertNormalizer": "clean_text handle_chinese_chars strip_accents lowercase",
}


def read_normalizer(node: Node | None) -> Steps:
    """The normalizer at ``node``. SourceError if the reference refuses it."""
    return tuple(step for part in flat(node, "normalizers") for step in _steps(part))


def _steps(node: Node) -> list[NormalizerStep]:
    kind = node.field("type").string()
    if kind in _PLAIN:
        node.object({"type"})
        return [_PLAIN[kind]]
    if kind not in _SETTINGS:
        hint = f"use null, {', '.join((*_PLAIN, *_SETTINGS))} or a Sequence of these"
        node.field("type").unsupported(f"the normalizer {show(kind)} is not supported", hint)
    node.object({"type", *_SETTINGS[kind].split()})
    match kind:
        case "Strip":
            return [Strip(node.field("strip_left").boolean(), node.field("strip_right").boolean())]
        case "Replace":
            pattern, literal = read_pattern(node.field("pattern"))
            content = node.field("content").string()
            # An empty text is searched as an empty regular expression.
            return [Replace(pattern, content, literal and pattern != "", path=node.path)]
        case "Prepend":
            prepend = node.field("prepend")
            if not prepend.string():
                prepend.unsupported(
                    '"" is not supported as a prefix',
                    "use a text of at least one character: after an empty one the reference stops"
                    " at the next step, or repeats characters",
                )
            return [Prepend(prepend.value)]
        case "Precompiled":
            charsmap = node.field("precompiled_charsmap")
            if not charsmap.string():
                charsmap.fail("a map that is not empty: at such a one the reference stops")
            return [Charsmap(charsmap.base64(), by_grapheme=True, path=node.path)]
    return _bert(node)


def _bert(node: Node) -> list[NormalizerStep]:
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
