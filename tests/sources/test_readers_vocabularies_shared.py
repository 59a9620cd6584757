"""Real GGUF, tekken and CLIP files say the same as the tokenizer.json of the same model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from references import reference_for
from repository import SLOW

from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.gguf.read import gguf_document
from tokexport.sources.gguf.source import parse_gguf
from tokexport.sources.reference import Mode
from tokexport.sources.registry import open_source
from tokexport.sources.vocab_files.clip import published_vocabulary

SAME = {
    "ggml-vocab-gpt-2.gguf": "gpt2",
    "ggml-vocab-falcon.gguf": "falcon",
    "ggml-vocab-qwen2.gguf": "qwen2.5",
    "ggml-vocab-deepseek-coder.gguf": "deepseek-coder-instruct",
    "ggml-vocab-bert-bge.gguf": "bert-base-uncased",
}
# Those whose fields the others have, with fewer tokens; what their names stand for is shown by
# small files too.
LARGE = {"ggml-vocab-gpt-2.gguf", "ggml-vocab-falcon.gguf", "ggml-vocab-qwen2.gguf"}


def texts(shared: Path) -> list[str]:
    data = (shared / "corpora" / "generated" / "stress_strings.json").read_text(encoding="utf-8")
    return [value for value in json.loads(data) if isinstance(value, str)][:: 1 if SLOW else 9]


@pytest.mark.parametrize("name", [name for name in SAME if SLOW or name not in LARGE])
def test_a_gguf_is_its_tokenizer_json(name: str, shared: Path) -> None:
    path = shared / "tokenizers" / "gguf" / name
    source = parse_gguf(open_source(path).content, name)
    ours = tokenizers.Tokenizer.from_str(json.dumps(gguf_document(source)))
    theirs = tokenizers.Tokenizer.from_file(
        str(shared / "tokenizers" / SAME[name] / "tokenizer.json")
    )
    for tokenizer in (ours, theirs):
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        tokenizer.no_padding()
    pairs = zip(
        *(
            tokenizer.encode_batch(texts(shared), add_special_tokens=False)
            for tokenizer in (ours, theirs)
        ),
        strict=True,
    )
    assert all(first.ids == second.ids for first, second in pairs)


def test_a_llama_gguf_is_its_sentencepiece_model(shared: Path) -> None:
    ours = reference_for(shared / "tokenizers" / "gguf" / "ggml-vocab-llama-spm.gguf")
    theirs = reference_for(shared / "tokenizers" / "llama2" / "tokenizer.model")
    for mode in (Mode.TEXT, Mode.IDS):
        assert ours.encode_batch(texts(shared), mode) == theirs.encode_batch(texts(shared), mode)


def test_tekken_is_the_tokenizer_json_of_nemo(shared: Path) -> None:
    ours = reference_for(shared / "tokenizers" / "mistral-tekken" / "tekken_240718.json")
    theirs = reference_for(shared / "tokenizers" / "mistral-nemo" / "tokenizer.json")
    for mode in (Mode.TEXT, Mode.IDS):
        assert ours.encode_batch(texts(shared), mode) == theirs.encode_batch(texts(shared), mode)


def test_clip_s_published_vocabulary_is_that_of_its_tokenizer_json(shared: Path) -> None:
    path = shared / "tokenizers" / "clip-openai" / "bpe_simple_vocab_16e6.txt.gz"
    vocab, merges = published_vocabulary(path.read_bytes(), path.name)
    model = json.loads(
        (shared / "tokenizers" / "clip" / "tokenizer.json").read_text(encoding="utf-8")
    )["model"]
    assert vocab == model["vocab"]
    assert [" ".join(merge) for merge in merges] == model["merges"]


def test_the_name_gpt_neox_is_what_its_tokenizer_json_has(shared: Path) -> None:
    document = json.loads(
        (shared / "tokenizers" / "gpt-neox-20b" / "tokenizer.json").read_text(encoding="utf-8")
    )
    original = ORIGINALS["gpt-neox"]
    assert (original.normalizer, original.pre_tokenizer) == (
        document["normalizer"],
        document["pre_tokenizer"],
    )
