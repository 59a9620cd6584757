"""The ``model`` of a tokenizer.json, by its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tokexport.errors import SourceError
from tokexport.model import Model, WordLevelModel, WordPieceModel
from tokexport.sources.byte_pair import read_vocab
from tokexport.sources.json_node import Node
from tokexport.sources.tokenizer_json.bpe import read_byte_pair
from tokexport.sources.tokenizer_json.unigram import read_unigram

WORD_PIECE_FIELDS: Final = frozenset(
    ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab")
)
WORD_LEVEL_FIELDS: Final = frozenset(("unk_token", "vocab"))
_LARGEST: Final = 1 << 64


def read_word_piece(node: Node) -> tuple[WordPieceModel, dict[str, int]]:
    """The WordPiece model at ``node``, and its vocabulary. SourceError where it is refused."""
    node.object({"type", *WORD_PIECE_FIELDS})
    vocab = read_vocab(node.field("vocab"))
    prefix = node.field("continuing_subword_prefix").string().encode()
    longest = node.field("max_input_chars_per_word")
    if type(longest.value) is not int or not 0 <= longest.value < _LARGEST:
        longest.fail("an integer that is not negative")
    unk_id = vocab.get(node.field("unk_token").string())
    return WordPieceModel(_keys(vocab), unk_id, prefix, longest.value), vocab


def read_word_level(node: Node) -> tuple[WordLevelModel, dict[str, int]]:
    """The WordLevel model at ``node``, and its vocabulary as the source spells it."""
    node.object({"type", *WORD_LEVEL_FIELDS})
    vocab = read_vocab(node.field("vocab"))
    unk_id = vocab.get(node.field("unk_token").string())
    return WordLevelModel(_keys(vocab), unk_id), vocab


def _keys(vocab: Mapping[str, int]) -> dict[bytes, int]:
    """The tokens that a text can contain."""
    return {token.encode(): number for token, number in vocab.items() if token}


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
