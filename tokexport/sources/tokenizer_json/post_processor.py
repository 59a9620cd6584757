"""The ``post_processor`` of a tokenizer.json as a template for one text and for a pair.

ByteLevel only trims offsets. Of the others there may be one: the reference would give a second one
the ids of the first as texts, which no published tokenizer does.
"""

from dataclasses import replace
from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.model import Template, TemplateItem
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.parts import (
    PROCESSORS,
    TEMPLATE_FIELDS,
    check_byte_level,
    flat,
    processor_type,
)

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
    adding = [
        node
        for node in flat(root.optional("post_processor"), PROCESSORS)
        if _checked_type(node) != "ByteLevel"
    ]
    if not adding:
        return Template()
    if len(adding) > 1:
        problem = "a processor of ids after another one is not supported"
        raise UnsupportedError(adding[1].path, problem, "use a single TemplateProcessing")
    node = adding[0]
    kind = processor_type(node)
    if kind == "TemplateProcessing":
        return Template(single=_template(node, "single"), pair=_template(node, "pair"))
    cls, sep = TemplateItem(id=_token_id(node, "cls")), TemplateItem(id=_token_id(node, "sep"))
    single = (cls, TemplateItem(sequence="A"), sep)
    if kind == "RobertaProcessing":
        return Template(single, (*single, sep, TemplateItem(sequence="B"), sep))
    second = (TemplateItem(sequence="B", type_id=1), replace(sep, type_id=1))
    return Template(single, (*single, *second))


def template_ids(template: Template) -> set[int]:
    return {item.id for item in (*template.single, *template.pair) if item.id is not None}


def _checked_type(node: Node) -> str:
    kind = processor_type(node)
    if kind == "ByteLevel":
        check_byte_level(node)
    elif kind in _FIELDS:
        node.object({"type", *_FIELDS[kind]})
        for name in TEMPLATE_FIELDS if kind == "TemplateProcessing" else ():
            node.field(name)
    else:
        node.field("type").unsupported(_SUPPORTED)
    return kind


def _template(node: Node, name: str) -> tuple[TemplateItem, ...]:
    result: list[TemplateItem] = []
    for item in node.field(name).items():
        fields = item.object()
        if set(fields) not in ({"Sequence"}, {"SpecialToken"}):
            item.fail('{"Sequence": ...} or {"SpecialToken": ...}')
        inner = item.field(next(iter(fields)))
        inner.object({"id", "type_id"})
        id, type_id = inner.field("id"), inner.field("type_id").u32()
        if "SpecialToken" in fields:
            ids = _special_token_ids(node, id)
            result += [TemplateItem(id=number, type_id=type_id) for number in ids]
            continue
        if id.string() not in ("A", "B"):
            id.fail('"A" or "B"')
        if id.value == "B" and name == "single":
            id.fail('"A": the reference stops where there is no second text')
        result.append(TemplateItem(sequence=id.value, type_id=type_id))
    return tuple(result)


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
