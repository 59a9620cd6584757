"""Hugging Face's tokenizer.json 2.0, which the 1.0 release candidates of ``tokenizers`` read and write, as one of version 1.0.

Version 2.0 says the same things in fewer ways (``tk-serialize/SPEC.md`` in the source archive of tokenizers 1.0.0rc3): whether the
vocabulary is in GPT-2's alphabet stands on the model, Metaspace is a normalizer and a Split, and templates hold ids. Each is rewritten
here as what it is in 1.0, so that everything behind this module knows one version.

The two libraries do not agree everywhere. What the release candidate does otherwise with the same words is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tokexport.compiler.regex import compile_replace
from tokexport.compiler.replacing import match_end
from tokexport.model import (
    CharacterMap,
    Dialect,
    NormalForm,
    NormalizerStep,
    Prepend,
    Replace,
    SpellBytes,
    Split,
    Strip,
    Token,
)
from tokexport.readers.huggingface_added_tokens import AddedVocabulary
from tokexport.readers.huggingface_normalizer import Normalizer, read_normalizer, read_pattern
from tokexport.readers.huggingface_parts import flat
from tokexport.readers.huggingface_pre_tokenizer import GPT2_PATTERN, escape
from tokexport.readers.huggingface_version_2_model import is_byte_level, version_1_model
from tokexport.readers.json_node import Node, show
from tokexport.readers.known_patterns import LLAMA3, O200K, QWEN, TEKKEN
from tokexport.readers.unicode_17 import PUNCTUATION, WORDS, with_unicode_17

VERSION: Final = "2.0"
_FIELDS: Final = frozenset(
    (
        *("version", "truncation", "padding", "role_to_token", "added_tokens", "normalizer", "pre_tokenizer"),
        *("post_processor", "decoder", "model"),
    )
)
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
_BYTE_LEVEL: Final = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def version_1(root: Node, normalizer: Normalizer) -> Node:
    """The document of version 1.0 that means what ``root``, of version 2.0, means to the library that reads it.

    ``normalizer``: that of added tokens.

    Raises SourceError for what that library refuses, UnsupportedError for what it runs in another way than 0.23.

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
            "pre_tokenizer": _pre_tokenizer(root.optional("pre_tokenizer"), byte_level),
            "post_processor": _post_processor(root.optional("post_processor")),
            "decoder": _decoder(root.optional("decoder"), byte_level),
            "model": version_1_model(model),
        },
    )


def read_normalizers(node: Node | None, *, spelled: bool = False) -> tuple[Normalizer, Normalizer]:
    """What the normalizer at ``node`` does to a text, and to an added token: a MetaspaceNormalizer that ends it leaves that alone.

    An added token may stand anywhere, so what is put before the very start of the input is not put before it. ``spelled``: ByteLevel is a
    step like others.
    """
    parts = flat(node, "normalizers")
    steps: list[NormalizerStep] = []
    of_added: list[NormalizerStep] = []
    byte_level = False
    for number, part in enumerate(parts):
        if byte_level:
            part.not_bytes("nothing may follow the ByteLevel normalizer")
        match part.value:
            case {"type": "MetaspaceNormalizer"}:
                own = _metaspace(part)
                if number < len(parts) - 1:
                    of_added += (step for step in own if not (isinstance(step, Prepend) and step.only_first))
                steps += own
                continue
            case {"type": "Replace"}:
                own = _replace(part, steps)
            case {"type": "Prepend", "prepend": ""}:
                own = []
            case _:
                one = read_normalizer(part, spelled=spelled)
                own = [step.of_unicode_17 if isinstance(step, NormalForm) else step for step in one.steps]
                byte_level = one.byte_level
        of_added += own
        steps += own
    return Normalizer(tuple(steps), byte_level), Normalizer(tuple(of_added), byte_level)


def _metaspace(node: Node) -> list[NormalizerStep]:
    node.object({"type", "replacement", "prepend", "drop_whitespace"})
    mark, scheme = node.field("replacement"), node.field("prepend")
    if len(mark.string()) != 1:
        mark.fail("a single character")
    if scheme.string() not in ("always", "first", "never"):
        scheme.fail('"always", "first" or "never"')
    prepend = Prepend(mark.string(), unless_present=True, only_first=scheme.value == "first")
    if not node.field("drop_whitespace").boolean():
        spaces = Replace(" ", mark.string(), path=node.path)
        return [spaces] if scheme.value == "never" else [spaces, prepend]
    if scheme.value == "first":
        return _dropping_first(node.path, mark.value)
    if scheme.value == "never":
        return [Replace(r"\s+", "", literal=False, path=node.path)]
    # The mark goes before every word that does not begin with it.
    between = Replace(rf"\s+{escape(mark.string())}?", mark.string(), literal=False, path=node.path)
    return [Strip(), between, prepend]


