"""The real tokenizers of a collection outside of the repository: where each lies, and how it is
converted.

The environment variable TOKEXPORT_SHARED names the collection's directory, with ``tokenizers/``,
``vectors/`` and ``corpora/`` in it; without it the tests that use this are skipped.
TOKEXPORT_SLOW=1 makes them compare everything, which takes minutes for each tokenizer.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """A source below ``tokenizers/`` and, for ranks, the name of its pattern.

    ``slow``: for TOKEXPORT_SLOW=1 only, since it takes long, by the size of its vocabulary or of
    its charsmap, and others, or small tokenizers in other tests, have the parts that it has.
    """

    source: str
    pattern: str | None = None
    slow: bool = False

    @property
    def name(self) -> str:
        """Names the case in a test's id."""
        return self.source.replace("/tokenizer.json", "")

    @property
    def vectors(self) -> str:
        """The name of its file below ``vectors/``, if there is one."""
        return self.source.partition("/")[0]

    @property
    def references(self) -> frozenset[str]:
        """What the ``ref`` of its vectors may be."""
        folder = self.source.partition("/")[0]
        if self.source.endswith("tokenizer.json"):
            return frozenset((f"hf:{folder}",))
        return frozenset(
            (
                f"tiktoken:{self.pattern or folder}",
                *(f"{kind}:{self.source}" for kind in ("sp", "tekken", "gguf")),
            )
        )


CONVERTED = (
    Case("albert-style-30k-clean/30k-clean.model"),
    Case("bert-base-cased/tokenizer.json"),
    Case("bert-base-uncased/tokenizer.json", slow=True),
    Case("bert-base-uncased/vocab.txt"),
    Case("bpemb-en/en.wiki.bpe.vs100000.model", slow=True),
    Case("cl100k_base/cl100k_base.tiktoken", slow=True),
    Case("clip-openai/bpe_simple_vocab_16e6.txt.gz"),
    Case("clip/tokenizer.json", slow=True),
    Case("deepseek-coder-instruct/tokenizer.json"),
    Case("deepseek-v3/tokenizer.json", slow=True),
    Case("falcon/tokenizer.json", slow=True),
    Case("gemma3/tokenizer.json", slow=True),
    Case("gguf/ggml-vocab-bert-bge.gguf", slow=True),
    Case("gguf/ggml-vocab-deepseek-coder.gguf", slow=True),
    Case("gguf/ggml-vocab-falcon.gguf", slow=True),
    Case("gguf/ggml-vocab-gpt-2.gguf", slow=True),
    Case("gguf/ggml-vocab-llama-spm.gguf", slow=True),
    Case("gguf/ggml-vocab-phi-3.gguf", slow=True),
    Case("gguf/ggml-vocab-qwen2.gguf", slow=True),
    Case("gpt-neox-20b/tokenizer.json", slow=True),
    Case("gpt-oss/tokenizer.json", slow=True),
    Case("gpt2/tokenizer.json"),
    Case("gpt2/vocab.json", slow=True),
    Case("gte-small/tokenizer.json", slow=True),
    Case("iree-bpe_bytelevel_minimal/tokenizer.json"),
    Case("iree-bpe_bytelevel_unicode/tokenizer.json"),
    Case("iree-wordpiece_bert_pair_minimal/tokenizer.json"),
    Case("kimi-k2/tiktoken.model", "kimi_k2", slow=True),
    Case("llama2/tokenizer.json"),
    Case("llama2/tokenizer.model"),
    Case("llama2c-tok4096/tok4096.model"),
    Case("llama2c-tok512/tok512.model"),
    Case("llama3-tiktoken/tokenizer.model", "llama3", slow=True),
    Case("llama3/tokenizer.json", slow=True),
    Case("mistral-7b-v0.1/tokenizer.json", slow=True),
    Case("mistral-7b-v0.1/tokenizer.model", slow=True),
    Case("mistral-7b-v0.3/tokenizer.json", slow=True),
    Case("mistral-7b-v0.3/tokenizer.model", slow=True),
    Case("mistral-nemo/tokenizer.json", slow=True),
    Case("mistral-spm/mistral_instruct_tokenizer_240323.model.v3", slow=True),
    Case("mistral-spm/tokenizer.model.v1", slow=True),
    Case("mistral-tekken/tekken_240718.json", slow=True),
    Case("modernbert/tokenizer.json", slow=True),
    Case("mpt/tokenizer.json", slow=True),
    Case("nanochat-rustbpe-32k/tokenizer.tiktoken", "nanochat", slow=True),
    Case("nanochat-rustbpe-8k/tokenizer.tiktoken", "nanochat"),
    Case("o200k_base/o200k_base.tiktoken", slow=True),
    Case("o200k_base/o200k_base.tiktoken", "o200k_harmony", slow=True),
    Case("olmo-dolma2/tokenizer.json", slow=True),
    Case("p50k_base/p50k_base.tiktoken", slow=True),
    Case("p50k_base/p50k_base.tiktoken", "p50k_edit", slow=True),
    Case("phi-2/tokenizer.json", slow=True),
    Case("phi-3/tokenizer.json", slow=True),
    Case("qwen-tiktoken/qwen.tiktoken", "qwen", slow=True),
    Case("qwen2.5/tokenizer.json", slow=True),
    Case("qwen3/tokenizer.json", slow=True),
    Case("r50k_base/r50k_base.tiktoken", slow=True),
    Case("roberta-base/tokenizer.json", slow=True),
    Case("roberta-base/vocab.json", slow=True),
    Case("rwkv-midi/tokenizer.json"),
    Case("rwkv-world/rwkv_vocab_v20230424.txt"),
    Case("sentencepiece-test/test_ja_model.model"),
    Case("sentencepiece-test/test_model.model"),
    Case("spm-bpe-4000/spm.model"),
    Case("spm-bpe-4002/spm.model", slow=True),
    Case("spm-char-2000/spm.model"),
    Case("spm-unigram-4000/spm.model"),
    Case("spm-unigram-4001/spm.model", slow=True),
    Case("spm-word-4000/spm.model"),
    Case("starcoder2/tokenizer.json", slow=True),
    Case("t5-small/tokenizer.json"),
    Case("torchtune-toys/m.model"),
    Case("torchtune-toys/tiktoken_small.model", "llama3"),
    Case("torchtune-toys/tiktoken_small_llama4.model", "llama4", slow=True),
    Case("whisper-large-v3/tokenizer.json", slow=True),
    Case("whisper-tiktoken/gpt2.tiktoken", "whisper", slow=True),
    Case("whisper-tiktoken/multilingual.tiktoken", "whisper_large_v3", slow=True),
    Case("xlm-roberta/tokenizer.json", slow=True),
    Case("xlnet-base-cased/spiece.model", slow=True),
    Case("xlnet-base-cased/tokenizer.json", slow=True),
    Case("yi/tokenizer.json", slow=True),
)

