"""vocab.json with merges.txt of GPT-1's and HerBERT's class, whose words end in </w>, is read as
that class reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pair_samples
import pytest
import tokenizers
from hypothesis import strategies as st
from tokenizers import AddedToken, decoders, normalizers, pre_tokenizers, processors

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources import read

MERGES = [("t", "h"), ("th", "e</w>"), ("a", "b"), ("ab", "c</w>"), ("T", "h")]
LETTERS = "abcdethT.,<>/w\u00e9\u4e2d"
VOCAB = {token: number for number, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])}
for piece in (
    *LETTERS,
    *(letter + "</w>" for letter in LETTERS),
    *(left + right for left, right in MERGES),
):
    VOCAB.setdefault(piece, len(VOCAB))
PIECES = [
    "the",
    "The",
    "THE",
    "abc",
    " ",
    "\n",
    "\u00c9",
    "e\u0301",
    "\u4e2d\u4e2d",
    "z",
    "<s>",
    "<unk>",
    "</w>",
    "<special3>",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def write(folder: Path, vocab: dict[str, int], config: dict[str, Any]) -> Path:
    return pair_samples.write(folder, vocab, MERGES, tokenizer_config=config)


def words(unknown: str = "<unk>") -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab=VOCAB, merges=MERGES, unk_token=unknown, end_of_word_suffix="</w>"
        )
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.BPEDecoder(suffix="</w>")
    return made


def special(*contents: str) -> list[AddedToken]:
    return [AddedToken(content, special=True, normalized=False) for content in contents]


def same(source: Path, folder: Path, theirs: tokenizers.Tokenizer) -> None:
    pair_samples.check_same(source, folder / "words.bin", theirs, TEXTS, "the abc", 150)


@pytest.mark.parametrize("unknown", [None, "<s>"])
@pytest.mark.parametrize("given_file", ["", "vocab.json", "merges.txt"])
def test_gpt_1_lower_cases_and_puts_nothing_around_a_text(
    unknown: str | None, given_file: str, tmp_path: Path
) -> None:
    config = {
        "tokenizer_class": "OpenAIGPTTokenizer",
        **({"unk_token": unknown} if unknown else {}),
    }
    write(tmp_path, VOCAB, config)
    theirs = words(unknown or "<unk>")
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True)
    theirs.add_tokens(special(unknown or "<unk>"))
    same(tmp_path / given_file, tmp_path, theirs)


def test_herbert_keeps_capitals_and_has_ten_special_tokens_without_a_role(tmp_path: Path) -> None:
    write(tmp_path, VOCAB, {"tokenizer_class": "HerbertTokenizerFast"})
    theirs = words()
    theirs.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    theirs.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    theirs.add_tokens(special("<s>", "<unk>", "</s>", "<pad>", "<mask>"))
    theirs.add_tokens(special(*(f"<special{number}>" for number in range(10))))
    same(tmp_path, tmp_path, theirs)


def test_special_tokens_without_a_role_are_those_that_the_config_names(tmp_path: Path) -> None:
    config = {"tokenizer_class": "HerbertTokenizer", "additional_special_tokens": ["<x>"]}
    model = read(write(tmp_path, VOCAB, config))
    assert [token.content for token in model.added_tokens][-1] == "<x>"
    assert not any("special" in token.content for token in model.added_tokens)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (
            {"tokenizer_class": "OpenAIGPTTokenizer", "unk_token": None},
            SourceError,
            "needs an unk_token",
        ),
        (
            {"tokenizer_class": "HerbertTokenizer", "sep_token": None},
            SourceError,
            "puts its sep_token around",
        ),
        (
            {"tokenizer_class": "OpenAIGPTTokenizer", "add_bos_token": True},
            UnsupportedError,
            "add_bos_token for Open",
        ),
        ({"tokenizer_class": "CTRLTokenizer"}, UnsupportedError, "words that end in </w>"),
    ],
)
def test_what_cannot_be_read_is_refused(
    config: dict[str, Any], error: type, message: str, tmp_path: Path
) -> None:
    write(tmp_path, VOCAB, config)
    with pytest.raises(error, match=message):
        read(tmp_path)
