"""The WordPiece and WordLevel ``model`` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokexport.model import WordLevelModel, WordPieceModel
from tokexport.sources.byte_pair import read_vocab
from tokexport.sources.json_node import Node

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
