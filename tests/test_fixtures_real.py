"""Real vocabularies, brought from packages on the index, give the ids of their own libraries."""

from __future__ import annotations

import os

import pytest

import tokexport

STRINGS = 100_000 if os.environ.get("TOKEXPORT_SLOW") == "1" else 2_000
# Package, place of the file in it, --pattern.
VOCABULARIES = {
    "deepseek": ("deepseek", 0, None),
    "llama3": ("llama", 0, "llama3"),
    "llama4": ("llama", 1, "llama4"),
    "gpt2": ("whisper", 0, "gpt2"),
    "whisper": ("whisper", 1, "whisper"),
    "qwen": ("qwen", 0, "qwen"),
    "cl100k_base": ("openai", 0, "cl100k_base"),
    "o200k_base": ("openai", 1, "o200k_base"),
    "p50k_base": ("openai", 2, "p50k_base"),
    "claude": ("openai", 3, None),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_a_real_tokenizer_gives_the_ids_of_its_own_library(name, fetched, tmp_path):
    package, place, pattern = VOCABULARIES[name]
    source = fetched(package)[place]
    tokexport.convert(source, tmp_path / "it.bin", pattern=pattern)
    result = tokexport.verify(tmp_path / "it.bin", against=source, pattern=pattern, strings=STRINGS, seed=11)
    assert result.ok, "\n".join(result.lines())
