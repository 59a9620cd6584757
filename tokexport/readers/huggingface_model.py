"""The ``model`` of a tokenizer.json, by its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tokexport.model import Model
from tokexport.readers.huggingface_bpe import read_byte_pair
from tokexport.readers.json_node import Node

_SUPPORTED: Final = "byte-level BPE is supported"


@dataclass(frozen=True, slots=True)
class HuggingFaceModel:
    """The model, its vocabulary as the source spells it, and its unknown token."""

    model: Model
    vocab: dict[str, int]
    unk_id: int | None


def read_model(root: Node, *, byte_level: bool) -> HuggingFaceModel:
    """The model of the tokenizer.json ``root``.

    ``byte_level``: the text that the model sees is in GPT-2's alphabet, a character a byte. Raises UnsupportedError for a model that cannot
    be exact, SourceError for one that the reference refuses to load.
    """
    node = root.field("model")
    match _type(node):
        case "BPE":
            model, vocab = read_byte_pair(node, byte_level=byte_level)
        case _:
            return node.field("type").unsupported(_SUPPORTED)
    return HuggingFaceModel(model, vocab, model.unk_id)


def _type(node: Node) -> str:
    kind = node.get("type")
    if kind is not None:
        return kind.string()
    # Files from before there was a type: the reference tries each in turn, and BPE is the one with merges.
    fields = node.object()
    if "merges" in fields:
        return "BPE"
    guess = "Unigram" if isinstance(fields.get("vocab"), list) else "WordPiece or WordLevel"
    return Node(node.file, "model.type", f"(absent; by its fields it is {guess})").unsupported(_SUPPORTED)
