"""The ``added_tokens`` of a tokenizer.json, with the ids that they have in the reference.

The reference ignores the declared id of an added token. A content in the model's vocabulary keeps
the id there; every other content gets the next number, counted from the *size* of the vocabulary.
Declaring a content again replaces its flags, but once special it stays special.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tokexport.model import AddedToken, Token
from tokexport.model.normalization.normalize import normalize
from tokexport.sources.byte_pair import Names
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.normalizer import Steps

_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS: Final = ("id", "content", "special", *_FLAGS[:-1])  # in the order of AddedToken
_TYPES: Final = [int, str, *(bool,) * len(_FLAGS)]
_NOTES: Final = 3  # at most this many of a kind


@dataclass(frozen=True, slots=True)
class AddedVocabulary:
    """``spelling`` is the text of each id for the decoder."""

    tokens: tuple[AddedToken, ...]  # in order of ids
    spelling: Mapping[int, str]
    notes: tuple[str, ...]


def read_added_tokens(root: Node, vocab: Names, normalizer: Steps, *, size: int) -> AddedVocabulary:
    """The added tokens of ``root``, numbered as in the reference: it counts ``size`` in ``vocab``.

    Raises UnsupportedError where the reference is ambiguous about an id or a text.
    """
    declared = root.get("added_tokens")
    ids: dict[str, int] = {}
    tokens: dict[int, tuple[AddedToken, Node]] = {}
    normal_forms: dict[int, str] = {}
    notes: list[str] = []
    renumbered: list[str] = []
    next_id = size
    taken = {*vocab.vocabulary.ids[vocab.vocabulary.ids >= size].tolist()}
    for node in () if declared is None else declared.items():
        token = _declared(node)
        content = token.content
        if not content:
            notes.append(f"{node.path} has no content: the reference ignores it.")
            continue
        number = ids.get(content, vocab.get(content))
        if number is None:
            number = next_id
            next_id += 1
            if number in taken:
                node.field("content").unsupported(
                    f"the reference gives {show(content)} the id {number} of another token",
                    "add the token to model.vocab with an id of its own, or close the holes in the"
                    " vocabulary's ids",
                )
        if token.normalized and (normal := normalize(content, normalizer)) != content:
            if not normal:
                node.field("content").unsupported(
                    f"the normalizer leaves nothing of {show(content)}",
                    "set normalized to false: otherwise the reference stops at most texts",
                )
            normal_forms[number] = normal
        if token.id != number:
            renumbered.append(
                f"{node.path} declares the id {token.id} for {show(content)}: the reference gives"
                f" it {number}."
            )
        ids[content] = number
        stays_special = number in tokens and tokens[number][0].special
        if stays_special or token.id != number:
            token = replace(token, id=number, special=stays_special or token.special)
        tokens[number] = token, node
    normalized = [(token, node) for token, node in tokens.values() if token.normalized]
    _refuse_equal_normal_forms(normalized, normal_forms)
    notes += renumbered[:_NOTES]
    if len(renumbered) > _NOTES:
        notes.append(f"In all, the reference gives {len(renumbered)} added tokens another id.")
    final = sorted((token for token, _ in tokens.values()), key=lambda token: token.id)
    return AddedVocabulary(
        tokens=tuple(final),
        spelling={token.id: normal_forms.get(token.id, token.content) for token in final},
        notes=tuple(notes),
    )


def _declared(node: Node) -> AddedToken:
    fields = node.object(_FIELDS)
    values: list[Any] = [fields.get(name) for name in _FIELDS]
    if [*map(type, values)] == _TYPES and 0 <= values[0] < 1 << 32:
        return AddedToken(*values)  # the usual case, without a node for each field
    number, content = node.field("id").u32(), node.field("content").string()
    return AddedToken(number, content, **{flag: node.field(flag).boolean() for flag in _FLAGS})


def _refuse_equal_normal_forms(
    tokens: Iterable[tuple[AddedToken, Node]], normal_forms: Mapping[int, str]
) -> None:
    found: dict[str, Node] = {}
    for token, node in tokens:
        other = found.setdefault(normal_forms.get(token.id, token.content), node)
        if other is not node:
            node.field("content").unsupported(
                f"{show(token.content)} normalizes to the same text as {other.path}",
                "remove one of the two: the reference finds either of them, by chance",
            )


def as_matched(added: AddedVocabulary) -> AddedVocabulary:
    """Added tokens that are matched and decoded in their normalized form, as from 1.0 on."""
    tokens = (
        replace(token, content=added.spelling[token.id], verbatim=token.normalized)
        for token in added.tokens
    )
    return replace(added, tokens=tuple(tokens))


def decoded_as_added(
    tokens: Sequence[Token | None], added: AddedVocabulary, byte_level: bool
) -> Iterator[Token | None]:
    """The tokens as the reference decodes them from 1.0 on.

    An id below all added ids is not special, however it is spelled. ``byte_level``: nor is any id
    that was not added, and the contents of added tokens are never decoded from GPT-2's alphabet.
    """
    contents = {token.id: token.content.encode() for token in added.tokens}
    for number, token in enumerate(tokens):
        if token is None:
            yield None
        elif number in contents:
            yield replace(token, content=contents[number]) if byte_level else token
        else:
            special = token.special and not byte_level and number > min(contents)
            yield replace(token, special=special)
