"""vocab.json with merges.txt of GPT-NeoX's and Cohere's class is read as transformers 5 reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pair_samples
import pytest
import tokenizers
from hypothesis import strategies as st
from reader_samples import BYTES
from tokenizers import AddedToken, decoders, normalizers, pre_tokenizers, processors

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read

MERGES = [("a", "b"), ("ab", "c")]
VOCAB = {**BYTES, "ab": 256, "abc": 257, "<|endoftext|>": 258}
PIECES = [
    "ab",
    "abc",
    " ",
    "  ",
    "\n",
    "it's",
    "12",
    "3a",
    "\u00e9",
    "e\u0301",
    "<|endoftext|>",
    "<|padding|>",
    "<UNK>",
]
PIECES += ["<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<x>", " <x> "]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)
COHERE = [
    "<BOS_TOKEN>",
    "<|END_OF_TURN_TOKEN|>",
    "<UNK>",
    "<SEP>",
    "<PAD>",
    "<CLS>",
    "<MASK_TOKEN>",
]


def special(*contents: str) -> list[AddedToken]:
    return [AddedToken(content, special=True, normalized=False) for content in contents]


def same(folder: Path, config: dict[str, Any], theirs: tokenizers.Tokenizer) -> None:
    pair_samples.write(folder, VOCAB, MERGES, tokenizer_config=config)
    pair_samples.check_same(folder, folder / "pair.bin", theirs, TEXTS, "ab 1", 80)


def byte_pair(*before: pre_tokenizers.PreTokenizer, spaced: bool = False) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=VOCAB, merges=MERGES))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [*before, pre_tokenizers.ByteLevel(add_prefix_space=spaced)]
    )
    made.decoder = decoders.ByteLevel()
    return made


@pytest.mark.parametrize("name", ["GPTNeoXTokenizer", "GPTNeoXTokenizerFast"])
@pytest.mark.parametrize(
    ("bos", "eos", "spaced"), [(False, False, False), (True, False, True), (True, True, False)]
)
def test_gpt_neox_composes_and_puts_its_end_token_where_its_config_says(
    name: str, bos: bool, eos: bool, spaced: bool, tmp_path: Path
) -> None:
    theirs = byte_pair(spaced=spaced)
    theirs.add_tokens(special("<|endoftext|>", "<|padding|>"))
    single = ["<|endoftext|>"] * bos + ["$A"] + ["<|endoftext|>"] * eos
    second = [part.replace("$A", "$B") + ":1" for part in single]
    theirs.post_processor = processors.TemplateProcessing(
        single=single, pair=[*single, *second], special_tokens=[("<|endoftext|>", 258)]
    )
    config = {
        "tokenizer_class": name,
        "add_bos_token": bos,
        "add_eos_token": eos,
        "add_prefix_space": spaced,
    }
    same(tmp_path, {flag: value for flag, value in config.items() if value}, theirs)


def test_cohere_cuts_each_digit_off(tmp_path: Path) -> None:
    theirs = byte_pair(pre_tokenizers.Digits(individual_digits=True))
    theirs.add_tokens(special(*COHERE))
    theirs.add_tokens(special("<x>"))
    theirs.post_processor = processors.TemplateProcessing(
        single="<BOS_TOKEN> $A",
        pair="<BOS_TOKEN> $A <BOS_TOKEN>:1 $B:1",
        special_tokens=[("<BOS_TOKEN>", 259)],
    )
    config = {
        "tokenizer_class": "CohereTokenizerFast",
        "add_bos_token": True,
        "additional_special_tokens": ["<x>"],
    }
    same(tmp_path, config, theirs)


FLAGGED = {"content": "<|endoftext|>", "rstrip": True, "normalized": False, "special": True}


@pytest.mark.parametrize(
    ("config", "files", "error", "message"),
    [
        (
            {"tokenizer_class": "CohereTokenizer"},
            {},
            UnsupportedError,
            "CohereTokenizer without add_bos_token",
        ),
        (
            {"add_bos_token": True, "bos_token": None},
            {},
            SourceError,
            "sets add_bos_token .* there is no bos_token",
        ),
        ({"add_eos_token": 1}, {}, SourceError, "add_eos_token is 1"),
        (
            {"added_tokens_decoder": {"258": FLAGGED}},
            {},
            UnsupportedError,
            "is described here and elsewhere",
        ),
        ({"eos_token": FLAGGED}, {}, UnsupportedError, "is described here and elsewhere"),
        (
            {},
            {"special_tokens_map": {"pad_token": FLAGGED}},
            UnsupportedError,
            "is described here and elsewhere",
        ),
        (
            {"additional_special_tokens": [{**FLAGGED, "content": "<x>"}]},
            {"added_tokens": {"<x>": 259}},
            UnsupportedError,
            '"<x>", which is described here and elsewhere',
        ),
    ],
)
def test_what_cannot_be_read_is_refused(
    config: dict[str, Any], files: dict[str, Any], error: type, message: str, tmp_path: Path
) -> None:
    config = {"tokenizer_class": "GPTNeoXTokenizer", **config}
    pair_samples.write(tmp_path, VOCAB, MERGES, tokenizer_config=config, **files)
    with pytest.raises(error, match=message):
        read(tmp_path)
