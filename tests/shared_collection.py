"""The real tokenizers of a collection outside of the repository: where each lies, and how it is converted.

The environment variable TOKEXPORT_SHARED names the collection's directory, with ``tokenizers/``, ``vectors/`` and
``corpora/`` in it; without it the tests that use this are skipped. TOKEXPORT_SLOW=1 makes them compare everything, which
takes minutes for each tokenizer.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SLOW = os.environ.get("TOKEXPORT_SLOW", "") not in ("", "0")


@dataclass(frozen=True)
class Case:
    """A source below ``tokenizers/`` and, for ranks, the name of its pattern."""

    source: str
    pattern: str | None = None

    @property
    def name(self) -> str:
        """Names the case in a test's id."""
        return self.source.replace("/tokenizer.json", "")

    @property
    def vectors(self) -> str:
        """The name of its file below ``vectors/``, if there is one."""
        return self.source.partition("/")[0]

    @property
    def reference(self) -> str:
        """What the ``ref`` of its vectors is."""
        folder = self.source.partition("/")[0]
        return f"hf:{folder}" if self.source.endswith("tokenizer.json") else f"tiktoken:{self.pattern or folder}"


CONVERTED = (
    Case("deepseek-coder-instruct/tokenizer.json"),
    Case("deepseek-v3/tokenizer.json"),
    Case("falcon/tokenizer.json"),
    Case("gpt-neox-20b/tokenizer.json"),
    Case("gpt-oss/tokenizer.json"),
    Case("gpt2/tokenizer.json"),
    Case("gpt2/vocab.json"),
    Case("iree-bpe_bytelevel_minimal/tokenizer.json"),
    Case("llama3/tokenizer.json"),
    Case("mistral-nemo/tokenizer.json"),
    Case("modernbert/tokenizer.json"),
    Case("mpt/tokenizer.json"),
    Case("olmo-dolma2/tokenizer.json"),
    Case("phi-2/tokenizer.json"),
    Case("qwen2.5/tokenizer.json"),
    Case("qwen3/tokenizer.json"),
    Case("roberta-base/tokenizer.json"),
    Case("starcoder2/tokenizer.json"),
    Case("whisper-large-v3/tokenizer.json"),
    Case("cl100k_base/cl100k_base.tiktoken"),
    Case("kimi-k2/tiktoken.model", "kimi_k2"),
    Case("llama3-tiktoken/tokenizer.model", "llama3"),
    Case("nanochat-rustbpe-32k/tokenizer.tiktoken", "nanochat"),
    Case("nanochat-rustbpe-8k/tokenizer.tiktoken", "nanochat"),
    Case("o200k_base/o200k_base.tiktoken"),
    Case("o200k_base/o200k_base.tiktoken", "o200k_harmony"),
    Case("p50k_base/p50k_base.tiktoken"),
    Case("p50k_base/p50k_base.tiktoken", "p50k_edit"),
    Case("qwen-tiktoken/qwen.tiktoken", "qwen"),
    Case("r50k_base/r50k_base.tiktoken"),
    Case("torchtune-toys/tiktoken_small.model", "llama3"),
    Case("torchtune-toys/tiktoken_small_llama4.model", "llama4"),
    Case("whisper-tiktoken/gpt2.tiktoken", "whisper"),
    Case("whisper-tiktoken/multilingual.tiktoken", "whisper_large_v3"),
)

# Other model types, characters in the place of bytes (iree-bpe_bytelevel_unicode has no pre-tokenizer), and two that their
# own library refuses.
REFUSED = (
    *("added-tokens-test", "albert-style-30k-clean/30k-clean.model", "bert-base-cased", "bert-base-uncased", "clip"),
    *(
        "clip-openai/vocab.json",
        "gemma3",
        "gguf/ggml-vocab-gpt-2.gguf",
        "gte-small",
        "iree-bpe_bytelevel_unicode",
        "iree-wordpiece_bert_pair_minimal",
    ),
    *(
        "llama2",
        "llama2/tokenizer.model",
        "llama2c-tok512/tok512.bin",
        "llm.c-gpt2/gpt2_tokenizer.bin",
        "mistral-7b-v0.1",
    ),
    *("mistral-tekken/tekken_240718.json", "nanochat-rustbpe-8k/tokenizer.pkl", "phi-3", "pytorch-tokenizers-test"),
    *("rwkv-midi", "sentencepiece-test", "spm-bpe-4000/spm.model", "t5-small", "xlm-roberta", "xlnet-base-cased", "yi"),
)


def vectors(directory: Path, case: Case) -> Iterator[dict[str, Any]]:
    """The vectors that other projects publish for a tokenizer: ``text``, ``ids``, ``add_special``, ``ref``."""
    path = directory / "vectors" / f"{case.vectors}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (vector for vector in map(json.loads, lines) if vector["ref"] == case.reference)


def corpora(directory: Path) -> list[Path]:
    """The texts, all but the two that are JSON of strings."""
    return sorted(
        path for path in (directory / "corpora").rglob("*") if path.suffix in (".txt", ".csv", ".jsonl", ".en")
    )


def stress_strings(directory: Path) -> list[str]:
    """Strings of white space, contractions, digits, emoji, combining marks and special tokens."""
    strings = json.loads((directory / "corpora" / "generated" / "stress_strings.json").read_text("utf-8"))
    return [string if isinstance(string, str) else string["text"] for string in strings]
