"""Only files beside a model that say that its ids are not those of sentencepiece cause a note."""

import json
from pathlib import Path

import pytest
from sentencepiece_training import train

from tokexport.errors import UnsupportedError
from tokexport.sources import read

FAIRSEQ = "sentencepiece.bpe.model"


@pytest.fixture(scope="module")
def trained() -> bytes:
    return train(model_type="bpe", normalization_rule_name="identity")


def notes(trained: bytes, folder: Path, named: object = None, name: str = "source.spm") -> str:
    (folder / name).write_bytes(trained)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": named}))
    return " ".join(read(folder / name).notes)


@pytest.mark.parametrize("ending", ["", "Fast"])
@pytest.mark.parametrize(
    "name",
    [
        *("XLMRobertaTokenizer", "MBart50Tokenizer", "NllbTokenizer", "AlbertTokenizer"),
        *("InternLM2Tokenizer", "TELECHATTokenizer", "KoBertTokenizer", "ErnieMTokenizer"),
    ],
)
def test_a_note_names_a_class_that_may_have_other_ids(
    name: str, ending: str, trained: bytes, tmp_path: Path
) -> None:
    sentence = f"the class {name}, which tokenizer_config.json names, may have others"
    assert sentence in notes(trained, tmp_path, name + ending)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"model_type": "marian"}, "the model type marian, which config.json names, may"),
        ({"model_type": "xlm-roberta"}, "the model type xlm-roberta, which config.json names"),
        ({"tokenizer_class": "NllbTokenizer"}, "NllbTokenizer, which config.json names, may"),
        ({"model_type": "t5"}, ""),
        ({"model_type": "marian", "tokenizer_class": "T5Tokenizer"}, ""),
        ({"model_type": 5, "tokenizer_class": 5}, ""),
    ],
)
def test_a_note_names_the_class_of_the_config_json(
    config: object, named: str, trained: bytes, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = notes(trained, tmp_path)
    assert named in found
    assert bool(named) == bool(found)
    assert notes(trained, tmp_path, "LlamaTokenizer") == ""


@pytest.mark.parametrize(
    "name",
    ["LlamaTokenizer", "T5Tokenizer", "BarthezTokenizer", "PreTrainedTokenizerFast", None, 5],
)
def test_other_classes_cause_no_note(name: object, trained: bytes, tmp_path: Path) -> None:
    assert notes(trained, tmp_path, name) == ""


@pytest.mark.parametrize("named", ["LlamaTokenizer", "OwnTokenizer", None])
@pytest.mark.parametrize(
    "code", ["own.OwnTokenizer", ["own.OwnTokenizer", None], [None, "own.OwnTokenizer"]]
)
def test_a_note_says_that_code_of_a_repository_is_not_run(
    named: str | None, code: object, trained: bytes, tmp_path: Path
) -> None:
    config = {"tokenizer_class": named, "auto_map": {"AutoTokenizer": code}}
    (tmp_path / "tokenizer.model").write_bytes(trained)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (note,) = read(tmp_path / "tokenizer.model").notes
    assert f"{named or 'OwnTokenizer'}, which tokenizer_config.json names, is code of the" in note
    (note,) = [note for note in read(tmp_path).notes if "which is not run" in note]
    assert "tokenizer_config.json names" in note


@pytest.mark.parametrize("name", [None, "LlamaTokenizer"])
def test_a_note_says_which_added_tokens_are_not_read(
    name: str | None, trained: bytes, tmp_path: Path
) -> None:
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "<s>", "eos_token": "</s>"}')
    assert notes(trained, tmp_path, name) == ""
    (tmp_path / "added_tokens.json").write_text('{"<x>": 8000}')
    assert 'added_tokens.json that are not special pieces of source.spm (1: "<x>")' in notes(
        trained, tmp_path, name
    )


def test_a_model_is_read_as_one_whatever_its_name(trained: bytes, tmp_path: Path) -> None:
    """As in Kolors, whose vocab.txt is ChatGLM3's model."""
    assert "ChatGLMTokenizer" in notes(trained, tmp_path, "ChatGLMTokenizer", "vocab.txt")
    assert read(tmp_path).provenance.source == "sentencepiece"


def test_a_directory_of_chatglm_is_refused_but_not_its_model(
    trained: bytes, tmp_path: Path
) -> None:
    assert "ChatGLMTokenizer" in notes(trained, tmp_path, "ChatGLMTokenizer", "ice_text.model")
    with pytest.raises(UnsupportedError, match=r"ChatGLMTokenizer .* adds num_image_tokens"):
        read(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    assert read(tmp_path).notes == ()


def test_without_a_class_the_file_name_of_fairseq_is_sufficient(
    trained: bytes, tmp_path: Path
) -> None:
    assert "XLM-RoBERTa" in notes(trained, tmp_path, name=FAIRSEQ)
    assert notes(trained, tmp_path, "BarthezTokenizer", FAIRSEQ) == ""
