"""Hugging Face's tokenizer.json 2.0, which the 1.0 release candidates of ``tokenizers`` read and
write, as one of version 1.0.

Version 2.0 says the same things in fewer ways (``tk-serialize/SPEC.md`` in the source archive of
tokenizers 1.0.0rc3): whether the vocabulary is in GPT-2's alphabet stands on the model, Metaspace
is a normalizer and a Split, and templates hold ids. Each is rewritten here as what it is in 1.0, so
that everything after this module knows one version.

The two libraries do not agree everywhere. What the release candidate does otherwise with the same
words is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tokexport.model import Token
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.added_tokens import AddedVocabulary
from tokexport.sources.tokenizer_json.normalizer import Normalizer
from tokexport.sources.tokenizer_json_2.model import is_byte_level, version_1_model
from tokexport.sources.tokenizer_json_2.pre_tokenizer import BYTE_LEVEL, version_1_pre_tokenizer

VERSION: Final = "2.0"
_FIELDS: Final = frozenset(
    (
        *(
            "version",
            "truncation",
            "padding",
            "role_to_token",
            "added_tokens",
            "normalizer",
            "pre_tokenizer",
        ),
        *("post_processor", "decoder", "model"),
    )
)


def version_1(root: Node, normalizer: Normalizer) -> Node:
    """The document of version 1.0 that means what ``root``, of version 2.0, means to the library
    that reads it.

    ``normalizer``: that of added tokens.

    Raises SourceError for what that library refuses, UnsupportedError for what it runs in another
    way than 0.23.

    >>> piece = Node("tokenizer.json", "post_processor.single[0]", {"ids": [1, 2]})
    >>> _piece(piece, {})
    {'SpecialToken': {'id': '1 2', 'type_id': 0}}
    """
    root.object(_FIELDS)
    model = root.field("model")
    byte_level = is_byte_level(model)
    return Node(
        root.file,
        "",
        {
            "version": "1.0",
            "truncation": root.object().get("truncation"),
            "padding": root.object().get("padding"),
            "added_tokens": _added_tokens(root.get("added_tokens"), normalizer),
            "normalizer": root.object().get("normalizer"),
            "pre_tokenizer": version_1_pre_tokenizer(root.optional("pre_tokenizer"), byte_level),
            "post_processor": _post_processor(root.optional("post_processor")),
            "decoder": _decoder(root.optional("decoder"), byte_level),
            "model": version_1_model(model),
        },
    )


def _post_processor(node: Node | None) -> Any:
    if node is None:
        return None
    node.object({"type", "single", "pair"})
    if node.field("type").string() != "TemplateProcessing":
        node.field("type").fail('"TemplateProcessing", the only one of version 2.0')
    special: dict[str, Any] = {}
    templates = {}
    for name, sequences in (("single", ["A"]), ("pair", ["A", "B"])):
        pieces = list(node.field(name).items())
        if [piece.value["seq"] for piece in pieces if "seq" in piece.object()] != sequences:
            node.field(name).fail(f"the texts {' and '.join(sequences)} in this order, each once")
        templates[name] = [_piece(piece, special) for piece in pieces]
    return {"type": "TemplateProcessing", **templates, "special_tokens": special}


def _piece(node: Node, special: dict[str, Any]) -> dict[str, Any]:
    """A piece of a template; a run of ids becomes a special token of that name, put into
    ``special``.
    """
    fields = node.object({"seq", "ids", "type_id"})
    if ("seq" in fields) == ("ids" in fields):
        node.fail('{"seq": text} or {"ids": [id, ...]}')
    type_node = node.get("type_id")
    type_id = 0 if type_node is None else type_node.u32() % 256  # the reference keeps a byte of it
    if "seq" in fields:
        return {"Sequence": {"id": node.field("seq").string(), "type_id": type_id}}
    ids = [number.u32() for number in node.field("ids").items()]
    name = " ".join(map(str, ids))
    special[name] = {"id": name, "ids": ids, "tokens": []}
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _decoder(node: Node | None, byte_level: bool) -> Any:
    """A byte-level model decodes to its bytes, whatever decoder the file has."""
    if byte_level:
        return BYTE_LEVEL
    return None if node is None else _spelled_out(node)


def _spelled_out(node: Node) -> Any:
    match node.field("type").string():
        case "ByteLevel":
            node.object({"type"})
            return BYTE_LEVEL
        case "Metaspace":
            node.object({"type", "replacement", "prepend_scheme"})
            return {
                **node.value,
                "prepend_scheme": node.field("prepend_scheme").string(),
                "split": True,
            }
        case "Replace" if node.field("pattern").object().get("String") == "":
            return {"type": "Sequence", "decoders": []}  # an empty text is nowhere
        case "Sequence":
            node.object({"type", "decoders"})
            return {
                "type": "Sequence",
                "decoders": [_spelled_out(part) for part in node.field("decoders").items()],
            }
        case _:
            return node.value


def _added_tokens(node: Node | None, normalizer: Normalizer) -> Any:
    """In the order of their ids, in which the reference numbers them; of two with one content the
    last one says what it is.
    """
    if node is None or node.is_null:
        return []
    tokens: dict[str, Node] = {}
    for token in sorted(node.items(), key=lambda token: token.field("id").u32()):
        content = token.field("content").string() or token.path  # without a content it is left out
        number = tokens.get(content, token).field("id").u32()
        tokens[content] = Node(token.file, token.path, {**token.value, "id": number})
    _check_added_tokens([(token, _spelling(token, normalizer)) for token in tokens.values()])
    return [token.value for token in tokens.values()]


def _spelling(token: Node, normalizer: Normalizer) -> str:
    content = token.field("content").string()
    return normalizer.normalized(content) if token.field("normalized").boolean() else content


def _check_added_tokens(tokens: Sequence[tuple[Node, str]]) -> None:
    """Refuse what the reference stops at, and what it takes for another token."""
    for is_normalized in (False, True):
        _check_overlaps(
            [pair for pair in tokens if pair[0].field("normalized").boolean() is is_normalized]
        )
    found: dict[str, Node] = {}
    for token, spelling in tokens:
        if token.field("single_word").boolean() and not spelling[:1].isascii():
            token.field("single_word").unsupported(
                "false is, where the token does not begin with a character of ASCII: where one is"
                " in a word, tokenizers 1.0.0rc3 stops at the next token with single_word"
            )
        if spelling and found.setdefault(spelling, token) is not token:
            token.unsupported(
                f"tokens that normalize to other texts than {found[spelling].path} are"
            )


def _check_overlaps(tokens: Sequence[tuple[Node, str]]) -> None:
    """Refuse what the reference overlooks where all tokens begin with one byte.

    Then it looks for the prefix that they share, at places that do not overlap.
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
                    f"tokens without the beginning {show(prefix.decode(errors='replace'))}, of"
                    f" which a part comes twice, are; in {show(text.decode(errors='replace'))}"
                    " tokenizers 1.0.0rc3, which looks for it at places that do not overlap, does"
                    " not find this one"
                )


