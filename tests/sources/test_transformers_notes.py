"""Notes say where AutoTokenizer gives other ids, and it can be the reference instead."""

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from json_parts import metaspace
from reader_samples import added
from references import reference_for
from transformers_classes import TEXTS, auto, same, settle, write

import tokexport
from tokexport.sources import read

BPE = {"type": "BPE", "vocab": {"[UNK]": 0, "t": 1, "he": 2}, "merges": []}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}


def test_the_reference_can_be_autotokenizer_for_a_tokenizer_json(tmp_path: Path) -> None:
    """Needed because AutoTokenizer rebuilds a LlamaTokenizer, whatever the tokenizer.json says."""
    write(tmp_path, "LlamaTokenizer")
    theirs = auto(tmp_path)
    document = json.loads(theirs.backend_tokenizer.to_str())
    document["normalizer"] = {"type": "Lowercase"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document), "utf-8")
    plain = tokexport.convert(tmp_path, tmp_path / "plain.tkx")
    done = tokexport.convert(tmp_path, tmp_path / "auto.tkx", reference="transformers")
    same(tokexport.load(tmp_path / "auto.tkx"), auto(tmp_path))
    assert done.model.normalizer != plain.model.normalizer
    ids = reference_for(tmp_path, reference="transformers").encode("The cat", special=True)
    assert tokexport.load(tmp_path / "auto.tkx").encode("The cat", allowed_special="all") == ids


BERT_NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}


@pytest.mark.parametrize(
    ("name", "part", "changed"),
    [
        ("LlamaTokenizer", "normalizer", {"type": "Prepend", "prepend": "c"}),
        ("MBartTokenizer", "normalizer", {"type": "Prepend", "prepend": "c"}),
        ("GPT2Tokenizer", "normalizer", {"type": "Lowercase"}),
        ("GPT2Tokenizer", "pre_tokenizer", {"type": "BertPreTokenizer"}),
        ("RobertaTokenizer", "normalizer", {"type": "Lowercase"}),
        ("RobertaTokenizer", "pre_tokenizer", {"type": "BertPreTokenizer"}),
        ("BartTokenizer", "pre_tokenizer", {"type": "BertPreTokenizer"}),
        ("LEDTokenizer", "post_processor", None),
        ("RobertaTokenizer", "post_processor", None),
        ("RobertaTokenizer", "post_processor", BYTE_LEVEL),
        ("T5Tokenizer", "unknown id", 5),
        ("T5Tokenizer", "normalizer", {"type": "Lowercase"}),
        ("T5Tokenizer", "pre_tokenizer", metaspace()),
        ("XLMRobertaTokenizer", "normalizer", {"type": "Lowercase"}),
        ("XLMRobertaTokenizer", "pre_tokenizer", metaspace()),
        ("BertTokenizer", "model", BPE),
        ("DistilBertTokenizer", "model", BPE),
        ("BertTokenizer", "normalizer", {**BERT_NORMALIZER, "lowercase": False}),
        ("DistilBertTokenizer", "normalizer", {**BERT_NORMALIZER, "handle_chinese_chars": False}),
        ("ElectraTokenizer", "normalizer", {**BERT_NORMALIZER, "strip_accents": False}),
        ("LxmertTokenizer", "normalizer", None),
    ],
)
def test_a_note_mentions_a_class_that_rebuilds_parts(
    name: str, part: str, changed: Any, tmp_path: Path
) -> None:
    write(tmp_path, name)
    path = tmp_path / "tokenizer.json"
    path.write_text(auto(tmp_path).backend_tokenizer.to_str(), "utf-8")
    assert not any("AutoTokenizer" in note for note in read(tmp_path).notes)
    document = json.loads(path.read_text("utf-8"))
    is_id = part == "unknown id"
    (document["model"] if is_id else document).update({"unk_id" if is_id else part: changed})
    path.write_text(json.dumps(document), "utf-8")
    theirs, own = auto(tmp_path), tokenizers.Tokenizer.from_file(str(path))
    assert any(theirs(text)["input_ids"] != own.encode(text).ids for text in TEXTS)
    (note,) = [note for note in read(tmp_path).notes if "AutoTokenizer" in note]
    assert f"can build {name}" in note
    assert part.replace("_", "-") in note
    assert "--reference transformers" in note


SOP = {"content": "sop", "lstrip": False, "rstrip": False, "normalized": False, "special": True}
VOCABULARY = {"<unk>": 0, "a": 1, "b": 2, "x": 3}
TEXT = "ab sop b xax x"


SETTINGS = "tokenizer_config.json"
ADDING = [
    (SETTINGS, {"added_tokens_decoder": {"4": SOP}}),
    (SETTINGS, {"added_tokens_decoder": {"1": {**SOP, "content": "a"}}}),
    (SETTINGS, {"added_tokens_decoder": {"3": {"content": "x", "single_word": True}}}),
    (SETTINGS, {"pad_token": "sop"}),
    (SETTINGS, {"image_token": "sop"}),
    (SETTINGS, {"additional_special_tokens": ["sop"]}),
    (SETTINGS, {"extra_special_tokens": {"x_token": "sop"}}),
    ("special_tokens_map.json", {"pad_token": {**SOP, "content": "sop"}}),
    ("added_tokens.json", {"sop": 4}),
]
ADDING_NOTHING = [
    (SETTINGS, {"added_tokens_decoder": {"3": {"content": "x"}}}),
    (SETTINGS, {"unk_token": "<unk>", "pad_token": None, "model_max_length": 5}),
    ("special_tokens_map.json", {"pad_token": {**SOP, "content": "x", "lstrip": True}}),
    ("added_tokens.json", {"x": 3}),
]


@pytest.mark.parametrize(("file", "settings"), [*ADDING, *ADDING_NOTHING])
def test_a_note_counts_the_added_tokens_that_only_the_settings_name(
    file: str, settings: object, tmp_path: Path
) -> None:
    adds = (file, settings) in ADDING
    theirs = theirs_with(tmp_path, file, settings)
    assert (reference_for(tmp_path).encode(TEXT, True) != theirs) == adds
    notes = [note for note in read(tmp_path).notes if "AutoTokenizer" in note]
    assert len(notes) == adds
    if adds:
        start = f"AutoTokenizer takes added tokens from {file} that tokenizer.json"
        assert notes[0].startswith(start)
        assert "(1: " in notes[0]
        assert "--reference transformers" in notes[0]
        tokexport.convert(tmp_path, tmp_path / "auto.tkx", reference="transformers")
        assert tokexport.load(tmp_path / "auto.tkx").encode(TEXT, allowed_special="all") == theirs


def theirs_with(folder: Path, file: str, settings: object) -> Any:
    """The ids of AutoTokenizer for TEXT, with a tokenizer.json that adds <unk> and x, and another
    file.
    """
    source: object = {
        "added_tokens": [added("<unk>", 0, special=True), added("x", 3)],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": VOCABULARY},
    }
    settle(folder, tokenizer_class="PreTrainedTokenizerFast")
    (folder / "tokenizer.json").write_text(json.dumps(source), "utf-8")
    (folder / file).write_text(json.dumps(settings), "utf-8")
    return auto(folder)(TEXT)["input_ids"]
