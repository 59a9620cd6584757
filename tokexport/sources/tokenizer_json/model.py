"""The ``model`` of a tokenizer.json, by its type."""

from array import array
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tokexport._core import strings_and_numbers
from tokexport.model import (
    BytePairModel,
    ByteStrings,
    CharacterSymbols,
    Model,
    UnigramModel,
    Vocabulary,
    WordLevelModel,
    WordPieceModel,
)
from tokexport.model.byte_alphabet import BYTES_OF_TEXT
from tokexport.sources.byte_pair import Names, read_merges, read_names
from tokexport.sources.json_node import LongValue, Node
from tokexport.sources.serde_number import serde_number
from tokexport.sources.tokenizer_json.decoder_chain import Spelling

# The fields of models without a type, in the order in which the reference tries them.
_FIELDS: Final = {
    "BPE": {"merges"},
    "WordPiece": {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"},
    "WordLevel": {"unk_token", "vocab"},
}
_BYTE_PAIR_FIELDS: Final = (
    "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback"
    " ignore_merges vocab merges"
)
_LARGEST: Final = 1 << 64
_UNKNOWN_PENALTY: Final = 10.0  # below the lowest score, as in the reference
_BYTE: Final = "<0x{:02X}>"


@dataclass(frozen=True, slots=True)
class HuggingFaceModel:
    """The model, and its vocabulary as the source spells it.

    ``spelling`` has the strings of all ids: more than ``vocab`` where Unigram lists a piece twice.
    """

    model: Model
    vocab: Names
    spelling: Spelling


def read_model(root: Node) -> HuggingFaceModel:
    """The model of ``root``. SourceError for one that the reference refuses to load."""
    node = root.field("model")
    kind = _type(node)
    if kind == "Unigram":
        return _read_unigram(node)
    readers = {"BPE": _read_byte_pair, "WordPiece": _read_word_piece, "WordLevel": _read_word_level}
    if kind not in readers:
        node.field("type").unsupported("use BPE, Unigram, WordPiece or WordLevel")
    model, vocab = readers[kind](node)
    return HuggingFaceModel(model, vocab, Spelling(vocab.vocabulary.ids, vocab.vocabulary.strings))


def _read_byte_pair(node: Node) -> tuple[Model, Names]:
    node.object(_BYTE_PAIR_FIELDS.split())
    dropout = node.optional("dropout")
    chance = 0.0 if dropout is None else dropout.value
    if dropout is not None and not (type(chance) in (int, float) and 0 <= chance <= 1):
        dropout.fail("a number from 0 to 1")
    vocab = read_names(node.field("vocab"))
    characters = _characters(node, vocab)
    unk_token = node.optional("unk_token")
    unk_id = None if unk_token is None else vocab.get(unk_token.string())
    byte_ids = characters.byte_ids
    has_all = byte_ids is not None and all(byte_ids[byte] is not None for byte in BYTES_OF_TEXT)
    model = BytePairModel(
        vocab=vocab.vocabulary.without_empty,
        whole_pre_token_first=node.flag("ignore_merges"),
        unk_id=unk_id,
        unknown_stops=unk_token is not None and unk_id is None and not has_all,
        fuse_unk=node.flag("fuse_unk"),
        characters=characters,
        merges=read_merges(node.field("merges"), vocab, len(characters.prefix)),
        dropout=chance,
    )
    return model, vocab


def _characters(node: Node, vocab: Names) -> CharacterSymbols:
    prefix, suffix = (
        b"" if affix is None else affix.string().encode()
        for affix in map(node.optional, ("continuing_subword_prefix", "end_of_word_suffix"))
    )
    byte_ids = tuple(vocab.get(_BYTE.format(byte)) for byte in range(256))
    if not node.flag("byte_fallback") or byte_ids == (None,) * 256:
        return CharacterSymbols(prefix, suffix)
    if prefix or suffix:
        node.field("byte_fallback").unsupported(
            "use false with an affix, which the reference would spell in bytes too, with offsets"
            " after the end of the text"
        )
    return CharacterSymbols(byte_ids=byte_ids)


def _read_unigram(node: Node) -> HuggingFaceModel:
    """A piece listed twice has its last id and score; the other id is never emitted."""
    node.object({"type", "unk_id", "vocab", "byte_fallback"})
    pieces, scores = _entries(node.field("vocab"))
    ids = np.arange(len(pieces), dtype=np.uint32)
    names, by_id = Names.of(Vocabulary(pieces, ids)), scores
    firsts = names.index.firsts()
    if (firsts != ids).any():
        last = ids.copy()
        last[firsts] = ids  # for equal indexes the last assignment counts
        last = ids[last[firsts] == ids]
        names, by_id = Names.of(names.vocabulary.at(last)), np.zeros(len(pieces))
        by_id[last] = scores[last]
    unk_id = node.optional("unk_id")
    if unk_id is not None and unk_id.u32() >= len(pieces):
        unk_id.fail(f"the index of one of the {len(pieces)} pieces")
    falls_back = "byte_fallback" in node.value and node.field("byte_fallback").boolean()
    byte_ids = tuple(names.get(_BYTE.format(byte)) for byte in range(256))
    model = UnigramModel(
        vocab=names.vocabulary.without_empty,
        scores=array("d", by_id.tobytes()),
        unk_id=None if unk_id is None else unk_id.u32(),
        unk_score=float(scores.min(initial=np.inf if len(scores) else 0.0)) - _UNKNOWN_PENALTY,
        byte_ids=byte_ids if falls_back else None,
    )
    return HuggingFaceModel(model, names, Spelling(ids, pieces))


def _entries(node: Node) -> tuple[ByteStrings, npt.NDArray[np.float64]]:
    if isinstance(value := node.value, LongValue) and value.is_array:
        data, ends, scores = strings_and_numbers(value.document, value.begin)
        value.release()
        return ByteStrings(data, ends), scores
    if not isinstance(node.value, list):
        node.fail("an array")
    entries = []
    for number, value in enumerate(node.value):
        match value:
            case [str() as piece, float() as score]:
                entries.append((piece, score))
            case [str() as piece, int() as score] if not isinstance(score, bool):
                # Python parses a number without a fraction as an integer.
                entries.append((piece, serde_number(str(score))))
            case _:
                node.element(number).fail("a pair of a string and a number")
    pieces = ByteStrings.of(piece.encode() for piece, _ in entries)
    return pieces, np.array([score for _, score in entries], np.float64)


def _read_word_piece(node: Node) -> tuple[Model, Names]:
    node.object({"type", *_FIELDS["WordPiece"]})
    vocab = read_names(node.field("vocab"))
    prefix = node.field("continuing_subword_prefix").string().encode()
    longest = node.field("max_input_chars_per_word")
    if type(longest.value) is not int or not 0 <= longest.value < _LARGEST:
        longest.fail("an integer that is not negative")
    unk_id = vocab.get(node.field("unk_token").string())
    return WordPieceModel(vocab.vocabulary.without_empty, unk_id, prefix, longest.value), vocab


def _read_word_level(node: Node) -> tuple[Model, Names]:
    node.object({"type", *_FIELDS["WordLevel"]})
    vocab = read_names(node.field("vocab"))
    unk_id = vocab.get(node.field("unk_token").string())
    return WordLevelModel(vocab.vocabulary.without_empty, unk_id), vocab


def _type(node: Node) -> str:
    """The type or, in files older than that field, the first type whose fields all exist."""
    kind = node.get("type")
    if kind is not None:
        return kind.string()
    vocab = node.field("vocab").value
    if isinstance(vocab, list) or (isinstance(vocab, LongValue) and vocab.is_array):
        return "Unigram"
    fields = set(node.object())
    for name, wanted in _FIELDS.items():
        if wanted <= fields and (name == "BPE" or node.optional("unk_token") is not None):
            return name
    return node.broken(
        f"has no type, and its fields {', '.join(sorted(fields))} match no model",
        "name its type: BPE, Unigram, WordPiece or WordLevel",
    )
