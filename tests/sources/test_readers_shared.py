"""Real tokenizers are read as their own library has them, id by id, or refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import tiktoken
import tokenizers
from repository import SLOW
from tiktoken.load import load_tiktoken_bpe

from tokexport.model import Reference, Split
from tokexport.sources import read

BYTE_LEVEL = [
    *("deepseek-coder-instruct", "deepseek-v3", "falcon", "gpt-neox-20b", "gpt-oss", "gpt2"),
    *("iree-bpe_bytelevel_minimal", "llama3", "mistral-nemo", "modernbert", "mpt", "olmo-dolma2"),
    *("phi-2", "qwen2.5", "qwen3", "roberta-base", "starcoder2", "whisper-large-v3"),
]
RANKS = {
    "cl100k_base/cl100k_base.tiktoken": None,
    "o200k_base/o200k_base.tiktoken": None,
    "p50k_base/p50k_base.tiktoken": None,
    "r50k_base/r50k_base.tiktoken": None,
    "kimi-k2/tiktoken.model": "kimi_k2",
    "llama3-tiktoken/tokenizer.model": "llama3",
    "nanochat-rustbpe-32k/tokenizer.tiktoken": "nanochat",
    "nanochat-rustbpe-8k/tokenizer.tiktoken": "nanochat",
    "qwen-tiktoken/qwen.tiktoken": "qwen",
    "torchtune-toys/tiktoken_small.model": "llama3",
    "torchtune-toys/tiktoken_small_llama4.model": "llama4",
    "whisper-tiktoken/multilingual.tiktoken": "whisper",
}
# Those with the largest vocabularies, of which others have the fields and the patterns.
LARGE = {
    *("deepseek-v3", "gpt-oss", "llama3", "mistral-nemo", "qwen2.5", "qwen3"),
    *(
        "o200k_base/o200k_base.tiktoken",
        "kimi-k2/tiktoken.model",
        "llama3-tiktoken/tokenizer.model",
    ),
    "qwen-tiktoken/qwen.tiktoken",
}


def vector_ids(path: Path) -> set[int]:
    """Every id in the published vectors at ``path``, if there are any."""
    lines = gzip.decompress(path.read_bytes()).splitlines() if path.is_file() else []
    return {number for line in lines for number in json.loads(line)["ids"]}


@pytest.mark.parametrize("name", [name for name in BYTE_LEVEL if SLOW or name not in LARGE])
def test_a_byte_level_tokenizer_has_the_references_tokens(name: str, shared: Path) -> None:
    folder = shared / "tokenizers" / name
    model = read(folder)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert model.reference is Reference.TOKENIZERS
    decoder = theirs.get_added_tokens_decoder()
    assert {token.id: token.content for token in model.added_tokens} == {
        i: token.content for i, token in decoder.items()
    }
    assert len(model.tokens) == max(theirs.get_vocab(with_added_tokens=True).values()) + 1
    ids = [[number] for number in range(len(model.tokens))]
    whole = theirs.decode_batch(ids, skip_special_tokens=False)
    skipped = theirs.decode_batch(ids, skip_special_tokens=True)
    for number, token in enumerate(model.tokens):
        assert (token is None) == (theirs.id_to_token(number) is None)
        if token is not None:
            text = token.content.decode("utf-8", "replace")
            assert (whole[number], skipped[number]) == (text, "" if token.special else text)
    possible = set(model.model.vocab.values()) | {token.id for token in model.added_tokens}
    assert vector_ids(shared / "vectors" / f"{name}.jsonl.gz") <= possible
    for special in (True, False):
        around = theirs.encode("", "", add_special_tokens=special).ids
        assert around == (
            [piece.id for piece in model.template.pair if piece.id is not None] if special else []
        )


@pytest.mark.parametrize("name", [name for name in sorted(RANKS) if SLOW or name not in LARGE])
def test_ranks_have_the_tokens_that_tiktoken_has(name: str, shared: Path) -> None:
    path = shared / "tokenizers" / name
    model = read(path, pattern=RANKS[name])
    split = model.pre_tokenizer[0]
    assert isinstance(split, Split)
    assert isinstance(split.pattern, str)
    ranks = load_tiktoken_bpe(str(path))
    special = {token.content: token.id for token in model.added_tokens}
    theirs = tiktoken.Encoding(
        name, pat_str=split.pattern, mergeable_ranks=ranks, special_tokens=special
    )
    assert len(model.tokens) == theirs.n_vocab
    for number, token in enumerate(model.tokens):
        try:
            expected: bytes | None = theirs.decode_single_token_bytes(number)
        except KeyError:
            expected = None
        assert (None if token is None else token.content) == expected
    assert dict(model.model.vocab) == {data: rank for data, rank in ranks.items() if data}


def test_whispers_special_tokens_are_those_of_its_tokenizer_json(shared: Path) -> None:
    ranks = read(
        shared / "tokenizers" / "whisper-tiktoken" / "multilingual.tiktoken",
        pattern="whisper_large_v3",
    )
    theirs = read(shared / "tokenizers" / "whisper-large-v3")
    assert {token.id: token.content for token in theirs.added_tokens} == {
        token.id: token.content for token in ranks.added_tokens
    }


def test_kimis_special_tokens_are_those_of_its_config_and_reserved_ones(shared: Path) -> None:
    folder = shared / "tokenizers" / "kimi-k2"
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))[
        "added_tokens_decoder"
    ]
    found = {token.id: token.content for token in read(folder, pattern="kimi_k2").added_tokens}
    assert found == {
        number: config.get(str(number), {"content": f"<|reserved_token_{number}|>"})["content"]
        for number in range(163584, 163840)
    }
