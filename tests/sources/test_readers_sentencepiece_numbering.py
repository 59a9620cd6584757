"""What lies beside a SentencePiece model and says that its ids are not those of sentencepiece
becomes a note, and no other file does.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import sentencepiece

import tokexport
from tokexport.sources import read
from tokexport.sources.sentencepiece.numbering import CLASSES

SENTENCES = [
    "the quick brown fox jumps over the lazy dog",
    "another theory of the thesis, there and then",
]


@pytest.fixture(scope="module")
def trained() -> bytes:
    """A small model; its first pieces are <unk>, <s> and </s>."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(SENTENCES * 4),
        model_writer=model,
        vocab_size=60,
        minloglevel=2,
        hard_vocab_limit=False,
    )
    return model.getvalue()


@pytest.fixture
def folder(trained: bytes, tmp_path: Path) -> Path:
    (tmp_path / "source.spm").write_bytes(trained)
    return tmp_path


def pieces(trained: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=trained)
    return [processor.id_to_piece(number) for number in range(processor.get_piece_size())]


def notes(folder: Path, name: str = "source.spm") -> list[str]:
    return [note for note in read(folder / name).notes if "sentencepiece library" in note]


def write_config(folder: Path, value: object) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": value}))


@pytest.mark.parametrize("ending", ["", "Fast"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_counts_in_its_own_way_is_named(name: str, ending: str, folder: Path) -> None:
    write_config(folder, name + ending)
    (note,) = notes(folder)
    assert f"not those of {name}, which tokenizer_config.json names" in note
    assert "give its tokenizer.json, or the directory" in note


@pytest.mark.parametrize(
    "name",
    ["LlamaTokenizer", "T5Tokenizer", "BarthezTokenizer", "PreTrainedTokenizerFast", None, 5],
)
def test_other_classes_are_not(name: object, folder: Path) -> None:
    write_config(folder, name)
    assert notes(folder) == []


@pytest.mark.parametrize(
    "named",
    ["tokenization_x.XTokenizer", ["tokenization_x.XTokenizer", None], "a/b--tokenization_x.X"],
)
def test_python_code_of_a_model_is_named(named: object, folder: Path) -> None:
    config = {"tokenizer_class": "XTokenizer", "auto_map": {"AutoTokenizer": named}}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (note,) = notes(folder)
    assert "tokenization_x.py, which may change a text before, or the ids" in note


@pytest.mark.parametrize(
    "table", [None, [], {}, {"AutoModel": "x.X"}, {"AutoTokenizer": [None, "x.XFast"]}]
)
def test_no_code_is_named_where_there_is_none(table: object, folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": table}))
    assert notes(folder) == []


def test_a_vocabulary_with_other_ids_for_the_same_pieces_is_named(
    folder: Path, trained: bytes
) -> None:
    last = len(pieces(trained)) - 1
    vocab = {piece: number for number, piece in enumerate(["</s>", "<unk>", *pieces(trained)[3:]])}
    (folder / "vocab.json").write_text(json.dumps(vocab))
    (note,) = notes(folder)
    assert (
        f"vocab.json beside it, where {json.dumps(pieces(trained)[last])} is {last - 1} and not"
        f" {last}" in note
    )
    done = tokexport.convert(folder / "source.spm", folder / "it.bin")
    assert note in done.notes
    assert "vocab.json" not in done.model.provenance.sha256


def test_a_dict_txt_of_fairseq_has_four_special_tokens_before_it(
    folder: Path, trained: bytes
) -> None:
    lines = [f"{piece} {1000 - number}" for number, piece in enumerate(pieces(trained)[3:])]
    (folder / "dict.txt").write_text("\n".join(lines), encoding="utf-8")
    last = len(pieces(trained)) - 1
    assert f"is {last + 1} and not {last}" in "".join(notes(folder))


def test_a_vocabulary_with_the_same_ids_or_of_other_words_is_not(
    folder: Path, trained: bytes
) -> None:
    own = pieces(trained)
    for name, text in (
        ("vocab.json", json.dumps({piece: number for number, piece in enumerate(own)})),
        ("vocab.json", json.dumps({"the": 0, "</s>": 1, "<unk>": 5})),
        ("vocab.json", json.dumps([1, 2])),
        ("vocab.json", "{"),
        ("vocab.txt", "\n".join(own)),
        ("vocab.txt", "[PAD]\n[UNK]\nthe\n"),
        ("dict.txt", "the 5\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        assert notes(folder) == [], (name, text)
        (folder / name).unlink()
    (folder / "vocab.txt").write_bytes(b"\xff\n")
    assert notes(folder) == []


def test_the_name_that_fairseq_gives_is_enough_where_nothing_else_tells(folder: Path) -> None:
    (folder / "source.spm").rename(folder / "sentencepiece.bpe.model")
    assert "XLM-RoBERTa" in "".join(notes(folder, "sentencepiece.bpe.model"))
    write_config(folder, "PreTrainedTokenizerFast")
    assert len(notes(folder, "sentencepiece.bpe.model")) == 1
    write_config(folder, "BarthezTokenizer")
    assert notes(folder, "sentencepiece.bpe.model") == []
    write_config(folder, "CamembertTokenizer")
    assert "adds 4" in "".join(notes(folder, "sentencepiece.bpe.model"))
