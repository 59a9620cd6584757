"""The WordPiece and WordLevel ``model`` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tokexport.model import WordLevelModel, WordPieceModel
from tokexport.sources.byte_pair import read_vocab
from tokexport.sources.json_node import Node
from tokexport.unicode.byte_alphabet import to_bytes

WORD_PIECE_FIELDS: Final = frozenset(
    ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab")
)
WORD_LEVEL_FIELDS: Final = frozenset(("unk_token", "vocab"))
_LARGEST: Final = 1 << 64


def read_word_piece(node: Node, *, byte_level: bool) -> tuple[WordPieceModel, dict[str, int]]:
    """The WordPiece model at ``node``, and its vocabulary as the source spells it.

    ``byte_level``: the model sees GPT-2's alphabet. Raises SourceError for a model that the
    reference refuses to load, UnsupportedError for a prefix that GPT-2's alphabet cannot spell.
    """
    node.object({"type", *WORD_PIECE_FIELDS})
    vocab = read_vocab(node.field("vocab"))
    prefix = node.field("continuing_subword_prefix")
    spelled = to_bytes(prefix.string()) if byte_level else prefix.string().encode()
    if spelled is None:
        prefix.not_bytes("after ByteLevel, a prefix in GPT-2's alphabet is")
    longest = node.field("max_input_chars_per_word")
    if type(longest.value) is not int or not 0 <= longest.value < _LARGEST:
        longest.fail("an integer that is not negative")
    unk_id = vocab.get(node.field("unk_token").string())
    return WordPieceModel(
        _keys(vocab, byte_level), unk_id, spelled, longest.value, byte_level
    ), vocab


def read_word_level(node: Node, *, byte_level: bool) -> tuple[WordLevelModel, dict[str, int]]:
    """The WordLevel model at ``node``, and its vocabulary as the source spells it; see
    :func:`read_word_piece`.
    """
    node.object({"type", *WORD_LEVEL_FIELDS})
    vocab = read_vocab(node.field("vocab"))
    return WordLevelModel(
        _keys(vocab, byte_level), vocab.get(node.field("unk_token").string())
    ), vocab


def _keys(vocab: Mapping[str, int], byte_level: bool) -> dict[bytes, int]:
    """What of the vocabulary a text can be."""
    if not byte_level:
        return {token.encode(): number for token, number in vocab.items() if token}
    return {data: number for token, number in vocab.items() if (data := to_bytes(token))}
