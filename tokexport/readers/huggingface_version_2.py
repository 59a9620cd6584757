"""Hugging Face's tokenizer.json 2.0, which the 1.0 release candidates of ``tokenizers`` read and write, as one of version 1.0.

Version 2.0 says the same things in fewer ways (``tk-serialize/SPEC.md`` in the source archive of tokenizers 1.0.0rc3): whether the
vocabulary is in GPT-2's alphabet stands on the model, Metaspace is a normalizer and a Split, and templates hold ids. Each is rewritten
here as what it is in 1.0, so that everything behind this module knows one version.

The two libraries do not agree everywhere. What the release candidate does otherwise with the same words is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from tokexport.errors import SourceError
from tokexport.model import AddedToken, NormalForm, Token
from tokexport.readers.byte_alphabet import CHARACTERS
from tokexport.readers.huggingface_added_tokens import AddedVocabulary
from tokexport.readers.huggingface_normalizer import Normalizer
from tokexport.readers.huggingface_parts import flat
from tokexport.readers.huggingface_pre_tokenizer import GPT2_PATTERN
from tokexport.readers.json_node import Node
from tokexport.readers.known_patterns import LLAMA3, O200K, QWEN, TEKKEN
from tokexport.readers.unicode_17 import PUNCTUATION, WORDS, with_unicode_17

VERSION: Final = "2.0"
_FIELDS: Final = frozenset(
    (
        *("version", "truncation", "padding", "role_to_token", "added_tokens", "normalizer", "pre_tokenizer"),
        *("post_processor", "decoder", "model"),
    )
)
_MODEL_FIELDS: Final = {
    "BPE": (
        *("type", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"),
        *("ignore_merges", "byte_level", "vocab", "merges"),
    ),
    "Unigram": ("type", "unk_id", "vocab", "byte_fallback"),
    "WordPiece": ("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"),
    "WordLevel": ("type", "unk_token", "vocab"),
}
# Bytes that UTF-8 has: the release candidate wants a token for each.
_TEXT_BYTES: Final = (*range(0xC0), *range(0xC2, 0xF5))

# Its Split has no engine for regular expressions: it knows these patterns, text for text, and stops at the first text with another one.
_PATTERNS: Final = (GPT2_PATTERN, LLAMA3, QWEN, O200K, TEKKEN)
_DEEPSEEK: Final = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ).replace(r"\r\n", "\r\n"),  # in DeepSeek's file they stand as they are
)
# The same in the engine of the release candidate's Replace, fancy-regex of Unicode 17, and in Oniguruma.
_SPACES: Final = re.compile(r"(?:\\s| )(?:\+|\{\d+,?\d*\})?")
_BYTE_LEVEL: Final = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def version_1(root: Node) -> Node:
    """The document of version 1.0 that means what ``root``, of version 2.0, means to the library that reads it.

    Raises SourceError for what that library refuses, UnsupportedError for what it runs in another way than 0.23.

    >>> piece = Node("tokenizer.json", "post_processor.single[0]", {"ids": [1, 2]})
    >>> _piece(piece, {})
    {'SpecialToken': {'id': '1 2', 'type_id': 0}}
    """
    root.object(_FIELDS)
    model = root.field("model")
    byte_level = _byte_level(model)
    metaspace, normalizer = _normalizer(root.optional("normalizer"))
    return Node(
        root.file,
        "",
        {
            "version": "1.0",
            "truncation": root.object().get("truncation"),
            "padding": root.object().get("padding"),
            "added_tokens": _added_tokens(root.get("added_tokens")),
            "normalizer": normalizer,
            "pre_tokenizer": _pre_tokenizer(root.optional("pre_tokenizer"), metaspace, byte_level),
            "post_processor": _post_processor(root.optional("post_processor")),
            "decoder": _decoder(root.optional("decoder"), byte_level),
            "model": {name: value for name, value in model.value.items() if name != "byte_level"},
        },
    )


def _byte_level(model: Node) -> bool:
    """Whether the model works on bytes; the fields of the model are checked on the way."""
    kind = model.field("type")
    if kind.string() not in _MODEL_FIELDS:
        kind.fail("one of " + ", ".join(_MODEL_FIELDS))
    model.object(_MODEL_FIELDS[kind.string()])
    if kind.string() != "BPE":
        return False
    for number, merge in enumerate(
        model.field("merges").value if isinstance(model.field("merges").value, list) else ()
    ):
        if not isinstance(merge, list):
            Node(model.file, f"model.merges[{number}]", merge).fail("a pair of strings: version 2.0 has no others")
    if not model.field("byte_level").boolean():
        return False
    vocab = model.field("vocab").object(repeats=True)
    for byte in _TEXT_BYTES:
        if CHARACTERS[byte] not in vocab:
            raise SourceError(
                f"{model.file}: model.vocab has no token for the byte 0x{byte:02x}, and the reference refuses a byte-level "
                "vocabulary that lacks a byte of UTF-8"
            )
    return True


def _normalizer(node: Node | None) -> tuple[Node | None, Any]:
    """The MetaspaceNormalizer that ends the normalizer, if one does, and what stands before it."""
    parts = flat(node, "normalizers")
    for part in parts[:-1]:
        if part.value["type"] == "MetaspaceNormalizer":
            part.field("type").unsupported(
                "it must be the last normalizer, where the reference's own converter puts it"
            )
    for part in parts:
        _check_replace(part)
    if not parts or parts[-1].value["type"] != "MetaspaceNormalizer":
        return None, None if node is None else node.value
    before = [part.value for part in parts[:-1]]
    return parts[-1], {"type": "Sequence", "normalizers": before} if before else None


def _check_replace(part: Node) -> None:
    """Refuse a regular expression that another engine than that of 0.23 could read otherwise."""
    if part.value["type"] != "Replace":
        return
    pattern = part.field("pattern").get("Regex")
    if pattern is not None and not _SPACES.fullmatch(pattern.string()):
        pattern.unsupported(r"in version 2.0 a text (String) is, and regular expressions like ' {2,}' and '\s+'")


def _pre_tokenizer(node: Node | None, metaspace: Node | None, byte_level: bool) -> Any:
    parts = _splits(node)
    _check_patterns(parts)
    steps = [step for part in parts for step in _unicode_17(part)]
    if metaspace is not None:
        if byte_level:
            metaspace.field("type").unsupported("a byte-level model has no Metaspace")
        steps = _metaspace(metaspace, parts) + steps
    if byte_level:
        steps.append(_BYTE_LEVEL)
    if len(steps) == 1:
        return steps[0]
    return {"type": "Sequence", "pretokenizers": steps} if steps else None


def _splits(node: Node | None) -> list[Node]:
    parts = flat(node, "pretokenizers")
    if node is not None and any(part.path.count(".pretokenizers[") > 1 for part in parts):
        node.fail("a Sequence without another one in it; the reference refuses that")
    for part in parts:
        name = part.field("type")
        if name.string() in ("ByteLevel", "Metaspace"):
            name.fail("what version 2.0 has in its place: byte_level of the model, or a MetaspaceNormalizer")
    return parts


def _unicode_17(part: Node) -> list[dict[str, Any]]:
    """The parts of version 1.0 that do what this one does, by the reference's version of Unicode."""
    match part.value["type"]:
        case "Split":
            part.object({"type", "pattern", "behavior", "invert"})
            split = {"behavior": "Isolated", "invert": False, **part.value}
            expression = _expression(part)
            return [split if expression is None else {**split, "pattern": {"Regex": with_unicode_17(expression)}}]
        case "Punctuation":
            part.object({"type", "behavior"})
            return [_split(PUNCTUATION, part.value.get("behavior", "Isolated"))]
        case "BertPreTokenizer":
            part.object({"type"})
            return [{"type": "WhitespaceSplit"}, _split(PUNCTUATION, "Isolated")]
        case "Whitespace":
            part.object({"type"})
            return [_split(WORDS, "Removed", invert=True)]
        case _:
            return [part.value]


