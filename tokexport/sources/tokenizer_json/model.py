"""The ``model`` of a tokenizer.json, by its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import Model
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.bpe import read_byte_pair
from tokexport.sources.tokenizer_json.unigram import read_unigram
from tokexport.sources.tokenizer_json.words import (
    WORD_LEVEL_FIELDS,
    WORD_PIECE_FIELDS,
    read_word_level,
    read_word_piece,
)

# The fields of models without a type, in the order in which the reference tries them.
_FIELDS: Final = {
    "BPE": frozenset(("merges",)),
    "WordPiece": WORD_PIECE_FIELDS,
    "WordLevel": WORD_LEVEL_FIELDS,
}


@dataclass(frozen=True, slots=True)
class HuggingFaceModel:
    """The model, its vocabulary as the source spells it, and its unknown token.

    ``spelling`` is the string of each id: more ids than ``vocab`` has where a Unigram model lists
    a piece twice.
    """

    model: Model
    vocab: Mapping[str, int]
    spelling: Mapping[int, str]
    unk_id: int | None


def read_model(root: Node) -> HuggingFaceModel:
    """The model of ``root``. SourceError for one that the reference refuses to load."""
    node = root.field("model")
    read: Callable[[Node], tuple[Model, dict[str, int]]]
    match _type(node):
        case "BPE":
            read = read_byte_pair
        case "WordPiece":
            read = read_word_piece
        case "WordLevel":
            read = read_word_level
        case "Unigram":
            unigram, pieces = read_unigram(node)
            vocab = {piece: number for number, piece in enumerate(pieces)}
            return HuggingFaceModel(unigram, vocab, dict(enumerate(pieces)), unigram.unk_id)
        case _:
            hint = "use BPE, Unigram, WordPiece or WordLevel"
            return node.field("type").unsupported(hint)
    model, vocab = read(node)
    spelling = {number: token for token, number in vocab.items()}
    return HuggingFaceModel(model, vocab, spelling, model.unk_id)


def _type(node: Node) -> str:
    """The type, or, in files older than that field, the first whose fields are all there."""
    kind = node.get("type")
    if kind is not None:
        return kind.string()
    if isinstance(node.field("vocab").value, list):
        return "Unigram"
    fields = set(node.object())
    for name, wanted in _FIELDS.items():
        if wanted <= fields:
            return name
    known = "; ".join(f"{name} has {', '.join(sorted(wanted))}" for name, wanted in _FIELDS.items())
    raise SourceError(
        f"{node.file}: {node.path} has no type, and its fields {', '.join(sorted(fields))} are"
        f" those of no model; {known}; Unigram has an array as vocab"
    )
