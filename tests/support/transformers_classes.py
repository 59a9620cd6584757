"""Small vocabularies for the classes of ``transformers``, and their comparison."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from reader_samples import CHARACTERS
from sentencepiece_training import train

import tokexport

transformers = pytest.importorskip("transformers")

WORDS = [*"abcehilnorstwABT.,!?'1é中", "the", "he", "##s", "##a", "##t", "cat", "sat", "##at"]
PAIRS = [("t", "h"), ("th", "e"), ("a", "t"), ("c", "at"), ("\u0120", "the"), ("e", "\u0120")]
PARTS = [*"abcehstTH 1.,'é中\t\n", "the ", " cat", "[SEP]", "<mask>", "</s>", "<x>"]
RANDOM = random.Random(1)
TEXTS = ["The cat's at 1  é中 <x> sat!", "  the\tTHE\n</s> [MASK] <mask> cat", "", " "]
TEXTS += ["".join(RANDOM.choices(PARTS, k=RANDOM.randrange(1, 16))) for _ in range(100)]
# Classes that require boxes or nodes with a text.
WITH_BOXES = ("LayoutLMv2Tokenizer", "LayoutLMv3Tokenizer", "MarkupLMTokenizer")


def wordpiece(folder: Path, *special: str) -> None:
    tokens = [*special, "[QUESTION]", *WORDS, *(f"##{word}" for word in WORDS if len(word) == 1)]
    (folder / "vocab.txt").write_text("\n".join([*dict.fromkeys(tokens), ""]), "utf-8")


def pair(folder: Path, *special: str, suffix: str = "") -> None:
    """Every byte, also at the end of a word if there is a ``suffix``, and merged tokens."""
    alphabet, merges = CHARACTERS, PAIRS
    if suffix:
        alphabet = [*CHARACTERS, *(character + suffix for character in CHARACTERS)]
        merges = [("t", "h"), ("th", "e" + suffix), ("a", "t" + suffix)]
    tokens = [*special, *alphabet, *("".join(merge) for merge in merges)]
    vocab = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    (folder / "vocab.json").write_text(json.dumps(vocab), "utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges), ""]
    (folder / "merges.txt").write_text("\n".join(lines), "utf-8")


def pieces(folder: Path, name: str, model_type: str, **special: Any) -> None:
    size = 60 if model_type == "unigram" else 70
    sentences = ["the cat sat on the mat", "that hat, this bat: 1 é 中"] * 4
    options = {"normalization_rule_name": "identity", **special}
    model = train(sentences, model_type=model_type, vocab_size=size, **options)
    (folder / name).write_bytes(model)


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
GPT2 = ("<|endoftext|>",)
CLIP = ("<|startoftext|>", "<|endoftext|>")
OF_BERT = (
    *("BertTokenizer", "DistilBertTokenizerFast", "DPRQuestionEncoderTokenizer"),
    *("ElectraTokenizer", "LayoutLMv2Tokenizer", "LxmertTokenizer", "MobileBertTokenizer"),
    "SplinterTokenizer",
)
WORDPIECES = {
    **dict.fromkeys(OF_BERT, BERT),
    "MPNetTokenizer": (*ROBERTA, "[UNK]"),
    "FunnelTokenizer": ("<unk>", "<sep>", "<pad>", "<cls>", "<mask>", "<s>", "</s>"),
}
OF_ROBERTA = (
    *("RobertaTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer", "MarkupLMTokenizer"),
    *("BlenderbotTokenizer", "LayoutLMv3Tokenizer"),
)
COHERE = (
    "<PAD>",
    "<UNK>",
    "<CLS>",
    "<SEP>",
    "<MASK_TOKEN>",
    "<BOS_TOKEN>",
    "<|END_OF_TURN_TOKEN|>",
)
BYTE_PAIRS = {
    **dict.fromkeys(("GPT2Tokenizer", "Qwen2Tokenizer", "GPTNeoXTokenizer"), GPT2),
    **dict.fromkeys(OF_ROBERTA, ROBERTA),
    "CohereTokenizer": COHERE,
    "DebertaTokenizer": BERT,
}
T5 = {"normalization_rule_name": "nmt_nfkc", "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
ALBERT = {"control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "pad_id": 3}
XLNET = {"control_symbols": ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]}
SENTENCEPIECES: dict[str, tuple[Any, ...]] = {
    "AlbertTokenizer": ("spiece.model", "unigram", ALBERT),
    "BarthezTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "BigBirdTokenizer": ("spiece.model", "unigram"),
    "CamembertTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "DebertaV2Tokenizer": ("spm.model", "unigram"),
    "LlamaTokenizer": ("tokenizer.model", "bpe"),
    "MBartTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "MBart50Tokenizer": ("sentencepiece.bpe.model", "unigram"),
    "NllbTokenizer": ("sentencepiece.bpe.model", "bpe"),
    "PegasusTokenizer": ("spiece.model", "unigram", T5),
    "RemBertTokenizer": ("sentencepiece.model", "unigram"),
    "SeamlessM4TTokenizer": ("sentencepiece.bpe.model", "bpe"),
    "T5Tokenizer": ("spiece.model", "unigram", T5),
    "XLMRobertaTokenizer": ("sentencepiece.bpe.model", "unigram"),
    "XLNetTokenizer": ("spiece.model", "unigram", XLNET),
}


def write(folder: Path, name: str) -> None:
    """A small vocabulary for a class, and the settings that name the class."""
    if name in WORDPIECES:
        wordpiece(folder, *WORDPIECES[name])
    elif name in BYTE_PAIRS:
        pair(folder, *BYTE_PAIRS[name])
    elif name in SENTENCEPIECES:
        file, kind, *special = SENTENCEPIECES[name]
        pieces(folder, file, kind, **(special[0] if special else {}))
    else:
        pair(folder, *CLIP, *ROBERTA, suffix="</w>")
    tags = {"tags_dict": {"a": 0}} if name == "MarkupLMTokenizer" else {}
    settle(folder, tokenizer_class=name, **tags)


def settle(folder: Path, **config: object) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")


def auto(folder: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)


TEMPLATE: Any = {"allowed_special": "all", "add_special_tokens": True}


def same(tokenizer: tokexport.Tokenizer, theirs: Any) -> None:
    """Asserts that ids, offsets, texts and pairs are equal, for somewhat more than 100 texts."""
    plain = type(theirs).__name__ not in WITH_BOXES
    if plain:
        theirs("")  # sets the languages of a translation class
    backend = theirs.backend_tokenizer
    for text, single, two in zip(
        TEXTS,
        backend.encode_batch(TEXTS),
        backend.encode_batch([(text, "a cat") for text in TEXTS]),
        strict=True,
    ):
        found = tokenizer.encode_with_offsets(text, **TEMPLATE)
        assert (found.ids, list(map(tuple, found.offsets))) == (single.ids, single.offsets), text
        for skip in (False, True):
            wanted = backend.decode(found.ids, skip_special_tokens=skip)
            assert tokenizer.decode(found.ids, skip_special_tokens=skip) == wanted
        assert tokenizer.encode_pair(text, "a cat", **TEMPLATE) == two.ids
    if plain:
        assert [one.ids for one in backend.encode_batch(TEXTS)] == theirs(TEXTS)["input_ids"]
