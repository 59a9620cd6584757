"""The ``post_processor`` of a tokenizer.json as a template for one text and for a pair.

The reference runs its processors over a list of encodings, one for each text; each receives the
list that the previous one returned, which after a template may be longer. Here they run on template
items instead of texts, which yields the template.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import Template, TemplateItem
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.parts import (
    PROCESSORS,
    TEMPLATE_FIELDS,
    check_byte_level,
    flat,
    processor_type,
)

_Encoding = list[TemplateItem]
_FIELDS: Final = {
    "BertProcessing": ("sep", "cls"),
    "RobertaProcessing": ("sep", "cls", "trim_offsets", "add_prefix_space"),
    # Some converters leave ByteLevel's fields there, which the reference ignores.
    "TemplateProcessing": (*TEMPLATE_FIELDS, "add_prefix_space", "trim_offsets", "use_regex"),
}
_SUPPORTED: Final = (
    "use null, ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing or a Sequence of"
    " these"
)


def read_post_processor(root: Node) -> Template:
    """The template of ``root``. SourceError if the reference fails when it runs."""
    processors = flat(root.optional("post_processor"), PROCESSORS)
    for processor in processors:
        _check(processor)
    return Template(single=_items(processors, "A"), pair=_items(processors, "AB"))


def template_ids(template: Template) -> set[int]:
    return {item.id for item in (*template.single, *template.pair) if item.id is not None}


def _check(node: Node) -> None:
    kind = processor_type(node)
    if kind == "ByteLevel":
        check_byte_level(node)
    elif kind in _FIELDS:
        node.object({"type", *_FIELDS[kind]})
        for name in TEMPLATE_FIELDS if kind == "TemplateProcessing" else ():
            node.field(name)
    else:
        node.field("type").unsupported(_SUPPORTED)


def _items(processors: Sequence[Node], texts: str) -> tuple[TemplateItem, ...]:
    with_ids = _run(processors, texts, add_special_tokens=True)
    without = _run(processors, texts, add_special_tokens=False)
    # The file stores one template; without special tokens it is used without its ids.
    if [item for item in with_ids if item.id is None] != without:
        problem = "the processors treat texts differently with add_special_tokens=false"
        raise UnsupportedError(processors[0].path, problem, "use a single TemplateProcessing")
    return tuple(with_ids)


def _run(processors: Sequence[Node], texts: str, *, add_special_tokens: bool) -> list[TemplateItem]:
    encodings: list[_Encoding] = [
        [TemplateItem(sequence=name, type_id=number)] for number, name in enumerate(texts)
    ]
    for processor in processors:
        kind = processor_type(processor)
        if kind == "TemplateProcessing":
            encodings = _run_template(processor, encodings, add_special_tokens)
        if kind == "RobertaProcessing":
            encodings = [[replace(item, type_id=0) for item in encoding] for encoding in encodings]
        if kind in ("RobertaProcessing", "BertProcessing") and add_special_tokens:
            cls, sep = _token_id(processor, "cls"), _token_id(processor, "sep")
            is_bert = kind == "BertProcessing"
            for number, encoding in enumerate(encodings):
                before = TemplateItem(id=sep if number else cls)
                after = TemplateItem(id=sep, type_id=int(is_bert and number > 0))
                encodings[number] = [*([] if is_bert and number else [before]), *encoding, after]
    return [item for encoding in encodings for item in encoding]


def _run_template(
    node: Node, encodings: list[_Encoding], add_special_tokens: bool
) -> list[_Encoding]:
    if len(encodings) not in (1, 2):
        raise SourceError(
            f"{node.file}: {node.path} gets {len(encodings)} encodings from the processors before"
            " it, at which the reference stops"
        )
    result: list[_Encoding] = []
    for item in node.field("pair" if len(encodings) == 2 else "single").items():
        fields = item.object()
        if set(fields) not in ({"Sequence"}, {"SpecialToken"}):
            item.fail('{"Sequence": ...} or {"SpecialToken": ...}')
        inner = item.field(next(iter(fields)))
        inner.object({"id", "type_id"})
        name, type_id = inner.field("id").string(), inner.field("type_id").u32()
        if "Sequence" in fields:
            if name not in ("A", "B"):
                inner.field("id").fail('"A" or "B"')
            if name == "B" and len(encodings) == 1:
                inner.field("id").fail('"A": the reference stops where there is no second text')
            result.append([replace(part, type_id=type_id) for part in encodings["AB".index(name)]])
        elif add_special_tokens:
            ids = _special_token_ids(node, inner.field("id"))
            result.append([TemplateItem(id=number, type_id=type_id) for number in ids])
    return result


def _special_token_ids(node: Node, name: Node) -> list[int]:
    token = node.field("special_tokens").get(name.string())
    if token is None:
        name.fail(f"the name of one of {node.path}.special_tokens")
    token.object({"id", "ids", "tokens"})
    token.field("id").string()
    for text in token.field("tokens").items():
        text.string()
    return [number.u32() for number in token.field("ids").items()]


def _token_id(node: Node, name: str) -> int:
    pair = list(node.field(name).items())
    if len(pair) != 2:
        node.field(name).fail("a token and its id")
    pair[0].string()
    return pair[1].u32()
