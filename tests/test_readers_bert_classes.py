"""vocab.txt beside a tokenizer_config.json is read as the class that it names reads it, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, BertWordPieceTokenizer

import tokexport
from tokexport.errors import UnsupportedError
from tokexport.readers import read
from tokexport.references import Mode, reference_for

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "The",
    "cat",
    "##s",
    "##at",
    "s",
    "x",
    "a",
    "##a",
    "<",
    ">",
    "n",
]
PIECES = ["the", "The", " ", "cats", "[MASK]", "[UNK]", "<n>", " <N> ", "<p>", "<x>", "xat", "\u00e1", "\u4e2d", "\n"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def write(folder: Path, words: list[str], **files: Any) -> Path:
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def same(folder: Path, theirs: Any) -> None:
    ours = tokexport.load(tokexport.convert(folder, folder / "bert.bin").target)
    reference = reference_for(folder)

    @settings(max_examples=150)
    @given(TEXTS)
    def check(text: str) -> None:
        ids = theirs.encode(text).ids
        assert ours.encode(text, allowed_special="all", add_special_tokens=True) == ids
        assert reference.encode_batch([text], Mode.TEMPLATE)[0] == ids

    check()


@pytest.mark.parametrize("name", ["BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer", "DPRReaderTokenizer"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_classes_that_are_bert_s_give_its_ids(name: str, lowercase: bool, tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": name, "do_lower_case": lowercase, "never_split": []})
    same(tmp_path, BertWordPieceTokenizer(str(tmp_path / "vocab.txt"), lowercase=lowercase))


def test_tokens_that_the_class_adds_have_their_flags_and_ids(tmp_path: Path) -> None:
    words = [word for word in WORDS if word != "[MASK]"]
    config = {"tokenizer_class": "BertTokenizer", "pad_token": "<p>"}
    write(tmp_path, words, tokenizer_config=config, added_tokens={"<n>": len(words)})
    made = tokenizers.Tokenizer.from_str(BertWordPieceTokenizer(str(tmp_path / "vocab.txt")).to_str())
    document = json.loads(made.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] != "[PAD]"]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
    theirs.add_tokens([AddedToken("<n>")])
    theirs.add_tokens([AddedToken(content, special=True, normalized=False) for content in ("<p>", "[MASK]")])
    same(tmp_path, theirs)
    assert read(tmp_path).special_ids.pad == theirs.token_to_id("<p>") == len(words) + 1


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab"}, 'word_tokenizer_type "mecab"'),
        ({"subword_tokenizer_type": "character"}, 'subword_tokenizer_type "character"'),
        ({"never_split": ["x"]}, r'never_split \["x"\], which tokenizer_config'),
        ({"tokenizer_class": "BertTokenizer", "do_basic_tokenize": False}, "do_basic_tokenize false"),
        ({"tokenizer_class": "RoFormerTokenizerFast"}, 'class "RoFormerTokenizer".*save_pretrained.*BertTokenizer'),
        ({"tokenizer_class": "MPNetTokenizer"}, 'class "MPNetTokenizer"'),
        ({"tokenizer_class": "BertTokenizer", "cls_token": "<s>"}, 'cls_token "<s>" for a vocab.txt is not supported'),
        ({"tokenizer_class": "BertTokenizer", "sep_token": None}, "sep_token null"),
    ],
)
def test_what_is_not_read_as_bert_s_is_refused(config: dict[str, Any], message: str, tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config=config)
    with pytest.raises(UnsupportedError, match=message):
        read(tmp_path)


def test_added_tokens_that_no_class_reads_are_noted(tmp_path: Path) -> None:
    config = {"do_lower_case": True, "added_tokens_decoder": {"17": {"content": "<n>"}}}
    write(tmp_path, WORDS, tokenizer_config=config, added_tokens={"<n>": 17})
    notes = [note for note in read(tmp_path).notes if "is not read" in note]
    assert [note.split(" ")[0] for note in notes] == ["added_tokens_decoder", "added_tokens.json"]
    write(tmp_path, WORDS, tokenizer_config={**config, "tokenizer_class": "BertTokenizer"})
    assert not any("is not read" in note for note in read(tmp_path).notes)


def test_the_note_on_lower_case_counts_the_tokens_with_capitals(tmp_path: Path) -> None:
    write(tmp_path, [*WORDS, "Li", "\u00c9", "[A]"])
    assert any(
        "so it lower-cases" in note and " 3 of its tokens have capitals" in note for note in read(tmp_path).notes
    )
    write(tmp_path, [word for word in WORDS if word != "The"])
    notes = read(tmp_path).notes
    assert any("so it lower-cases" in note for note in notes)
    assert not any("capitals" in note for note in notes)


def test_where_no_class_is_named_it_is_that_of_the_model(tmp_path: Path) -> None:
    settings_of = {"model_max_length": 512, "added_tokens_decoder": {"17": {"content": "<n>", "special": True}}}
    named, other = tmp_path / "named", tmp_path / "other"
    for folder in (named, other):
        folder.mkdir()
    write(named, WORDS, tokenizer_config={**settings_of, "tokenizer_class": "BertTokenizer"})
    write(other, WORDS, tokenizer_config=settings_of, config={"model_type": "bert"})
    assert read(named).added_tokens == read(other).added_tokens
    assert any(token.content == "<n>" for token in read(other).added_tokens)
