"""The ``post_processor`` of a tokenizer.json: a template for one text and for a pair, and how white
space is trimmed from offsets.

ByteLevel only trims. Of the others there may be one: the reference would give a second one the ids
of the first as texts, which no published tokenizer does. In trimming, the reference counts the
white space in the names of tokens, as the vocabulary spells them, not in the text; U+0120, GPT-2's
letter for a space, counts too. See ``process_offsets`` in byte_level.rs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.model import AddedToken, Template, TemplateItem, Token, Trimming, UnigramModel
from tokexport.model.byte_alphabet import CHARACTERS
from tokexport.sources.byte_pair import Names
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.model import HuggingFaceModel
from tokexport.sources.tokenizer_json.parts import check_byte_level, flat

_TRIMS: Final = ("trim_offsets", "add_prefix_space")
_TEMPLATES: Final = ("single", "pair", "special_tokens")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Sequence": ("processors",),
    "ByteLevel": (*_TRIMS, "use_regex"),
    "BertProcessing": ("sep", "cls"),
    "RobertaProcessing": ("sep", "cls", *_TRIMS),
    # Some converters leave ByteLevel's fields there, which the reference ignores.
    "TemplateProcessing": (*_TEMPLATES, *_TRIMS, "use_regex"),
}
_HINT: Final = (
    "use null, ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing or a Sequence of"
    " these"
)
# White_Space of Unicode, which is Rust's char::is_whitespace, and the letter for a space.
_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000" + CHARACTERS[0x20]
)


def read_post_processor(root: Node) -> Template:
    """The template of ``root``. SourceError if the reference fails when it runs."""
    found = _processors(root.optional("post_processor"))
    adding = [node for node in found if node.value["type"] != "ByteLevel"]
    if not adding:
        return Template()
    if len(adding) > 1:
        problem = "a processor of ids after another one is not supported"
        raise UnsupportedError(adding[1].path, problem, "use a single TemplateProcessing")
    node = adding[0]
    kind = node.value["type"]
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


def _processors(node: Node | None) -> list[Node]:
    """The processors at ``node``. The reference goes by fields: none may have another type's."""
    if node is None:
        return []
    kind = node.field("type").string()
    if kind not in _FIELDS:
        node.field("type").unsupported(f"the post-processor {show(kind)} is not supported", _HINT)
    others = {field for fields in _FIELDS.values() for field in fields} - {*_FIELDS[kind]}
    for name in sorted(others & node.object({"type", *_FIELDS[kind]}).keys()):
        node.field(name).unsupported(f"a {kind} has no field {name}", "remove the field")
    if kind == "Sequence":
        return [part for inner in node.field("processors").items() for part in _processors(inner)]
    if kind == "ByteLevel":
        check_byte_level(node)
    for name in _TEMPLATES if kind == "TemplateProcessing" else ():
        node.field(name)
    for name in _TRIMS if kind == "RobertaProcessing" else ():
        node.field(name).boolean()
    return [node]


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


def read_trimming(
    root: Node,
    huggingface: HuggingFaceModel,
    tokens: Sequence[Token | None],
    added: Sequence[AddedToken],
) -> Trimming | None:
    """The trimming of the tokenizer.json ``root``; None if offsets cannot be computed."""
    passes: list[bool] = []
    first_is_moved = False
    for processor in _processors(root.optional("post_processor")):
        kind = processor.value["type"]
        if kind in ("ByteLevel", "RobertaProcessing") and processor.field("trim_offsets").boolean():
            if first_is_moved:
                return None  # the first token of a text depends on add_special_tokens
            passes.append(processor.field("add_prefix_space").boolean())
        first_is_moved |= kind in ("BertProcessing", "RobertaProcessing")
    if not passes:
        return Trimming()
    # In a Unigram model the name of an unknown token is its text.
    if isinstance(huggingface.model, UnigramModel) or _has_mapped_edges(root, added):
        return None
    return Trimming(tuple(passes), _exceptions(huggingface.vocab, tokens))


def _exceptions(names: Names, tokens: Sequence[Token | None]) -> dict[int, tuple[int, int]]:
    exceptions = {}
    for name, number in zip(names, names.vocabulary.ids.tolist(), strict=True):
        token = tokens[number]
        content = "" if token is None else token.content.decode("latin-1")
        counts = _edges(name, _SPACES)
        if counts != _edges(content, " "):
            exceptions[number] = counts
    return exceptions


def _edges(text: str, spaces: str) -> tuple[int, int]:
    """The number of leading and of trailing characters of a text that are in ``spaces``."""
    return len(text) - len(text.lstrip(spaces)), len(text) - len(text.rstrip(spaces))


def _has_mapped_edges(root: Node, added: Sequence[AddedToken]) -> bool:
    """Whether a ByteLevel normalizer turns white space at an end of an added token into letters."""
    steps = flat(root.optional("normalizer"), "normalizers")
    if not any(step.field("type").string() == "ByteLevel" for step in steps):
        return False
    contents = [token.content.replace(" ", "_") for token in added if token.normalized]
    return any(content != content.strip(_SPACES) for content in contents)
