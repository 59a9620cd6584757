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
from tokexport.sources.json_node import LongValue, Node, show
from tokexport.sources.serde_number import serde_number

_FIELDS: Final = {
    "Unigram": "type unk_id vocab byte_fallback",
    "BPE": "type dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk"
    " byte_fallback ignore_merges vocab merges",
    "WordPiece": "type unk_token continuing_subword_prefix max_input_chars_per_word vocab",
    "WordLevel": "type unk_token vocab",
}
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
    spelling: Vocabulary


def read_model(root: Node) -> HuggingFaceModel:
    """The model of ``root``. SourceError for one that the reference refuses to load."""
    node = root.field("model")
    kind = _type(node)
    if kind not in _FIELDS:
        problem = f"the model {show(kind)} is not supported"
        node.field("type").unsupported(problem, "use BPE, Unigram, WordPiece or WordLevel")
    node.object(_FIELDS[kind].split())
    if kind == "Unigram":
        return _read_unigram(node)
    vocab = read_names(node.field("vocab"))
    if kind == "BPE":
        model: Model = _byte_pair(node, vocab)
    else:
        known, unk_id = vocab.vocabulary.without_empty, vocab.get(node.field("unk_token").string())
        is_words = kind == "WordLevel"
        model = WordLevelModel(known, unk_id) if is_words else _word_piece(node, known, unk_id)
    return HuggingFaceModel(model, vocab, vocab.vocabulary)


def _byte_pair(node: Node, vocab: Names) -> BytePairModel:
    dropout = node.optional("dropout")
    chance = 0.0 if dropout is None else dropout.value
    if dropout is not None and not (type(chance) in (int, float) and 0 <= chance <= 1):
        dropout.fail("a number from 0 to 1")
    characters = _characters(node, vocab)
    unk_token = node.optional("unk_token")
    unk_id = None if unk_token is None else vocab.get(unk_token.string())
    byte_ids = characters.byte_ids
    has_all = byte_ids is not None and all(byte_ids[byte] is not None for byte in BYTES_OF_TEXT)
    return BytePairModel(
        vocab=vocab.vocabulary.without_empty,
        whole_pre_token_first=node.flag("ignore_merges"),
        unk_id=unk_id,
        unknown_stops=unk_token is not None and unk_id is None and not has_all,
        fuse_unk=node.flag("fuse_unk"),
        characters=characters,
        merges=read_merges(node.field("merges"), vocab, len(characters.prefix)),
        dropout=chance,
    )


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
            "byte_fallback with an affix is not supported",
            "use false with an affix, which the reference would spell in bytes too, with offsets"
            " after the end of the text",
        )
    return CharacterSymbols(byte_ids=byte_ids)


def _read_unigram(node: Node) -> HuggingFaceModel:
    """A piece listed twice has its last id and score; the other id is never emitted."""
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
    return HuggingFaceModel(model, names, Vocabulary(pieces, ids))


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


def _word_piece(node: Node, vocab: Vocabulary, unk_id: int | None) -> WordPieceModel:
    prefix = node.field("continuing_subword_prefix").string().encode()
    longest = node.field("max_input_chars_per_word")
    if type(longest.value) is not int or not 0 <= longest.value < _LARGEST:
        longest.fail("an integer that is not negative")
    return WordPieceModel(vocab, unk_id, prefix, longest.value)


def _type(node: Node) -> str:
    """The type or, in files older than that field, the first type whose fields all exist."""
    kind = node.get("type")
    if kind is not None:
        return kind.string()
    vocab = node.field("vocab").value
    if isinstance(vocab, list) or (isinstance(vocab, LongValue) and vocab.is_array):
        return "Unigram"
    fields = node.object()
    if "merges" in fields:
        return "BPE"
    for name in ("WordPiece", "WordLevel"):  # in the order in which the reference tries them
        wanted = _FIELDS[name].split()[1:]
        if fields.keys() >= {*wanted} and fields["unk_token"] is not None:
            return name
    return node.broken(
        f"has no type, and its fields {', '.join(sorted(fields))} match no model",
        "name its type: BPE, Unigram, WordPiece or WordLevel",
    )