def _dropping_first(path: str, mark: str) -> list[NormalizerStep]:
    """White space dropped, and the mark before a text that begins the input, where that does not begin with white space or the mark.

    For a moment a line feed is what stands before a text that begins the input, as no other text has one.
    """
    steps: list[NormalizerStep] = [Replace(r"\s+", " ", literal=False, path=path), Prepend("\n", only_first=True)]
    pairs = [("\n ", ""), (" ", ""), *([] if mark.isspace() else [("\n" + mark, mark)]), ("\n", mark)]
    return [*steps, *(Replace(before, behind, path=path) for before, behind in pairs)]


def _replace(node: Node, steps_before: Sequence[NormalizerStep]) -> list[NormalizerStep]:
    """A Replace: its regular expressions are those of fancy-regex, and an empty text is nowhere.

    Refuses what would be put into an empty text, which no normalizer here leaves anything but empty.
    """
    node.object({"type", "pattern", "content"})
    pattern, literal = read_pattern(node.field("pattern"))
    step = Replace(pattern, node.field("content").string(), literal, Dialect.FANCY_REGEX, node.path)
    if literal:
        return [step] if pattern else []
    split = Split(pattern, dialect=step.dialect, path=node.path)
    fills = match_end(compile_replace(split, step.content), (), 0) is not None and step.content
    if fills and not all(map(_keeps_some, steps_before)):
        node.field("pattern").unsupported(
            "behind a step that may leave nothing of a text, one that matches a character or more is"
        )
    return [step]


def _keeps_some(step: NormalizerStep) -> bool:
    """Whether it leaves something of every text."""
    match step:
        case Replace(content=content):
            return content != ""
        case NormalForm() | CharacterMap.LOWERCASE | Prepend() | SpellBytes():
            return True
        case _:
            return False


def _pre_tokenizer(node: Node | None, byte_level: bool) -> Any:
    parts = _splits(node)
    _check_patterns(parts)
    steps = [step for part in parts for step in _unicode_17(part)]
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
        if name.value == "Split" and part.field("pattern").object().get("String") == "":
            part.field("pattern").fail("a text that is not empty; the reference refuses that")
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
        case "Replace" if node.field("pattern").object().get("String") == "":
            return {"type": "Sequence", "decoders": []}  # an empty text is nowhere
        case "Sequence":
            node.object({"type", "decoders"})
            return {"type": "Sequence", "decoders": [_spelled_out(part) for part in node.field("decoders").items()]}
        case _:
            return node.value


def _added_tokens(node: Node | None, normalizer: Normalizer) -> Any:
    """In the order of their ids, in which the reference numbers them; of two with one content the last one says what it is."""
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
        _check_overlaps([pair for pair in tokens if pair[0].field("normalized").boolean() is is_normalized])
    found: dict[str, Node] = {}
    for token, spelling in tokens:
        if token.field("single_word").boolean() and not spelling[:1].isascii():
            token.field("single_word").unsupported(
                "false is, where the token does not begin with a character of ASCII: behind one that is part of a word the reference stops"
            )
        if spelling and found.setdefault(spelling, token) is not token:
            token.unsupported(f"tokens that normalize to other texts than {found[spelling].path} are")


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
                    f"tokens without the beginning {show(prefix.decode(errors='replace'))}, of which a part comes twice, are; "
                    f"in {show(text.decode(errors='replace'))} the reference does not find this one"
                )


def searches_anew(added: AddedVocabulary) -> bool:
    """Whether it matters that the reference looks for each token as if the text began behind the one before."""
    return any(token.single_word or token.rstrip for token in added.tokens)


def as_matched(added: AddedVocabulary) -> AddedVocabulary:
    """Added tokens that are looked for, and decoded, as the normalizer makes them."""
    tokens = tuple(
        replace(token, content=added.spelling[token.id], verbatim=True) if token.normalized else token
        for token in added.tokens
    )
    return replace(added, tokens=tokens, special=frozenset(token.content for token in tokens if token.special))


def decoded_as_added(
    tokens: Sequence[Token | None], added: AddedVocabulary, *, byte_level: bool
) -> Iterator[Token | None]:
    """The tokens with what the reference does otherwise where it decodes.

    An id below all added ones is not special, however it is spelled. ``byte_level``: nor is any that was not added; and added tokens are
    decoded as they are written, where the decoder of version 1.0 takes characters that are all in GPT-2's alphabet for bytes.
    """
    contents = {token.id: token.content.encode() for token in added.tokens}
    for number, token in enumerate(tokens):
        if token is None:
            yield None
        elif number in contents:
            yield replace(token, content=contents[number]) if byte_level else token
        else:
            yield replace(token, special=token.special and not byte_level and number > min(contents))
