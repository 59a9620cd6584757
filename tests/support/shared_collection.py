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
        others = [f"{kind}:{self.source}" for kind in ("sp", "tekken", "gguf")]
        return frozenset((f"tiktoken:{self.pattern or folder}", *others))


# A source, and for ranks a colon and the name of their pattern.
_QUICK = """
    albert-style-30k-clean/30k-clean.model bert-base-cased/tokenizer.json
    bert-base-uncased/vocab.txt clip-openai/bpe_simple_vocab_16e6.txt.gz
    deepseek-coder-instruct/tokenizer.json gpt2/tokenizer.json
    iree-bpe_bytelevel_minimal/tokenizer.json iree-bpe_bytelevel_unicode/tokenizer.json
    iree-wordpiece_bert_pair_minimal/tokenizer.json llama2/tokenizer.json llama2/tokenizer.model
    llama2c-tok4096/tok4096.model llama2c-tok512/tok512.model
    nanochat-rustbpe-8k/tokenizer.pkl nanochat-rustbpe-8k/tokenizer.tiktoken:nanochat
    rwkv-midi/tokenizer.json
    rwkv-world/rwkv_vocab_v20230424.txt sentencepiece-test/test_ja_model.model
    sentencepiece-test/test_model.model spm-bpe-4000/spm.model spm-char-2000/spm.model
    spm-unigram-4000/spm.model spm-word-4000/spm.model t5-small/tokenizer.json
    torchtune-toys/m.model torchtune-toys/tiktoken_small.model:llama3
"""
_SLOW = """
    bert-base-uncased/tokenizer.json bpemb-en/en.wiki.bpe.vs100000.model
    cl100k_base/cl100k_base.tiktoken clip/tokenizer.json deepseek-v3/tokenizer.json
    falcon/tokenizer.json gemma3/tokenizer.json gguf/ggml-vocab-bert-bge.gguf
    gguf/ggml-vocab-deepseek-coder.gguf gguf/ggml-vocab-falcon.gguf gguf/ggml-vocab-gpt-2.gguf
    gguf/ggml-vocab-llama-spm.gguf gguf/ggml-vocab-phi-3.gguf gguf/ggml-vocab-qwen2.gguf
    gpt-neox-20b/tokenizer.json gpt-oss/tokenizer.json gpt2/vocab.json gte-small/tokenizer.json
    kimi-k2/tiktoken.model:kimi_k2 llama3-tiktoken/tokenizer.model:llama3 llama3/tokenizer.json
    mistral-7b-v0.1/tokenizer.json mistral-7b-v0.1/tokenizer.model
    mistral-7b-v0.3/tokenizer.json mistral-7b-v0.3/tokenizer.model mistral-nemo/tokenizer.json
    mistral-spm/mistral_instruct_tokenizer_240323.model.v3 mistral-spm/tokenizer.model.v1
    mistral-tekken/tekken_240718.json modernbert/tokenizer.json mpt/tokenizer.json
    nanochat-rustbpe-32k/tokenizer.tiktoken:nanochat o200k_base/o200k_base.tiktoken
    o200k_base/o200k_base.tiktoken:o200k_harmony olmo-dolma2/tokenizer.json
    p50k_base/p50k_base.tiktoken p50k_base/p50k_base.tiktoken:p50k_edit phi-2/tokenizer.json
    phi-3/tokenizer.json qwen-tiktoken/qwen.tiktoken:qwen qwen2.5/tokenizer.json
    qwen3/tokenizer.json r50k_base/r50k_base.tiktoken roberta-base/tokenizer.json
    roberta-base/vocab.json spm-bpe-4002/spm.model spm-unigram-4001/spm.model
    starcoder2/tokenizer.json torchtune-toys/tiktoken_small_llama4.model:llama4
    whisper-large-v3/tokenizer.json whisper-tiktoken/gpt2.tiktoken:whisper
    whisper-tiktoken/multilingual.tiktoken:whisper_large_v3 xlm-roberta/tokenizer.json
    xlnet-base-cased/spiece.model xlnet-base-cased/tokenizer.json yi/tokenizer.json
"""


def _cases(sources: str, slow: bool) -> Iterator[Case]:
    for name in sources.split():
        source, _, pattern = name.partition(":")
        yield Case(source, pattern or None, slow)


CONVERTED = (*_cases(_QUICK, slow=False), *_cases(_SLOW, slow=True))

# Two that their own library refuses, a pair whose files do not belong together, and formats of
# other runtimes that lack what encoding needs.
_REFUSED = (
    "added-tokens-test clip-openai/vocab.json llama2c-tok512/tok512.bin"
    " llm.c-gpt2/gpt2_tokenizer.bin pytorch-tokenizers-test"
)
REFUSED = tuple(_REFUSED.split())


def vectors(directory: Path, case: Case) -> Iterator[dict[str, Any]]:
    """The vectors that other projects publish for a tokenizer: ``text``, ``ids``, ``add_special``,
    ``ref``.
    """
    path = directory / "vectors" / f"{case.vectors}.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = map(json.loads, lines)
            yield from (vector for vector in found if vector["ref"] in case.references)


def corpora(directory: Path) -> list[Path]:
    """The texts, all but the two that are JSON of strings."""
    return sorted(
        path
        for path in (directory / "corpora").rglob("*")
        if path.suffix in (".txt", ".csv", ".jsonl", ".en")
    )


def stress_strings(directory: Path) -> list[str]:
    """Strings of white space, contractions, digits, emoji, combining marks and special tokens."""
    path = directory / "corpora" / "generated" / "stress_strings.json"
    strings = json.loads(path.read_text("utf-8"))
    return [string if isinstance(string, str) else string["text"] for string in strings]
