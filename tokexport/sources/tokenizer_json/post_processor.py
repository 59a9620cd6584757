"""The ``post_processor`` of a tokenizer.json, as what it puts around one text and around a pair.

The reference runs its processors over a list of encodings, one a text, and a processor in a
Sequence sees the list that the one before has left: after a template it may be longer than the
number of texts. That is done here once with stand-ins for the texts, and what comes out is the
template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import Template, TemplateItem
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.decoder import check_byte_level
from tokexport.sources.tokenizer_json.parts import PROCESSORS, TEMPLATE_FIELDS, flat, processor_type

_Encoding = list[TemplateItem]
_BYTE_LEVEL_FIELDS: Final = frozenset(("add_prefix_space", "trim_offsets", "use_regex"))
_SUPPORTED: Final = (
    "supported are null, ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing and a"
    " Sequence of these"
)


def read_post_processor(root: Node) -> Template:
    """The template of the tokenizer.json ``root``.

    Raises SourceError where the reference stops when it runs, UnsupportedError for a processor that
    is no template.
    """
    node = root.optional("post_processor")
    processors = flat(node, PROCESSORS)
    for processor in processors:
        _check(processor)
    return Template(single=_pieces(processors, "A"), pair=_pieces(processors, "AB"))


def template_ids(template: Template) -> set[int]:
    """Every id that a template adds."""
    return {piece.id for piece in (*template.single, *template.pair) if piece.id is not None}


def _check(node: Node) -> None:
    match processor_type(node):
        case "ByteLevel":
            check_byte_level(node)
        case "BertProcessing":
            node.object({"type", "sep", "cls"})
        case "RobertaProcessing":
            node.object({"type", "sep", "cls", "trim_offsets", "add_prefix_space"})
            node.field("trim_offsets").boolean()
            node.field("add_prefix_space").boolean()
        case "TemplateProcessing":
            # ByteLevel's fields are left there by some conversions; the reference ignores them,
            # which needs no note.
            node.object({"type", *TEMPLATE_FIELDS, *_BYTE_LEVEL_FIELDS})
            for name in TEMPLATE_FIELDS:
                node.field(name)
        case _:
            node.field("type").unsupported(_SUPPORTED)


def _pieces(processors: Sequence[Node], texts: str) -> tuple[TemplateItem, ...]:
    with_ids = _run(processors, texts, add_special_tokens=True)
    without = _run(processors, texts, add_special_tokens=False)
    path = processors[0].path if processors else "post_processor"
    # The file stores one template; without special tokens it is the same one, its ids left out.
    if [piece for piece in with_ids if piece.id is None] != without:
        raise UnsupportedError(
            path,
            "a sequence that treats texts differently with add_special_tokens=false is not supported",
            _SUPPORTED,
        )
    return tuple(with_ids)


def _run(processors: Sequence[Node], texts: str, *, add_special_tokens: bool) -> list[TemplateItem]:
    encodings: list[_Encoding] = [
        [TemplateItem(sequence=name, type_id=number)] for number, name in enumerate(texts)
    ]
    for processor in processors:
        match processor_type(processor):
            case "TemplateProcessing":
                encodings = _run_template(processor, encodings, add_special_tokens)
            case "RobertaProcessing":
                encodings = [
                    [replace(piece, type_id=0) for piece in encoding] for encoding in encodings
                ]
                if add_special_tokens:
                    cls, sep = _token_id(processor, "cls"), _token_id(processor, "sep")
                    encodings = [
                        [TemplateItem(id=sep if number else cls), *encoding, TemplateItem(id=sep)]
                        for number, encoding in enumerate(encodings)
                    ]
            case "BertProcessing" if add_special_tokens:
                cls, sep = _token_id(processor, "cls"), _token_id(processor, "sep")
                first = (
                    [TemplateItem(id=cls), *encodings[0], TemplateItem(id=sep)] if encodings else []
                )
                encodings = [
                    first,
                    *([*encoding, TemplateItem(id=sep, type_id=1)] for encoding in encodings[1:]),
                ]
    return [piece for encoding in encodings for piece in encoding]


def _run_template(
    node: Node, encodings: list[_Encoding], add_special_tokens: bool
) -> list[_Encoding]:
    if len(encodings) not in (1, 2):
        raise SourceError(
            f"{node.file}: {node.path} gets {len(encodings)} encodings from the processors before"
            " it, with which the reference stops"
        )
    result: list[_Encoding] = []
    for piece in node.field("pair" if len(encodings) == 2 else "single").items():
        fields = piece.object()
        if set(fields) not in ({"Sequence"}, {"SpecialToken"}):
            piece.fail('{"Sequence": ...} or {"SpecialToken": ...}')
        inner = piece.field(next(iter(fields)))
        inner.object({"id", "type_id"})
        name, type_id = inner.field("id").string(), inner.field("type_id").u32()
        if "Sequence" in fields:
            if name not in ("A", "B"):
                inner.field("id").fail('"A" or "B"')
            if name == "B" and len(encodings) == 1:
                inner.field("id").fail('"A": the reference stops where there is no second text')
            result.append([replace(part, type_id=type_id) for part in encodings["AB".index(name)]])
        elif add_special_tokens:
            ids = _special_token_ids(node, inner)
            result.append([TemplateItem(id=number, type_id=type_id) for number in ids])
    return result


def _special_token_ids(node: Node, piece: Node) -> list[int]:
    name = piece.field("id").string()
    token = node.field("special_tokens").get(name)
    if token is None:
        piece.field("id").fail(f"the name of one of {node.path}.special_tokens")
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
