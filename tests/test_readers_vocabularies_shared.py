"""Real GGUF, tekken and CLIP files say the same as the tokenizer.json of the same model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from repository import SLOW

from tokexport import load
from tokexport.conversion import convert
from tokexport.readers.clip_vocabulary import published_vocabulary
from tokexport.readers.gguf import gguf_document
from tokexport.readers.gguf_patterns import ORIGINALS
from tokexport.readers.gguf_source import parse_gguf

SAME = {
    "ggml-vocab-gpt-2.gguf": "gpt2",
    "ggml-vocab-falcon.gguf": "falcon",
    "ggml-vocab-qwen2.gguf": "qwen2.5",
    "ggml-vocab-deepseek-coder.gguf": "deepseek-coder-instruct",
    "ggml-vocab-bert-bge.gguf": "bert-base-uncased",
}


def texts(shared: Path) -> list[str]:
    data = (shared / "corpora" / "generated" / "stress_strings.json").read_text(encoding="utf-8")
    return [value for value in json.loads(data) if isinstance(value, str)][:: 1 if SLOW else 9]


@pytest.mark.parametrize("name", SAME)
def test_a_gguf_is_its_tokenizer_json(name: str, shared: Path) -> None:
    source = parse_gguf(shared / "tokenizers" / "gguf" / name)
    ours = tokenizers.Tokenizer.from_str(json.dumps(gguf_document(source)))
    theirs = tokenizers.Tokenizer.from_file(str(shared / "tokenizers" / SAME[name] / "tokenizer.json"))
    for tokenizer in (ours, theirs):
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        tokenizer.no_padding()
    pairs = zip(
        *(tokenizer.encode_batch(texts(shared), add_special_tokens=False) for tokenizer in (ours, theirs)), strict=True
    )
    assert all(first.ids == second.ids for first, second in pairs)


def test_a_llama_gguf_is_its_sentencepiece_model(shared: Path, tmp_path: Path) -> None:
    convert(shared / "tokenizers" / "gguf" / "ggml-vocab-llama-spm.gguf", tmp_path / "gguf.bin")
    convert(shared / "tokenizers" / "llama2" / "tokenizer.model", tmp_path / "model.bin")
    ours, theirs = load(tmp_path / "gguf.bin"), load(tmp_path / "model.bin")
    assert ours.encode_batch(texts(shared)) == theirs.encode_batch(texts(shared))


def test_tekken_is_the_tokenizer_json_of_nemo(shared: Path, tmp_path: Path) -> None:
    convert(shared / "tokenizers" / "mistral-tekken" / "tekken_240718.json", tmp_path / "tekken.bin")
    ours = load(tmp_path / "tekken.bin")
    theirs = tokenizers.Tokenizer.from_file(str(shared / "tokenizers" / "mistral-nemo" / "tokenizer.json"))
    theirs.encode_special_tokens = True
    expected = theirs.encode_batch(texts(shared), add_special_tokens=False)
    assert ours.encode_batch(texts(shared)) == [encoding.ids for encoding in expected]


def test_clip_s_published_vocabulary_is_that_of_its_tokenizer_json(shared: Path) -> None:
    path = shared / "tokenizers" / "clip-openai" / "bpe_simple_vocab_16e6.txt.gz"
    vocab, merges = published_vocabulary(path.read_bytes(), path.name)
    model = json.loads((shared / "tokenizers" / "clip" / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    assert vocab == model["vocab"]
    assert [" ".join(merge) for merge in merges] == model["merges"]


def test_the_name_gpt_neox_is_what_its_tokenizer_json_has(shared: Path) -> None:
    document = json.loads((shared / "tokenizers" / "gpt-neox-20b" / "tokenizer.json").read_text(encoding="utf-8"))
    original = ORIGINALS["gpt-neox"]
    assert (original.normalizer, original.pre_tokenizer) == (document["normalizer"], document["pre_tokenizer"])
