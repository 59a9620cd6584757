"""The ``model`` of a tokenizer.json, by its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class HuggingFaceModel:
    """The model, its vocabulary as the source spells it, and its unknown token.

    ``spelling`` is the string of each id: more ids than ``vocab`` has where a piece of a Unigram
    model stands twice.
    """

    model: Model
    vocab: Mapping[str, int]
    spelling: Mapping[int, str]
    unk_id: int | None


def read_model(root: Node) -> HuggingFaceModel:
    """The model of the tokenizer.json ``root``.

    Raises UnsupportedError for a model that cannot be exact, SourceError for one that the reference
    refuses to load.
    """
    node = root.field("model")
    model: Model
    vocab: dict[str, int]
    match _type(node):
        case "BPE":
            model, vocab = read_byte_pair(node)
        case "Unigram":
            model, pieces = read_unigram(node)
            vocab = {piece: number for number, piece in enumerate(pieces)}
            return HuggingFaceModel(model, vocab, dict(enumerate(pieces)), model.unk_id)
        case "WordPiece":
            model, vocab = read_word_piece(node)
        case "WordLevel":
            model, vocab = read_word_level(node)
        case _:
            return node.field("type").unsupported(
                "supported are BPE, Unigram, WordPiece and WordLevel"
            )
    return HuggingFaceModel(
        model, vocab, {number: token for token, number in vocab.items()}, model.unk_id
    )


def _type(node: Node) -> str:
    """The type, or for files from before there was one, the first that the fields are enough for:
    so the reference tries them.
    """
    kind = node.get("type")
    if kind is not None:
        return kind.string()
    fields = set(node.object())
    if isinstance(node.field("vocab").value, list):
        return "Unigram"
    for name, wanted in (
        ("BPE", {"merges"}),
        ("WordPiece", WORD_PIECE_FIELDS),
        ("WordLevel", WORD_LEVEL_FIELDS),
    ):
        if wanted <= fields:
            return name
    raise SourceError(
        f"{node.file}: {node.path} has no type, and its fields {', '.join(sorted(fields))} are"
        f" those of no model: BPE has merges, WordPiece {', '.join(sorted(WORD_PIECE_FIELDS))},"
        f" WordLevel {', '.join(sorted(WORD_LEVEL_FIELDS))}, Unigram an array as vocab"
    )
