"""Real GGUF, tekken, CLIP and rank files are equivalent to the tokenizer.json of their model."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reader_samples import reference
from references import reference_for
from repository import SLOW
from shared_collection import stress_strings

from tokexport.sources import read
from tokexport.sources.clip import published_vocabulary
from tokexport.sources.gguf.patterns import ORIGINALS
from tokexport.sources.gguf.read import gguf_document
from tokexport.sources.reference import Mode
from tokexport.sources.registry import open_source
from tokexport.sources.tokenizer_json.reference import TokenizersReference

SAME = {
    "ggml-vocab-gpt-2.gguf": "gpt2",
    "ggml-vocab-falcon.gguf": "falcon",
    "ggml-vocab-qwen2.gguf": "qwen2.5",
    "ggml-vocab-deepseek-coder.gguf": "deepseek-coder-instruct",
    "ggml-vocab-bert-bge.gguf": "bert-base-uncased",
}
# Others have the same fields, with fewer tokens; small files also test the meaning of the names.
LARGE = {"ggml-vocab-gpt-2.gguf", "ggml-vocab-falcon.gguf", "ggml-vocab-qwen2.gguf"}


def texts(shared: Path) -> list[str]:
    return stress_strings(shared)[:: 1 if SLOW else 9]


def same_ids(
    shared: Path, one: str, other: str, modes: Sequence[Mode] = (Mode.TEXT, Mode.IDS)
) -> None:
    ours, theirs = (reference_for(shared / "tokenizers" / name) for name in (one, other))
    for mode in modes:
        assert ours.encode_batch(texts(shared), mode) == theirs.encode_batch(texts(shared), mode)


def document_of(shared: Path, name: str) -> Any:
    return json.loads((shared / "tokenizers" / name / "tokenizer.json").read_text("utf-8"))


@pytest.mark.parametrize("name", [name for name in SAME if SLOW or name not in LARGE])
def test_a_gguf_equals_its_tokenizer_json(name: str, shared: Path) -> None:
    path = shared / "tokenizers" / "gguf" / name
    ours = gguf_document(open_source(path).content)
    one, other = (
        TokenizersReference(reference(fields)).encode_batch(texts(shared), Mode.TEXT)
        for fields in (ours, document_of(shared, SAME[name]))
    )
    assert one == other


def test_a_llama_gguf_equals_its_originals(shared: Path) -> None:
    path = "gguf/ggml-vocab-llama-spm.gguf"
    same_ids(shared, path, "llama2/tokenizer.model", [Mode.TEXT])
    same_ids(shared, path, "llama2/tokenizer.json")


def test_a_gguf_of_phi_3_drops_white_space_after_special_tokens_as_its_original(
    shared: Path,
) -> None:
    document = document_of(shared, "phi-3")
    for token in document["added_tokens"]:
        token["rstrip"] = token["content"] not in ("<unk>", "<s>", "<|endoftext|>")  # Microsoft's
    original = TokenizersReference(reference(document))
    ours = reference_for(shared / "tokenizers" / "gguf" / "ggml-vocab-phi-3.gguf")
    dice = random.Random(3)
    tokens = [token["content"] for token in document["added_tokens"]]
    parts = [*tokens, *" \t\n\u00a0\u3000\x1c\x85", "\n\n", "Hi", " there", "\u2581a"]
    samples = ["".join(dice.choices(parts, k=dice.randrange(10))) for _ in range(3000)]
    samples += texts(shared)
    assert ours.encode_batch(samples, Mode.IDS) == original.encode_batch(samples, Mode.IDS)


def test_tekken_equals_the_tokenizer_json_of_nemo(shared: Path) -> None:
    same_ids(shared, "mistral-tekken/tekken_240718.json", "mistral-nemo/tokenizer.json")


def test_the_published_vocabulary_of_clip_equals_its_tokenizer_json(shared: Path) -> None:
    path = shared / "tokenizers" / "clip-openai" / "bpe_simple_vocab_16e6.txt.gz"
    vocab, merges = published_vocabulary(path.read_bytes(), path.name)
    model = document_of(shared, "clip")["model"]
    assert vocab == model["vocab"]
    assert [" ".join(merge) for merge in merges] == model["merges"]


def test_the_name_gpt_neox_has_the_pattern_of_its_tokenizer_json(shared: Path) -> None:
    document, original = document_of(shared, "gpt-neox-20b"), ORIGINALS["gpt-neox"]
    assert original.normalizer == document["normalizer"]
    assert original.pre_tokenizer == document["pre_tokenizer"]


def test_whispers_special_tokens_equal_those_of_its_tokenizer_json(shared: Path) -> None:
    path = shared / "tokenizers" / "whisper-tiktoken" / "multilingual.tiktoken"
    theirs = special_tokens(shared / "tokenizers" / "whisper-large-v3")
    assert special_tokens(path, pattern="whisper_large_v3") == theirs


def test_kimis_special_tokens_are_those_of_its_config_and_reserved_ones(shared: Path) -> None:
    folder = shared / "tokenizers" / "kimi-k2"
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config = settings["added_tokens_decoder"]
    assert special_tokens(folder, pattern="kimi_k2") == {
        number: config.get(str(number), {"content": f"<|reserved_token_{number}|>"})["content"]
        for number in range(163584, 163840)
    }


def special_tokens(path: Path, pattern: str | None = None) -> dict[int, str]:
    return {token.id: token.content for token in read(path, pattern=pattern).added_tokens}
