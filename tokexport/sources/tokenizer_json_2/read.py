"""Hugging Face's tokenizer.json 2.0, as in ``tokenizers`` 1.0.0rc, rewritten as version 1.0.

Version 2.0 (``tk-serialize/SPEC.md`` in the source archive of tokenizers 1.0.0rc3) has
``byte_level`` on the model, Metaspace as a normalizer and a Split, and ids in templates. They are
rewritten here as their equivalents in 1.0. A document for which the release candidate gives other
ids than 0.23 is refused.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from tokexport.model import TokenizerModel
from tokexport.model.normalization.normalize import normalize
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json import document
from tokexport.sources.tokenizer_json.normalizer import Steps
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.tokenizer_json_2.model import (
    check_word_piece,
    is_byte_level,
    version_1_model,
)
from tokexport.sources.tokenizer_json_2.normalizer import read_normalizers
from tokexport.sources.tokenizer_json_2.pre_tokenizer import version_1_pre_tokenizer

VERSION: Final = "2.0"
_FIELDS: Final = (
    "version truncation padding role_to_token added_tokens normalizer pre_tokenizer post_processor"
    " decoder model"
)


def read_version_2(root: Node, files: SourceFiles) -> TokenizerModel:
    """The model in the parsed document ``root``; see ``read_tokenizer_json`` of version 1.0."""
    normalizers = read_normalizers(root.optional("normalizer"))
    check_word_piece(root.field("model"), "\0" in normalize("\0", normalizers[0]))
    return read_tokenizer_json(version_1(root, normalizers[1]), files, normalizers=normalizers)


def version_1(root: Node, normalizer: Steps) -> Node:
    """The document of version 1.0 with the same ids as ``root``, of version 2.0.

    ``normalizer`` is that of added tokens. Raises SourceError where the library refuses,
    UnsupportedError where it runs differently from 0.23.
    """
    fields = root.object(_FIELDS.split())
    model = root.field("model")
    byte_level, decoder = is_byte_level(model), root.optional("decoder")
    rewritten = document.tokenizer_document(
        truncation=fields.get("truncation"),
        padding=fields.get("padding"),
        added_tokens=_added_tokens(root.get("added_tokens"), normalizer),
        normalizer=fields.get("normalizer"),
        pre_tokenizer=version_1_pre_tokenizer(root.optional("pre_tokenizer"), byte_level),
        post_processor=_post_processor(root.optional("post_processor")),
        # A byte-level model decodes to its bytes, regardless of the decoder in the file.
        decoder=document.byte_level(use_regex=False)
        if byte_level
        else decoder and _spelled_out(decoder),
        model=version_1_model(model),
    )
    return Node(root.file, "", rewritten)


def _post_processor(node: Node | None) -> Any:
    if node is None:
        return None
    node.object({"type", "single", "pair"})
    if node.field("type").string() != "TemplateProcessing":
        node.field("type").fail('"TemplateProcessing"')
    special: dict[str, Any] = {}
    templates = {}
    for name, sequences in (("single", ["A"]), ("pair", ["A", "B"])):
        items = list(node.field(name).items())
        if [item.value["seq"] for item in items if "seq" in item.object()] != sequences:
            node.field(name).fail(f"the texts {' and '.join(sequences)} in this order, each once")
        templates[name] = [_template_item(item, special) for item in items]
    return {"type": "TemplateProcessing", **templates, "special_tokens": special}


def _template_item(node: Node, special: dict[str, Any]) -> dict[str, Any]:
    """A template item; a run of ids becomes a special token of that name, put into ``special``."""
    fields = node.object({"seq", "ids", "type_id"})
    if ("seq" in fields) == ("ids" in fields):
        node.fail('{"seq": text} or {"ids": [id, ...]}')
    type_node = node.get("type_id")
    type_id = 0 if type_node is None else type_node.u32() % 256  # a byte in the reference
    if "seq" in fields:
        return document.text(node.field("seq").string(), type_id)
    ids = [number.u32() for number in node.field("ids").items()]
    name = " ".join(map(str, ids))
    special[name] = {"id": name, "ids": ids, "tokens": []}
    return document.special(name, type_id)


def _spelled_out(node: Node) -> Any:
    match node.field("type").string():
        case "ByteLevel":
            node.object({"type"})
            return document.byte_level(use_regex=False)
        case "Metaspace":
            node.object({"type", "replacement", "prepend_scheme"})
            node.field("prepend_scheme").string()
            return {**node.value, "split": True}
        case "Replace" if node.field("pattern").object().get("String") == "":
            return {"type": "Sequence", "decoders": []}  # an empty literal never matches
        case "Sequence":
            node.object({"type", "decoders"})
            parts = [_spelled_out(part) for part in node.field("decoders").items()]
            return {"type": "Sequence", "decoders": parts}
        case _:
            return node.value


def _added_tokens(node: Node | None, normalizer: Steps) -> Any:
    """In order of ids, as the reference numbers them; of two equal contents the last counts."""
    if node is None or node.value is None:
        return []
    tokens: dict[str, Node] = {}
    for token in sorted(node.items(), key=lambda token: token.field("id").u32()):
        content = token.field("content").string() or token.path  # an empty content is ignored
        number = tokens.get(content, token).field("id").u32()
        tokens[content] = Node(token.file, token.path, {**token.value, "id": number})
    _check_added_tokens([(token, _spelling(token, normalizer)) for token in tokens.values()])
    return [token.value for token in tokens.values()]


def _spelling(token: Node, normalizer: Steps) -> str:
    content = token.field("content").string()
    return normalize(content, normalizer) if token.field("normalized").boolean() else content


def _check_added_tokens(tokens: Sequence[tuple[Node, str]]) -> None:
    """Refuses tokens at which the reference fails, and tokens that it takes for others."""
    for flag in (False, True):
        _check_overlaps([pair for pair in tokens if pair[0].value["normalized"] is flag])
    found: dict[str, Node] = {}
    for token, spelling in tokens:
        if token.field("single_word").boolean() and not spelling[:1].isascii():
            token.field("single_word").unsupported(
                f"{show(spelling)} does not begin with an ASCII character",
                "use false for a token that begins with another character: where one is in a word,"
                " tokenizers 1.0.0rc3 stops at the next token with single_word",
            )
        other = found.setdefault(spelling, token)
        if spelling and other is not token:
            problem = f"it normalizes to the same text as {other.path}"
            token.unsupported(problem, "use tokens that normalize to different texts")


def _check_overlaps(tokens: Sequence[tuple[Node, str]]) -> None:
    """Refuses a token that the reference misses if all tokens begin with the same byte.

    Then it searches for their common prefix, at positions that do not overlap.
    """
    contents = {spelling.encode(): token for token, spelling in tokens if spelling}
    if len({content[0] for content in contents}) != 1:
        return
    pairs = zip(min(contents), max(contents), strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    prefix = min(contents)[: min(shared, min(map(len, contents)) - 1)]
    for step in range(1, len(prefix)):
        if not prefix.startswith(prefix[step:]):
            continue
        for content, token in contents.items():
            text = prefix[:step] + content
            if not any(map(text.startswith, contents)):
                token.unsupported(
                    "tokenizers 1.0.0rc3 does not find this token in"
                    f" {show(text.decode(errors='replace'))}",
                    "use tokens that do not all begin with"
                    f" {show(prefix.decode(errors='replace'))}, which overlaps itself",
                )
