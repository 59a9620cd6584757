"""The tokenizers that are measured, and the libraries that tokexport is compared with.

A subject is one tokenizer. Each library loads it from the file format that it reads itself;
tokexport, from a file that is converted for the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sentencepiece
import tokenizers
from fast_peers import tiktoken_encoding  # which also sets one thread for every library

import tokexport
from tokexport.conversion import convert

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))

Encode = Callable[[Sequence[str]], list[list[int]]]


@dataclass(frozen=True)
class Subject:
    """A tokenizer: its name, its kind, and the file that each library reads.

    ``source`` is what tokexport converts, with ``pattern`` if it is a file of ranks.
    """

    name: str
    model: str
    source: Path
    peers: tuple[tuple[str, Path], ...]
    pattern: str | None = None


def subjects() -> list[Subject]:
    """All subjects, from ``$TOKEXPORT_SHARED/tokenizers``; if it is not set, those that
    fixtures/fetch.py downloads.
    """
    if "TOKEXPORT_SHARED" not in os.environ:
        return _fetched()
    folder = Path(os.environ["TOKEXPORT_SHARED"]).resolve() / "tokenizers"

    def json(name: str, label: str, model: str, *others: tuple[str, Path]) -> Subject:
        path = folder / name / "tokenizer.json"
        return Subject(label, model, path, (("tokenizers", path), *others))

    o200k = folder / "o200k_base" / "o200k_base.tiktoken"
    llama3 = folder / "llama3-tiktoken" / "tokenizer.model"
    llama2 = folder / "llama2" / "tokenizer.model"
    xlnet = folder / "xlnet-base-cased" / "spiece.model"
    return [
        Subject("GPT-4o", "BPE over bytes", o200k, (("tiktoken", o200k),), "o200k_base"),
        json("llama3", "Llama 3", "BPE over bytes", ("tiktoken", llama3)),
        json("deepseek-v3", "DeepSeek V3", "BPE over bytes, three stages"),
        json("llama2", "Llama 2", "BPE over characters", ("sentencepiece", llama2)),
        json("gemma3", "Gemma 3", "BPE over characters"),
        json("t5-small", "T5", "Unigram"),
        Subject("XLNet", "Unigram", xlnet, (("sentencepiece", xlnet),)),
        json("bert-base-uncased", "BERT", "WordPiece"),
    ]


def _fetched() -> list[Subject]:
    from fetch import fetch

    _, o200k, *_ = fetch("openai")
    llama3, deepseek = fetch("llama")[0], fetch("deepseek")[0]
    return [
        Subject("GPT-4o", "BPE over bytes", o200k, (("tiktoken", o200k),), "o200k_base"),
        Subject("Llama 3", "BPE over bytes", llama3, (("tiktoken", llama3),), "llama3"),
        Subject("DeepSeek", "BPE over bytes", deepseek, (("tokenizers", deepseek),)),
    ]


def libraries(subject: Subject, target: Path) -> dict[str, Callable[[], Encode]]:
    """tokexport, with a file created at ``target``, then the peers: each opens the tokenizer and
    returns its encoder. Special tokens in a text are plain text, and no template is applied.
    """
    model = convert(
        subject.source, target, pattern=subject.pattern, self_test=False, force=True
    ).model
    loaders: dict[str, Callable[[Path], Encode]] = {
        "tiktoken": lambda path: _one_by_one(tiktoken_encoding(path, model).encode_ordinary),
        "tokenizers": _tokenizers,
        "sentencepiece": _sentencepiece,
    }
    peers = {name: partial(loaders[name], path) for name, path in subject.peers}
    return {"tokexport": lambda: _one_by_one(tokexport.load(target).encode_ordinary), **peers}


def _one_by_one(encode: Callable[[str], list[int]]) -> Encode:
    return lambda texts: [encode(text) for text in texts]


def _tokenizers(path: Path) -> Encode:
    """Uses the library's fastest call on one thread, which leaves out offsets."""
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encode = tokenizer.encode_batch_fast
    return lambda texts: [found.ids for found in encode(texts, add_special_tokens=False)]


def _sentencepiece(path: Path) -> Encode:
    return _one_by_one(sentencepiece.SentencePieceProcessor(model_file=str(path)).encode)
