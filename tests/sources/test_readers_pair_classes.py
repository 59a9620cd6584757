"""vocab.json with merges.txt beside a tokenizer_config.json is read as the class that it names
reads it, or refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pair_samples
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTES
from repository import SLOW
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers, processors

import tokexport
from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read

MERGES = [("a", "b"), ("ab", "c")]
WORDS = {**BYTES, "ab": 256, "abc": 257}
ROBERTA = {**WORDS, "<s>": 258, "<pad>": 259, "</s>": 260, "<unk>": 261, "<mask>": 262}
PIECES = [
    "ab",
    "abc",
    " ",
    "\n",
    "IT'S",
    "it's",
    "12",
    "\u00e9",
    "e\u0301",
    "\u4e2d",
    "<s>",
    " <mask> ",
    "<mask>",
]
PIECES += ["<|endoftext|>", "<n>", " <n> ", "<p>", "[PAD]", "<x>", "\U0001f600"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def write(folder: Path, vocab: dict[str, int], **files: Any) -> Path:
    return pair_samples.write(folder, vocab, MERGES, **files)


def byte_pair(vocab: dict[str, int], *, spaced: bool = False) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=MERGES))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    made.decoder = tokenizers.decoders.ByteLevel()
    return made


def special(content: str, **flags: bool) -> AddedToken:
    return AddedToken(content, special=True, **{"normalized": False, **flags})


def same(folder: Path, theirs: tokenizers.Tokenizer) -> None:
    pair_samples.check_same(folder, folder / "pair.bin", theirs, TEXTS, "ab 1", 80)


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "GPT2TokenizerFast", "CodeGenTokenizer"])
@pytest.mark.parametrize("spaced", [False, True])
def test_gpt2_adds_its_end_token_and_the_space_that_its_config_asks_for(
    name: str, spaced: bool, tmp_path: Path
) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": name, "add_prefix_space": spaced})
    theirs = byte_pair(WORDS, spaced=spaced)
    theirs.add_tokens([special("<|endoftext|>")])
    same(tmp_path, theirs)
    assert not any("GPT-2's pattern" in note for note in read(tmp_path).notes)


@pytest.mark.parametrize(
    "model",
    [
        {"model_type": "gpt2"},
        {"model_type": "opt"},
        {"model_type": "other", "tokenizer_class": "GPT2TokenizerFast"},
    ],
)
@pytest.mark.parametrize("config", [{"tokenizer_config": {"model_max_length": 512}}, {}])
def test_where_no_class_is_named_it_is_that_of_the_model(
    model: dict[str, str], config: dict[str, Any], tmp_path: Path
) -> None:
    write(tmp_path, WORDS, config=model, **config)
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special("<|endoftext|>")])
    same(tmp_path, theirs)


@pytest.mark.parametrize(
    ("settings_of", "prefix"),
    [
        ({}, "<|startoftranscript|> <|notimestamps|>"),
        (
            {"language": None, "task": None, "predict_timestamps": False},
            "<|startoftranscript|> <|notimestamps|>",
        ),
        ({"language": "Chinese"}, "<|startoftranscript|> <|zh|> <|notimestamps|>"),
        (
            {"language": "zh", "task": "translate"},
            "<|startoftranscript|> <|zh|> <|translate|> <|notimestamps|>",
        ),
        ({"language": "mandarin", "predict_timestamps": True}, "<|startoftranscript|> <|zh|>"),
        (
            {"task": "transcribe", "predict_timestamps": True},
            "<|startoftranscript|> <|transcribe|>",
        ),
    ],
)
def test_whisper_puts_the_start_of_a_transcript_before_a_text_and_its_end_behind(
    settings_of: dict[str, Any], prefix: str, tmp_path: Path
) -> None:
    around = (
        "<|endoftext|>",
        "<|startoftranscript|>",
        "<|en|>",
        "<|zh|>",
        "<|translate|>",
        "<|transcribe|>",
    )
    around += ("<|notimestamps|>",)
    added = {
        str(258 + number): {"content": content, "special": True}
        for number, content in enumerate(around)
    }
    write(
        tmp_path,
        WORDS,
        tokenizer_config={
            "tokenizer_class": "WhisperTokenizer",
            "added_tokens_decoder": added,
            **settings_of,
        },
    )
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special(content) for content in around])
    theirs.post_processor = processors.TemplateProcessing(
        single=f"{prefix} $A <|endoftext|>",
        pair=f"{prefix} $A $B:1 <|endoftext|>:1",
        special_tokens=[(content, 258 + number) for number, content in enumerate(around)],
    )
    same(tmp_path, theirs)


@pytest.mark.parametrize(
    ("settings_of", "message"),
    [
        ({"language": "klingon"}, 'language is "klingon", which is no language of Whisper'),
        ({"language": "su"}, "the id [0-9]+ before a text in"),
        ({"task": "sing"}, 'task is "sing"'),
        ({"task": "translate"}, "translate.* and there is no such added token"),
        ({"predict_timestamps": "no"}, "predict_timestamps is"),
    ],
)
def test_what_whisper_cannot_put_before_a_text_is_an_error(
    settings_of: dict[str, Any], message: str, tmp_path: Path
) -> None:
    around = ("<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>")
    added = {
        str(258 + number): {"content": content, "special": True}
        for number, content in enumerate(around)
    }
    config = {"tokenizer_class": "WhisperTokenizer", "added_tokens_decoder": added}
    write(tmp_path, WORDS, tokenizer_config={**config, **settings_of})
    with pytest.raises(SourceError, match=message):
        read(tmp_path)


def test_whisper_without_its_start_tokens_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "WhisperTokenizer"})
    with pytest.raises(SourceError, match="startoftranscript"):
        read(tmp_path)


def test_a_model_of_an_unknown_type_names_no_class(tmp_path: Path) -> None:
    write(tmp_path, WORDS, config={"model_type": "other"})
    assert any("GPT-2's pattern" in note for note in read(tmp_path).notes)


def test_gpt2_puts_its_bos_token_before_a_text_where_its_config_says_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        WORDS,
        tokenizer_config={
            "tokenizer_class": "GPT2Tokenizer",
            "add_bos_token": True,
            "bos_token": "<s>",
        },
    )
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special("<s>"), special("<|endoftext|>")])
    theirs.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B:1", special_tokens=[("<s>", 258)]
    )
    same(tmp_path, theirs)


def test_qwen2_normalizes_and_has_a_pattern_of_its_own(tmp_path: Path) -> None:
    config = {
        "tokenizer_class": "Qwen2Tokenizer",
        "pad_token": "<p>",
        "added_tokens_decoder": {
            "259": {"content": "<n>", "lstrip": True, "rstrip": True, "special": False},
            "258": {"content": "<|endoftext|>", "normalized": False, "special": True},
        },
    }
    write(tmp_path, WORDS, tokenizer_config=config)
    theirs = byte_pair(WORDS)
    theirs.normalizer = normalizers.NFC()
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(False, use_regex=False),
        ]
    )
    theirs.add_tokens(
        [special("<|endoftext|>"), AddedToken("<n>", lstrip=True, rstrip=True), special("<p>")]
    )
    same(tmp_path, theirs)


@pytest.mark.parametrize(
    "name",
    ["RobertaTokenizer", "LongformerTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer"],
)
@pytest.mark.parametrize("vocab", [ROBERTA, WORDS], ids=["whole", "without its special tokens"])
def test_roberta_s_kind_puts_tokens_around_a_text_and_its_mask_takes_a_space(
    name: str, vocab: dict[str, int], tmp_path: Path
) -> None:
    write(tmp_path, vocab, tokenizer_config={"tokenizer_class": name, "add_prefix_space": True})
    theirs = byte_pair(vocab, spaced=True)
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", "<unk>", "<pad>")])
    theirs.add_tokens([special("<mask>", lstrip=True)])
    ends = [(content, theirs.token_to_id(content)) for content in ("</s>", "<s>")]
    theirs.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=True)
    same(tmp_path, theirs)


def test_layoutlmv3_is_roberta_s_kind_with_a_space_before_a_text(tmp_path: Path) -> None:
    write(tmp_path, ROBERTA, tokenizer_config={"tokenizer_class": "LayoutLMv3Tokenizer"})
    theirs = byte_pair(ROBERTA, spaced=True)
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", "<unk>", "<pad>")])
    theirs.add_tokens([special("<mask>", lstrip=True)])
    theirs.post_processor = processors.RobertaProcessing(
        ("</s>", 260), ("<s>", 258), add_prefix_space=True
    )
    same(tmp_path, theirs)


def test_markuplm_separates_two_texts_by_one_token_and_has_an_unknown_byte(tmp_path: Path) -> None:
    vocab = {token: number for token, number in ROBERTA.items() if token != "a"}
    vocab = {
        token: number
        for number, token in enumerate(token for token in vocab if token not in ("ab", "abc"))
    }
    write(tmp_path, vocab, tokenizer_config={"tokenizer_class": "MarkupLMTokenizer"})
    (tmp_path / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[], unk_token="<unk>"))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", "<unk>", "<pad>")])
    theirs.add_tokens([special("<mask>", lstrip=True)])
    theirs.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B </s>",
        special_tokens=[(content, vocab[content]) for content in ("<s>", "</s>")],
    )
    same(tmp_path, theirs)


def test_blenderbot_puts_its_end_behind_one_text_and_nothing_around_two(tmp_path: Path) -> None:
    write(
        tmp_path,
        ROBERTA,
        tokenizer_config={"tokenizer_class": "BlenderbotTokenizer", "add_prefix_space": True},
    )
    theirs = byte_pair(ROBERTA, spaced=True)
    theirs.add_tokens([special(content) for content in ("<s>", "</s>", "<unk>", "<pad>")])
    theirs.add_tokens([special("<mask>", lstrip=True)])
    theirs.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 260)]
    )
    same(tmp_path, theirs)


def test_deberta_is_gpt2_s_kind_with_bert_s_special_tokens(tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "DebertaTokenizer"})
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special(content) for content in ("[CLS]", "[SEP]", "[UNK]", "[PAD]")])
    theirs.add_tokens([special("[MASK]", lstrip=True)])
    theirs.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 258), ("[SEP]", 259)],
    )
    same(tmp_path, theirs)


def test_a_special_tokens_map_goes_before_the_config_and_added_tokens_json_before_both(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        WORDS,
        tokenizer_config={
            "tokenizer_class": "GPT2Tokenizer",
            "pad_token": "<q>",
            "eos_token": "",
            "unk_token": None,
        },
        special_tokens_map={
            "pad_token": {"content": "<p>", "lstrip": True, "normalized": False},
            "additional_special_tokens": ["<x>", {"content": "ab", "rstrip": True}],
        },
        added_tokens={"[PAD]": 259, "<n>": 258},
    )
    theirs = byte_pair(WORDS)
    theirs.add_tokens(
        [
            AddedToken("<n>"),
            AddedToken("[PAD]"),
            special("<|endoftext|>"),
            special("<p>", lstrip=True),
        ]
    )
    theirs.add_tokens([special("<x>"), special("ab", rstrip=True)])
    same(tmp_path, theirs)


def test_with_an_added_tokens_decoder_the_other_files_are_not_asked(tmp_path: Path) -> None:
    write(
        tmp_path,
        WORDS,
        tokenizer_config={
            "tokenizer_class": "GPT2Tokenizer",
            "added_tokens_decoder": {},
            "unk_token": "<x>",
        },
        special_tokens_map={"pad_token": "<p>", "unk_token": "<s>"},
        added_tokens={"<n>": 258},
    )
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special("<|endoftext|>"), special("<x>")])
    same(tmp_path, theirs)


LISTED = {
    "content": "<mask>",
    "lstrip": False,
    "rstrip": True,
    "normalized": False,
    "special": True,
}


@pytest.mark.parametrize(
    ("config", "files", "flags"),
    [
        ({}, {"added_tokens": {"<mask>": 258}}, {"lstrip": True}),
        ({"mask_token": "<mask>"}, {"added_tokens": {"<mask>": 258}}, {"lstrip": True}),
        (
            {},
            {
                "added_tokens": {"<mask>": 258},
                "special_tokens_map": {"mask_token": {**LISTED, "lstrip": True}},
            },
            {"lstrip": True, "rstrip": True},
        ),
        ({"added_tokens_decoder": {"258": LISTED}}, {}, {"lstrip": True}),
        ({"added_tokens_decoder": {"258": LISTED}, "mask_token": "<mask>"}, {}, {"rstrip": True}),
        (
            {
                "added_tokens_decoder": {"258": LISTED},
                "mask_token": {**LISTED, "lstrip": True, "rstrip": False},
            },
            {},
            {"rstrip": True},
        ),
    ],
)
def test_a_listed_mask_token_takes_a_space_unless_its_decoder_and_its_role_say_otherwise(
    config: dict[str, Any], files: dict[str, Any], flags: dict[str, bool], tmp_path: Path
) -> None:
    write(
        tmp_path, WORDS, tokenizer_config={"tokenizer_class": "RobertaTokenizer", **config}, **files
    )
    mask = next(token for token in read(tmp_path).added_tokens if token.content == "<mask>")
    assert {
        flag: True for flag in ("lstrip", "rstrip", "normalized") if getattr(mask, flag)
    } == flags
    assert mask.id == 258


@pytest.mark.parametrize("decoder", [False, True])
def test_a_token_without_a_role_has_the_flags_that_are_given_with_it(
    decoder: bool, tmp_path: Path
) -> None:
    listed = {"added_tokens_decoder": {"258": {"content": "<n>"}}} if decoder else {}
    config = {
        "additional_special_tokens": [
            {"content": "<n>", "rstrip": True, "normalized": False},
            "<x>",
        ],
        **listed,
    }
    write(
        tmp_path,
        WORDS,
        tokenizer_config={"tokenizer_class": "GPT2Tokenizer", **config},
        added_tokens={"<n>": 258},
    )
    theirs = byte_pair(WORDS)
    theirs.add_tokens([special("<n>", rstrip=True), special("<|endoftext|>"), special("<x>")])
    same(tmp_path, theirs)


def test_ids_that_the_library_does_not_give_are_noted(tmp_path: Path) -> None:
    table = {"300": {"content": "<n>"}}
    write(
        tmp_path,
        WORDS,
        tokenizer_config={"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": table},
    )
    model = read(tmp_path)
    assert {token.content: token.id for token in model.added_tokens} == {
        "<n>": 258,
        "<|endoftext|>": 259,
    }
    assert any('declares the id 300 for "<n>"' in note for note in model.notes)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (
            {"tokenizer_class": "PhiTokenizerFast"},
            UnsupportedError,
            'class "PhiTokenizer", .*save_pretrained.*Qwen2Tok',
        ),
        (
            {"tokenizer_class": "PreTrainedTokenizerFast"},
            UnsupportedError,
            'class "PreTrainedTokenizer"',
        ),
        (
            {"tokenizer_class": "CLIPTokenizer"},
            UnsupportedError,
            'class "CLIPTokenizer" that lacks',
        ),
        (
            {"tokenizer_class": "Qwen2Tokenizer", "add_bos_token": True},
            UnsupportedError,
            "add_bos_token for Qwen2",
        ),
        (
            {"tokenizer_class": "GPT2Tokenizer", "add_eos_token": True},
            UnsupportedError,
            "add_eos_token for GPT2",
        ),
        (
            {"tokenizer_class": "BlenderbotTokenizer"},
            UnsupportedError,
            "BlenderbotTokenizer without add_prefix_space",
        ),
        (
            {"tokenizer_class": "DebertaTokenizer", "cls_token": "<s>"},
            UnsupportedError,
            'cls_token "<s>" for Deberta',
        ),
        (
            {"tokenizer_class": "BioGptTokenizer"},
            UnsupportedError,
            "in Python only .sacremoses cuts its words",
        ),
        (
            {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": 1},
            SourceError,
            "add_prefix_space is 1",
        ),
        (
            {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "bos_token": None},
            SourceError,
            "its bos_token",
        ),
        ({"tokenizer_class": "RobertaTokenizer", "sep_token": None}, SourceError, "its sep_token"),
        (
            {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"x": {}}},
            SourceError,
            'the key "x"',
        ),
        ({"tokenizer_class": "GPT2Tokenizer", "eos_token": 5}, SourceError, "eos_token is 5"),
    ],
)
def test_what_cannot_be_read_is_refused(
    config: dict[str, Any], error: type, message: str, tmp_path: Path
) -> None:
    write(tmp_path, ROBERTA, tokenizer_config=config)
    with pytest.raises(error, match=message):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("GPT2Tokenizer", "a b\nab c\n", "a first line that does not begin with #version"),
        ("DebertaTokenizer", "#version: 0.2\na b\nab c", "a last line without an end"),
        ("HerbertTokenizer", "a b\nab c", "a last line without an end"),
        ("HerbertTokenizer", "a b\nab c\n", None),
        ("Qwen2Tokenizer", "a b\nab c", None),
    ],
)
def test_merges_that_releases_read_otherwise_are_refused(
    name: str, text: str, message: str | None, tmp_path: Path
) -> None:
    write(tmp_path, ROBERTA, tokenizer_config={"tokenizer_class": name})
    (tmp_path / "merges.txt").write_text(text, encoding="utf-8")
    if message is not None:
        with pytest.raises(UnsupportedError, match=message):
            read(tmp_path)
    else:
        assert len(read(tmp_path).model.merges) == 2


def test_special_tokens_are_refused_where_the_class_names_its_own(tmp_path: Path) -> None:
    write(tmp_path, WORDS, tokenizer_config={"tokenizer_class": "GPT2Tokenizer"})
    with pytest.raises(UnsupportedError, match="names its own"):
        read(tmp_path, special_tokens={"<x>": 258})


@pytest.mark.parametrize("config", [None, {"eos_token": "abc"}])
def test_without_a_class_a_note_says_that_the_pattern_is_gpt2_s(
    config: dict[str, Any] | None, tmp_path: Path
) -> None:
    write(tmp_path, WORDS, **({} if config is None else {"tokenizer_config": config}))
    assert any("split by GPT-2's pattern" in note for note in read(tmp_path).notes)


def test_clip_s_pad_token_is_a_token_too(tmp_path: Path) -> None:
    vocab = {**BYTES, **{f"{character}</w>": 256 + byte for character, byte in BYTES.items()}}
    vocab |= {"ab": 512, "abc</w>": 513, "<|startoftext|>": 514, "<|endoftext|>": 515}
    merges = "#version: 0.2\na b\nab c</w>\n"
    write(
        tmp_path,
        vocab,
        tokenizer_config={"tokenizer_class": "CLIPTokenizer"},
        special_tokens_map={"pad_token": "!"},
    )
    (tmp_path / "merges.txt").write_text(merges, encoding="utf-8")
    ours = tokexport.load(tokexport.convert(tmp_path, tmp_path / "pair.bin").target)
    assert ours.encode("ABC!", allowed_special="all", add_special_tokens=True) == [
        514,
        513,
        BYTES["!"],
        515,
    ]
    assert ours.encode("abc!") == [513, vocab["!</w>"]]
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
    with pytest.raises(UnsupportedError, match='vocabulary of CLIP with the class "GPT2Tokenizer"'):
        read(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "CLIPTokenizer", "eos_token": "ab"}'
    )
    with pytest.raises(UnsupportedError, match='eos_token "ab" for CLIPTokenizer'):
        read(tmp_path)


FIRST = 10_000  # merges


def cut_short(document: dict[str, Any]) -> dict[str, Any]:
    """A tokenizer.json of a real one's first merges, with the tokens and the special tokens that it
    then has, in their order.
    """
    model = document["model"]
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    made = {"".join(merge) for merge in merges[:FIRST]}
    gone = {"".join(merge) for merge in merges[FIRST:]} - made
    ids = {
        token: number
        for number, token in enumerate(filter(lambda token: token not in gone, model["vocab"]))
    }
    inside = len(ids)
    for token in document["added_tokens"]:
        token["id"] = ids.setdefault(token["content"], len(ids))
    around = document["post_processor"]
    for name, special in around.get("special_tokens", {}).items():
        special["ids"] = [ids[name]]
    for role in {"sep", "cls"} & around.keys():
        around[role] = [around[role][0], ids[around[role][0]]]
    vocab = {token: number for token, number in ids.items() if number < inside}
    return {**document, "model": {**model, "vocab": vocab, "merges": merges[:FIRST]}}


REAL = {
    "qwen2.5": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "roberta-base": "RobertaTokenizer",
    "gpt2": "GPT2Tokenizer",
    "whisper-large-v3": "WhisperTokenizer",
    "gpt-neox-20b": "GPTNeoXTokenizer",
}


@pytest.mark.parametrize("name", REAL)
def test_the_pair_of_a_real_tokenizer_gives_the_ids_of_its_tokenizer_json(
    name: str, shared: Path, tmp_path: Path
) -> None:
    path = shared / "tokenizers" / name / "tokenizer.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    if not SLOW:
        document = cut_short(document)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(document))
    merges = [
        merge if isinstance(merge, str) else " ".join(merge)
        for merge in document["model"]["merges"]
    ]
    added = {str(token.pop("id")): token for token in document["added_tokens"]}
    write(
        tmp_path,
        document["model"]["vocab"],
        tokenizer_config={"tokenizer_class": REAL[name], "added_tokens_decoder": added},
    )
    (tmp_path / "merges.txt").write_text(
        "\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8"
    )
    ours = tokexport.load(tokexport.convert(tmp_path, tmp_path / "pair.bin").target)
    pieces = [
        *PIECES,
        *(token["content"] for token in added.values()),
        "The",
        " quick",
        "'LL",
        "\r\n",
        "\t",
        "  ",
    ]

    @settings(max_examples=2000 if SLOW else 300)
    @given(st.lists(st.sampled_from(pieces) | st.text(max_size=4), max_size=12).map("".join))
    def check(text: str) -> None:
        for around in (False, True):
            ids = theirs.encode(text, add_special_tokens=around).ids
            assert ours.encode(text, allowed_special="all", add_special_tokens=around) == ids

    check()
