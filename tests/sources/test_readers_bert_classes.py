"""vocab.txt beside a tokenizer_config.json is read as the class that it names reads it, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import SLOW
from tokenizers import (
    AddedToken,
    BertWordPieceTokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
)

import tokexport
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read
from tokexport.sources.references import Mode, reference_for
from tokexport.sources.vocab_files.wordpiece import parse_vocabulary

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
PIECES = [
    "the",
    "The",
    " ",
    "cats",
    "[MASK]",
    "[UNK]",
    "<n>",
    " <N> ",
    "<p>",
    "<x>",
    "xat",
    "\u00e1",
    "\u4e2d",
    "\n",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def write(folder: Path, words: list[str], **files: Any) -> Path:
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def same(folder: Path, theirs: Any) -> None:
    ours = tokexport.load(tokexport.convert(folder, folder / "bert.bin").target)
    reference = reference_for(folder)

    @settings(max_examples=150 if SLOW else 60)
    @given(TEXTS)
    def check(text: str) -> None:
        ids = theirs.encode(text).ids
        assert ours.encode(text, allowed_special="all", add_special_tokens=True) == ids
        assert reference.encode_batch([text], Mode.TEMPLATE)[0] == ids
        two = theirs.encode(text, "the cats")
        assert (
            ours.encode_pair(text, "the cats", allowed_special="all", add_special_tokens=True)
            == two.ids
        )

    check()


@pytest.mark.parametrize(
    "name", ["BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer", "DPRReaderTokenizer"]
)
@pytest.mark.parametrize("lowercase", [False, True])
def test_classes_that_are_bert_s_give_its_ids(name: str, lowercase: bool, tmp_path: Path) -> None:
    write(
        tmp_path,
        WORDS,
        tokenizer_config={"tokenizer_class": name, "do_lower_case": lowercase, "never_split": []},
    )
    same(tmp_path, BertWordPieceTokenizer(str(tmp_path / "vocab.txt"), lowercase=lowercase))


def test_tokens_that_the_class_adds_have_their_flags_and_ids(tmp_path: Path) -> None:
    words = [word for word in WORDS if word != "[MASK]"]
    config = {"tokenizer_class": "BertTokenizer", "pad_token": "<p>"}
    write(tmp_path, words, tokenizer_config=config, added_tokens={"<n>": len(words)})
    made = tokenizers.Tokenizer.from_str(
        BertWordPieceTokenizer(str(tmp_path / "vocab.txt")).to_str()
    )
    document = json.loads(made.to_str())
    document["added_tokens"] = [
        token for token in document["added_tokens"] if token["content"] != "[PAD]"
    ]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
    theirs.add_tokens([AddedToken("<n>")])
    theirs.add_tokens(
        [AddedToken(content, special=True, normalized=False) for content in ("<p>", "[MASK]")]
    )
    same(tmp_path, theirs)
    assert read(tmp_path).special_ids.pad == theirs.token_to_id("<p>") == len(words) + 1


def wordpiece(words: list[str], unknown: str, lowercase: bool = True) -> tokenizers.Tokenizer:
    vocab = {word: number for number, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab, unk_token=unknown))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return made


def template(made: tokenizers.Tokenizer, single: str, pair: str) -> None:
    contents = {piece.split(":")[0] for piece in f"{single} {pair}".split() if "$" not in piece}
    made.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(content, made.token_to_id(content)) for content in contents],
    )


def special(content: str, **flags: bool) -> AddedToken:
    return AddedToken(content, special=True, normalized=False, **flags)


def test_mpnet_has_roberta_s_special_tokens_and_two_of_them_between_two_texts(
    tmp_path: Path,
) -> None:
    words = [
        "<s>",
        "<pad>",
        "</s>",
        "<mask>",
        *(word for word in WORDS if word[0] != "[" or word == "[UNK]"),
    ]
    write(
        tmp_path,
        words,
        tokenizer_config={"tokenizer_class": "MPNetTokenizer", "never_split": ["cat"]},
    )
    theirs = wordpiece(words, "[UNK]")
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", "[UNK]", "<pad>")])
    theirs.add_tokens([special("<mask>", lstrip=True)])
    template(theirs, "<s> $A </s>", "<s> $A </s> </s> $B:1 </s>:1")
    same(tmp_path, theirs)


def test_funnel_has_special_tokens_of_its_own(tmp_path: Path) -> None:
    names = ["<cls>", "<sep>", "<unk>", "<pad>", "<mask>"]
    words = [*names, *(word for word in WORDS if word[0] != "[")]
    write(
        tmp_path,
        words,
        tokenizer_config={"tokenizer_class": "FunnelTokenizerFast", "do_lower_case": False},
    )
    theirs = wordpiece(words, "<unk>", lowercase=False)
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", *names)])
    template(theirs, "<cls>:2 $A <sep>", "<cls>:2 $A <sep> $B:1 <sep>:1")
    same(tmp_path, theirs)


@pytest.mark.parametrize(
    ("side", "pair"),
    [
        ({}, "[CLS] $A [QUESTION] . [SEP] $B:1 [SEP]:1"),
        ({"padding_side": "left"}, "[CLS] $A [SEP] $B:1 [QUESTION] . [SEP]:1"),
    ],
)
def test_splinter_puts_its_question_token_behind_the_question(
    side: dict[str, str], pair: str, tmp_path: Path
) -> None:
    words = [*WORDS, "[QUESTION]", "."]
    write(tmp_path, words, tokenizer_config={"tokenizer_class": "SplinterTokenizer", **side})
    theirs = wordpiece(words, "[UNK]")
    theirs.add_tokens([special(word) for word in words if word[0] == "["])
    template(theirs, "[CLS] $A [SEP]", pair)
    same(tmp_path, theirs)


def test_splinter_without_a_full_stop_puts_an_unknown_token_behind_the_question(
    tmp_path: Path,
) -> None:
    words = [*WORDS, "[QUESTION]"]
    write(tmp_path, words, tokenizer_config={"tokenizer_class": "SplinterTokenizer"})
    theirs = wordpiece(words, "[UNK]")
    theirs.add_tokens([special(word) for word in words if word[0] == "["])
    template(theirs, "[CLS] $A [SEP]", "[CLS] $A [QUESTION] [UNK] [SEP] $B:1 [SEP]:1")
    same(tmp_path, theirs)


@pytest.mark.parametrize("name", ["BertTokenizer", "LayoutLMv2Tokenizer"])
def test_special_tokens_may_have_other_names_than_bert_s(name: str, tmp_path: Path) -> None:
    config = {"tokenizer_class": name, "cls_token": "<s>", "sep_token": "</s>", "unk_token": "x"}
    write(tmp_path, WORDS, tokenizer_config=config)
    theirs = wordpiece(WORDS, "x")
    theirs.add_tokens([special(content) for content in ("x", "</s>", "[PAD]", "<s>", "[MASK]")])
    template(theirs, "<s> $A </s>", "<s> $A </s> $B:1 </s>:1")
    same(tmp_path, theirs)


def test_a_vocabulary_of_a_class_is_read_as_python_reads_lines(tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "BertTokenizer"})
    (tmp_path / "vocab.txt").write_bytes("\r\n".join([*WORDS, "q\rz", "the ", "p"]).encode())
    vocab = parse_vocabulary((tmp_path / "vocab.txt").read_bytes(), "vocab.txt", python=True)
    assert list(vocab)[len(WORDS) :] == ["q", "z", "the ", "p"]
    assert tokexport.load(tokexport.convert(tmp_path, tmp_path / "b.bin").target).encode(
        "the p"
    ) == [WORDS.index("the"), len(WORDS) + 3]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab"},
            'word_tokenizer_type "mecab"',
        ),
        ({"subword_tokenizer_type": "character"}, 'subword_tokenizer_type "character"'),
        ({"never_split": ["x"]}, r'never_split \["x"\], which tokenizer_config'),
        ({"do_basic_tokenize": False}, "do_basic_tokenize false"),
        (
            {"tokenizer_class": "MPNetTokenizer", "do_basic_tokenize": False},
            "do_basic_tokenize false",
        ),
        (
            {"tokenizer_class": "RoFormerTokenizerFast"},
            'class "RoFormerTokenizer".*Python only .jieba.*BertTokenizer',
        ),
        ({"tokenizer_class": "NewTokenizer"}, 'class "NewTokenizer".*save_pretrained'),
        ({"tokenizer_class": "SplinterTokenizer"}, r'a vocabulary without "\[QUESTION\]"'),
        ({"tokenizer_class": "SplinterTokenizer", "question_token": "x"}, 'question_token: "x"'),
        (
            {"tokenizer_class": "SplinterTokenizer", "additional_special_tokens": ["x"]},
            "additional_special_tokens",
        ),
    ],
)
def test_what_is_not_read_as_bert_s_is_refused(
    config: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write(tmp_path, WORDS, tokenizer_config=config)
    with pytest.raises(UnsupportedError, match=message):
        read(tmp_path)


def test_a_class_without_a_token_that_it_puts_around_a_text_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "BertTokenizer", "sep_token": None})
    with pytest.raises(SourceError, match="sep_token is null"):
        read(tmp_path)


@pytest.mark.parametrize("setting", [{"do_basic_tokenize": False}, {"never_split": ["cat", "x"]}])
def test_settings_that_the_class_does_not_heed_change_nothing(
    setting: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "BertTokenizer", **setting})
    same(tmp_path, BertWordPieceTokenizer(str(tmp_path / "vocab.txt")))


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
        "so it lower-cases" in note and " 3 of its tokens have capitals" in note
        for note in read(tmp_path).notes
    )
    write(tmp_path, [word for word in WORDS if word != "The"])
    notes = read(tmp_path).notes
    assert any("so it lower-cases" in note for note in notes)
    assert not any("capitals" in note for note in notes)


def test_where_no_class_is_named_it_is_that_of_the_model(tmp_path: Path) -> None:
    settings_of = {
        "model_max_length": 512,
        "added_tokens_decoder": {"17": {"content": "<n>", "special": True}},
    }
    named, other = tmp_path / "named", tmp_path / "other"
    for folder in (named, other):
        folder.mkdir()
    write(named, WORDS, tokenizer_config={**settings_of, "tokenizer_class": "BertTokenizer"})
    write(other, WORDS, tokenizer_config=settings_of, config={"model_type": "bert"})
    assert read(named).added_tokens == read(other).added_tokens
    assert any(token.content == "<n>" for token in read(other).added_tokens)


def test_the_type_of_a_model_names_a_vocabulary_without_bert_s_unknown_token(
    tmp_path: Path,
) -> None:
    words = ["<cls>", "<sep>", "<unk>", "the"]
    write(tmp_path, words, config={"model_type": "funnel"})
    model = read(tmp_path)
    assert [token.content for token in model.added_tokens][:3] == ["<cls>", "<sep>", "<unk>"]
    reference = reference_for(tmp_path)
    assert reference.encode_batch(["The <unk>"], Mode.TEMPLATE)[0] == [0, 3, 2, 1]


def test_a_token_that_is_listed_and_given_with_another_normalized_is_refused(
    tmp_path: Path,
) -> None:
    given_again = {"content": "<n>", "normalized": False}
    write(
        tmp_path,
        WORDS,
        tokenizer_config={
            "tokenizer_class": "BertTokenizer",
            "added_tokens_decoder": {"17": {"content": "<n>", "normalized": True}},
            "additional_special_tokens": [given_again],
        },
    )
    with pytest.raises(
        UnsupportedError, match='"<n>", listed with normalized true and given with false'
    ):
        read(tmp_path)
    config = {"tokenizer_class": "BertTokenizer", "additional_special_tokens": [given_again]}
    write(tmp_path, WORDS, tokenizer_config=config, added_tokens={"<n>": 17})
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({**config, "additional_special_tokens": [{**given_again, "normalized": True}]})
    )
    with pytest.raises(UnsupportedError, match=r'added_tokens.json: "<n>", listed'):
        read(tmp_path)
