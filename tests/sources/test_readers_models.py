"""Every type of model of a tokenizer.json is read as by the reference, or refused."""

from pathlib import Path
from typing import Any

import pytest
from compared import Compared
from json_parts import FUSE, Json, word_piece
from parts.cases import document as whole
from reader_samples import added, read_document, reference

from tokexport.errors import SourceError
from tokexport.model import UnigramModel, WordLevelModel, WordPieceModel

UNIGRAM: Json = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5], ["b", -2]]}
WORD_PIECE = word_piece({"[UNK]": 0, "a": 1, "##b": 2})
WORD_LEVEL: Json = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1}}


def document(model: Json, **fields: Any) -> Json:
    return whole(model, decoder=FUSE, **fields)


def without(model: Json, *names: str) -> Json:
    return {name: value for name, value in model.items() if name not in names}


@pytest.mark.parametrize(
    ("model", "kind"),
    [(UNIGRAM, UnigramModel), (WORD_PIECE, WordPieceModel), (WORD_LEVEL, WordLevelModel)],
)
def test_the_type_of_a_model_follows_from_its_fields(
    model: Json, kind: type[Any], tmp_path: Path
) -> None:
    for fields in (model, without(model, "type")):
        assert type(read_document(document(fields), tmp_path).model) is kind
        readers = Compared(document(fields), tmp_path)
        assert all(map(readers.check, ["a", "ab", "b", "c", "abba", "\u00e9"]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (UNIGRAM | {"unk_id": 3}, "model.unk_id is 3"),
        (UNIGRAM | {"vocab": []}, "model.unk_id is 0"),
        (UNIGRAM | {"unk_id": -1}, "model.unk_id"),
        (UNIGRAM | {"vocab": [["a", "0"]]}, r"model.vocab\[0\]"),
        (UNIGRAM | {"vocab": [["a", 0.0, 1]]}, r"model.vocab\[0\]"),
        (UNIGRAM | {"vocab": {"a": 0}}, "model.vocab"),
        (UNIGRAM | {"vocab": [["a", True]]}, r"model.vocab\[0\]"),
        (WORD_PIECE | {"max_input_chars_per_word": -1}, "max_input_chars_per_word"),
        (WORD_PIECE | {"max_input_chars_per_word": 1.5}, "max_input_chars_per_word"),
        (WORD_PIECE | {"unk_token": None}, "model.unk_token"),
        (without(WORD_PIECE, "type", "unk_token"), "match no model"),
        (without(WORD_PIECE, "continuing_subword_prefix"), "continuing_subword_prefix"),
        (without(WORD_LEVEL, "unk_token"), "unk_token"),
        (WORD_LEVEL | {"vocab": [["a", 0]]}, "model.vocab"),
    ],
)
def test_models_that_the_reference_refuses_are_refused(
    model: Json, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=message):
        read_document(document(model), tmp_path)
    with pytest.raises(Exception):  # noqa: B017, PT011  (the library raises bare Exception)
        reference(document(model))


def test_the_last_duplicate_of_a_piece_counts_and_added_tokens_follow_both(tmp_path: Path) -> None:
    texts = ("<unk>", "ab", "a", "b", "ab", "a", "<unk>")
    vocab = [*map(list, zip(texts, (0.0, -9.0, -1.0, -1.0, -1.5, -3.0, -1.0), strict=True))]
    source = document(UNIGRAM | {"vocab": vocab}, added_tokens=[added("<s>", 7, special=True)])
    model = read_document(source, tmp_path)
    assert len(model.tokens) == 8
    assert model.added_tokens[0].id == 7
    readers = Compared(source, tmp_path)
    assert all(map(readers.check, ["ab", "a", "b", "<s>", "x<unk>x", "<unk>", "abab<s>"]))
    for token in range(8):
        assert readers.runtime.decode([token]) == readers.reference.decode([token], False)


def test_the_unknown_score_is_below_all_scores_even_of_unreachable_pieces(tmp_path: Path) -> None:
    vocab = [["<unk>", 0.0], ["ab", -50.0], ["a", -1.0], ["ab", -61.0], ["", -300.0]]
    source = document(UNIGRAM | {"vocab": vocab})
    model = read_document(source, tmp_path)
    assert isinstance(model.model, UnigramModel)
    assert model.model.unk_score == -310.0
    assert all(map(Compared(source, tmp_path).check, ["ab", "abb", "ba"]))
