"""The real tokenizers of a collection outside the repository: the path and the conversion of each.

The environment variable TOKEXPORT_SHARED names the collection's directory, with ``tokenizers/``,
``vectors/`` and ``corpora/`` in it; without it the tests that use this are skipped.
TOKEXPORT_SLOW=1 makes them compare everything, which takes minutes for each tokenizer.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from conformance.find import Found, find
from repository import SLOW

# A source; for ranks followed by a colon and the name of their pattern.
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
# Refused by their own library, no pair, or of runtimes that lack data for encoding.
REFUSED = (
    *("added-tokens-test", "clip-openai/vocab.json", "llama2c-tok512/tok512.bin"),
    *("llm.c-gpt2/gpt2_tokenizer.bin", "pytorch-tokenizers-test"),
)


def converted() -> list[Found]:
    """The sources to convert: all with TOKEXPORT_SLOW=1, otherwise only those with small
    vocabularies and charsmaps, which are fast. Every part of the larger ones also occurs in one of
    these, or in a small tokenizer of another test.
    """
    if not SLOW or "TOKEXPORT_SHARED" not in os.environ:
        return [Found(*name.split(":")) for name in _QUICK.split()]
    folder = Path(os.environ["TOKEXPORT_SHARED"]) / "tokenizers"
    sources, _ = find(folder, [("torchtune-toys/tiktoken_small.model", "llama3")])
    return [source for source in sources if not source.name.startswith(REFUSED)]


def corpora(directory: Path) -> list[Path]:
    """The texts, except the two that are JSON of strings."""
    return sorted(
        path
        for path in (directory / "corpora").rglob("*")
        if path.suffix in (".txt", ".csv", ".jsonl", ".en")
    )


def beginnings(directory: Path) -> Iterator[str]:
    """The first 500,000 characters of each of these texts."""
    for path in corpora(directory):
        yield path.read_text(encoding="utf-8", errors="replace")[:500_000]


def stress_strings(directory: Path) -> list[str]:
    """Strings of white space, contractions, digits, emoji, combining marks and special tokens."""
    path = directory / "corpora" / "generated" / "stress_strings.json"
    strings = json.loads(path.read_text("utf-8"))
    return [string if isinstance(string, str) else string["text"] for string in strings]