# Two that their own library refuses, a pair whose files do not belong together, a pickle, which is
# code, and formats of other runtimes that lack what encoding needs.
REFUSED = (
    *(
        "added-tokens-test",
        "clip-openai/vocab.json",
        "llama2c-tok512/tok512.bin",
        "llm.c-gpt2/gpt2_tokenizer.bin",
    ),
    *("nanochat-rustbpe-8k/tokenizer.pkl", "pytorch-tokenizers-test"),
)


def vectors(directory: Path, case: Case) -> Iterator[dict[str, Any]]:
    """The vectors that other projects publish for a tokenizer: ``text``, ``ids``, ``add_special``,
    ``ref``.
    """
    path = directory / "vectors" / f"{case.vectors}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from (
                vector for vector in map(json.loads, lines) if vector["ref"] in case.references
            )


def corpora(directory: Path) -> list[Path]:
    """The texts, all but the two that are JSON of strings."""
    return sorted(
        path
        for path in (directory / "corpora").rglob("*")
        if path.suffix in (".txt", ".csv", ".jsonl", ".en")
    )


def stress_strings(directory: Path) -> list[str]:
    """Strings of white space, contractions, digits, emoji, combining marks and special tokens."""
    strings = json.loads(
        (directory / "corpora" / "generated" / "stress_strings.json").read_text("utf-8")
    )
    return [string if isinstance(string, str) else string["text"] for string in strings]
