"""The ``added_tokens`` of a tokenizer.json, with the ids that the reference gives them.

The reference does not take an added token's declared id. A content that the model's vocabulary has
keeps that id; every other one gets the next number, counted from the *size* of the vocabulary.
Declaring one content again replaces its flags, but once special it stays special.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tokexport.errors import UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.normalizer import Normalizer

_FIELDS: Final = frozenset(
    ("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
)
_NOTES: Final = 3


@dataclass(frozen=True, slots=True)
class AddedVocabulary:
    """``tokens`` by rising id; ``spelling`` is what the reference decodes an id from, ``special``
    the contents that it may skip.
    """

    tokens: tuple[AddedToken, ...]
    spelling: Mapping[int, str]
    special: frozenset[str]
    notes: tuple[str, ...]


def read_added_tokens(
    root: Node, vocab: Mapping[str, int], normalizer: Normalizer, *, size: int | None = None
) -> AddedVocabulary:
    """The added tokens of the tokenizer.json ``root``, over the model's ``vocab``, which the
    reference says has ``size`` tokens.

    Raises UnsupportedError where the reference itself does not say which token an id or a text is.
    """
    node = root.get("added_tokens")
    declared = [(_declared(item), item) for item in node.items()] if node is not None else []
    return add_tokens(declared, vocab, normalizer, size=size)


def add_tokens(
    declared: Sequence[tuple[AddedToken, Node]],
    vocab: Mapping[str, int],
    normalizer: Normalizer,
    *,
    size: int | None = None,
) -> AddedVocabulary:
    """Number the declared tokens as the reference does; see the head of this file."""
    ids: dict[str, int] = {}
    tokens: dict[int, tuple[AddedToken, Node]] = {}
    normal_forms: dict[int, str] = {}
    special: set[str] = set()
    notes: list[str] = []
    renumbered: list[str] = []
    taken = set(vocab.values())
    next_id = len(vocab) if size is None else size
    for token, node in declared:
        content = token.content
        if not content:
            notes.append(f"{node.path} has no content: the reference leaves it out.")
            continue
        number = ids.get(content, vocab.get(content))
        if number is None:
            number = next_id
            next_id += 1
            if number in taken:
                raise UnsupportedError(
                    node.path,
                    f"{show(content)}, which the reference gives the id {number} of a token of the"
                    " vocabulary, is not supported",
                    "give it an id in model.vocab, or close the holes in the vocabulary's ids",
                )
        if token.normalized and (normal := normalizer.normalized(content)) != content:
            if not normal:
                raise UnsupportedError(
                    node.path,
                    f"{show(content)}, of which the normalizer leaves nothing, is not supported",
                    "the reference stops at most texts then; set normalized to false for this"
                    " token",
                )
            normal_forms[number] = normal
        if token.id != number:
            notes.append(
                f"{node.path} declares the id {token.id} for {show(content)}: the reference gives"
                f" it {number}."
            )
        if token.special:
            special.add(content)
        ids[content] = number
        tokens[number] = replace(token, id=number), node
    _refuse_one_pattern_for_two(
        [pair for pair in tokens.values() if pair[0].normalized], normal_forms
    )
    return AddedVocabulary(
        tokens=tuple(
            replace(token, special=token.content in special)
            for _, (token, _) in sorted(tokens.items())
        ),
        spelling={
            number: normal_forms.get(number, token.content) for number, (token, _) in tokens.items()
        },
        special=frozenset(special),
        notes=(*notes, *_first(renumbered)),
    )


def _first(notes: list[str]) -> list[str]:
    """The first few of many notes, and how many there are."""
    if len(notes) <= _NOTES:
        return notes
    return [*notes[:_NOTES], f"So it is with {len(notes)} added tokens in all."]


def _declared(node: Node) -> AddedToken:
    node.object(_FIELDS)
    return AddedToken(
        id=node.field("id").u32(),
        content=node.field("content").string(),
        special=node.field("special").boolean(),
        single_word=node.field("single_word").boolean(),
        lstrip=node.field("lstrip").boolean(),
        rstrip=node.field("rstrip").boolean(),
        normalized=node.field("normalized").boolean(),
    )


def _refuse_one_pattern_for_two(
    tokens: Iterable[tuple[AddedToken, Node]], normal_forms: Mapping[int, str]
) -> None:
    found: dict[str, Node] = {}
    for token, node in tokens:
        other = found.setdefault(normal_forms.get(token.id, token.content), node)
        if other is not node:
            raise UnsupportedError(
                node.path,
                f"{show(token.content)}, which normalizes to the same text as {other.path}, is not supported",
                "the reference takes either of them by chance; remove one",
            )