def _split(pattern: str, behavior: Any, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def _check_patterns(parts: Sequence[Node]) -> None:
    """Refuse a regular expression that the reference's wheels do not know."""
    expressions = [(part, _expression(part)) for part in parts]
    if tuple(expression for _, expression in expressions) == _DEEPSEEK and all(map(_isolates, parts)):
        return
    for part, expression in expressions:
        if expression is None:
            continue
        if expression not in _PATTERNS:
            part.field("pattern").unsupported(
                "the reference's Split has no engine for regular expressions, and stops at every text with another pattern "
                "than those of GPT-2, cl100k, Qwen, o200k, tekken and (all three) DeepSeek"
            )
        if not (_isolates(part) or (part.value.get("behavior") == "Removed" and part.value.get("invert") is True)):
            part.field("pattern").unsupported(
                "the reference stops at every text, but where it is Isolated, or Removed and inverted"
            )


def _expression(part: Node) -> str | None:
    """The regular expression of a Split; None for another part or for plain text."""
    if part.value["type"] != "Split":
        return None
    expression = part.field("pattern").get("Regex")
    return None if expression is None else expression.string()


def _isolates(part: Node) -> bool:
    return part.value.get("behavior", "Isolated") == "Isolated" and not part.value.get("invert", False)


def _metaspace(node: Node, parts: Sequence[Node]) -> list[dict[str, Any]]:
    """The pre-tokenizers of version 1.0 that do what a MetaspaceNormalizer does."""
    node.object({"type", "replacement", "prepend", "drop_whitespace"})
    mark, scheme = node.field("replacement").string(), node.field("prepend")
    if scheme.string() not in ("always", "first", "never"):
        scheme.fail('"always", "first" or "never"')
    metaspace = {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme.value, "split": False}
    if not node.field("drop_whitespace").boolean():
        return [metaspace]
    # Dropped white space joins words to one text; in 1.0 they stay apart. It is the same where each word begins with a mark to cut at.
    cut = {"String": mark}
    first = parts[0].value if parts else {}
    if scheme.value != "always" or first.get("pattern") != cut or first.get("behavior") != "MergedWithNext":
        node.field("drop_whitespace").unsupported(
            'true is supported where "prepend" is "always" and a Split at the mark, MergedWithNext, comes next'
        )
    return [{"type": "WhitespaceSplit"}, metaspace]


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
    """A piece of a template; a run of ids becomes a special token of that name, put into ``special``."""
    fields = node.object({"seq", "ids", "type_id"})
    if ("seq" in fields) == ("ids" in fields):
        node.fail('{"seq": text} or {"ids": [id, ...]}')
    type_node = node.get("type_id")
    type_id = 0 if type_node is None else type_node.u32()
    if "seq" in fields:
        return {"Sequence": {"id": node.field("seq").string(), "type_id": type_id}}
    ids = [number.u32() for number in node.field("ids").items()]
    name = " ".join(map(str, ids))
    special[name] = {"id": name, "ids": ids, "tokens": []}
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _decoder(node: Node | None, byte_level: bool) -> Any:
    """A byte-level model decodes to its bytes, whatever decoder the file has."""
    if byte_level:
        return _BYTE_LEVEL
    return None if node is None else _spelled_out(node)


def _spelled_out(node: Node) -> Any:
    match node.field("type").string():
        case "ByteLevel":
            node.object({"type"})
            return _BYTE_LEVEL
        case "Metaspace":
            node.object({"type", "replacement", "prepend_scheme"})
            return {**node.value, "prepend_scheme": node.field("prepend_scheme").string(), "split": True}
        case "Sequence":
            node.object({"type", "decoders"})
            return {"type": "Sequence", "decoders": [_spelled_out(part) for part in node.field("decoders").items()]}
        case _:
            return node.value


def _added_tokens(node: Node | None) -> Any:
    """In the order of their ids, in which the reference numbers them."""
    if node is None or node.is_null:
        return []
    return [token.value for token in sorted(node.items(), key=lambda token: token.field("id").u32())]


def of_unicode_17(normalizer: Normalizer) -> Normalizer:
    """The same steps with the reference's normal forms.

    >>> of_unicode_17(Normalizer((NormalForm.NFC,))).steps[0].value
    'NFC of Unicode 17'
    """
    steps = tuple(step.of_unicode_17 if isinstance(step, NormalForm) else step for step in normalizer.steps)
    return replace(normalizer, steps=steps)


def spelled_as_written(added: AddedVocabulary) -> AddedVocabulary:
    """Added tokens that decode to their contents, where 0.23 decodes them to what the normalizer makes of these."""
    return replace(added, spelling={token.id: token.content for token in added.tokens})


def without_byte_mapping(tokens: Iterable[Token | None], added: Iterable[AddedToken]) -> tuple[Token | None, ...]:
    """The tokens of a byte-level model, with added ones decoded as they are written.

    The decoder of version 1.0 takes a token whose characters are all in GPT-2's alphabet for bytes, an added one as well.
    """
    contents = {token.id: token.content.encode() for token in added}
    return tuple(
        token if token is None or number not in contents else replace(token, content=contents[number])
        for number, token in enumerate(tokens)
    )