def restarts_after_added(added: AddedVocabulary) -> bool:
    """Whether it matters that the reference looks for each token as if the text began after the
    one before.
    """
    return any(token.single_word or token.rstrip for token in added.tokens)


def as_matched(added: AddedVocabulary) -> AddedVocabulary:
    """Added tokens that are looked for, and decoded, as the normalizer makes them."""
    tokens = tuple(
        (
            replace(token, content=added.spelling[token.id], verbatim=True)
            if token.normalized
            else token
        )
        for token in added.tokens
    )
    return replace(
        added, tokens=tokens, special=frozenset(token.content for token in tokens if token.special)
    )


def decoded_as_added(
    tokens: Sequence[Token | None], added: AddedVocabulary, *, byte_level: bool
) -> Iterator[Token | None]:
    """The tokens with what the reference does otherwise where it decodes.

    An id below all added ones is not special, however it is spelled. ``byte_level``: nor is any
    that was not added; and added tokens are decoded as they are written, where the decoder of
    version 1.0 takes characters that are all in GPT-2's alphabet for bytes.
    """
    contents = {token.id: token.content.encode() for token in added.tokens}
    for number, token in enumerate(tokens):
        if token is None:
            yield None
        elif number in contents:
            yield replace(token, content=contents[number]) if byte_level else token
        else:
            yield replace(
                token, special=token.special and not byte_level and number > min(contents)
            )
