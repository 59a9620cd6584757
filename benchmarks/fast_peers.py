"""The libraries that are measured for every kind of work, with the same interface.

A kind of work is a call with one input: a text for ``list`` and ``array``, texts for ``batch``, a
list of ids for ``decode`` and ``step``. A library that does not support a kind has no call for it;
libraries that are not installed are left out. Special tokens in a text are plain text; one thread.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from texts import shared_tokenizers

if TYPE_CHECKING:
    import tiktoken

    from tokexport.model import TokenizerModel

# These are read when the libraries are imported.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

Calls = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True)
class Subject:
    """A tokenizer: its name, the file that the other libraries read, the name of the pattern if
    that file has ranks, and tokexport's own file.
    """

    name: str
    path: Path
    pattern: str | None
    file: Path

    def convert(self) -> None:
        """Makes tokexport's own file."""
        from tokexport.conversion import convert

        convert(self.path, self.file, pattern=self.pattern, self_test=False, force=True)


def of_ranks(name: str, file: Path) -> Subject:
    """An encoding of the collection of real tokenizers, by the name of its pattern."""
    return Subject(name, shared_tokenizers() / name / f"{name}.tiktoken", name, file)


def of_document(label: str, name: str, file: Path) -> Subject:
    """A tokenizer.json of the collection."""
    return Subject(label, shared_tokenizers() / name / "tokenizer.json", None, file)


def _tokexport(subject: Subject) -> Calls:
    import tokexport

    tokenizer = tokexport.load(subject.file)

    def step(ids: list[int]) -> str:
        step = tokenizer.decode_stream().step
        return "".join([step(id) or "" for id in ids])

    return {
        "list": tokenizer.encode,
        "array": tokenizer.encode_to_numpy,
        "batch": lambda texts: tokenizer.encode_batch(texts, num_threads=1),
        "decode": tokenizer.decode,
        "step": step,
    }


def tiktoken_encoding(ranks: Path, model: TokenizerModel) -> tiktoken.Encoding:
    """The encoding of a file of ranks, with the pattern and the special tokens of the model."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    return tiktoken.Encoding(
        ranks.stem,
        pat_str=model.pre_tokenizer[0].pattern,  # type: ignore[union-attr, arg-type]
        mergeable_ranks=load_tiktoken_bpe(str(ranks)),
        special_tokens={token.content: token.id for token in model.added_tokens},
    )


def _tiktoken(subject: Subject) -> Calls:
    from tokexport.sources import read

    encoding = tiktoken_encoding(subject.path, read(subject.path, pattern=subject.pattern))

    return {
        "list": encoding.encode_ordinary,
        "array": encoding.encode_to_numpy,
        "batch": lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1),
        "decode": encoding.decode,
        "step": partial(_step, encoding.decode_single_token_bytes),
    }


def _step(decode: Callable[[int], bytes], ids: list[int]) -> str:
    """Without a streaming decoder: the bytes of one id after the other."""
    return b"".join([decode(id) for id in ids]).decode(errors="replace")


def _gigatoken(subject: Subject) -> Calls:
    import gigatoken

    kind = gigatoken.Tokenizer.from_tiktoken if subject.pattern else gigatoken.Tokenizer
    tokenizer = kind(str(subject.path))
    return {
        "list": lambda text: tokenizer.encode(text).tolist(),
        "long list": lambda text: tokenizer.encode_batch_list([text], parallel=False)[0],
        "array": tokenizer.encode,
        "batch": lambda texts: tokenizer.encode_batch_list(texts, parallel=False),
        "decode": lambda ids: tokenizer.decode(ids).decode(errors="replace"),
    }


def _fastokens(subject: Subject) -> Calls:
    import fastokens

    if subject.pattern:
        kind = fastokens.Tokenizer.from_tiktoken
        tokenizer = kind(str(subject.path), encoding=subject.pattern)
    else:
        tokenizer = fastokens.Tokenizer.from_file(str(subject.path))

    return {
        "list": lambda text: tokenizer.encode(text, split_special_tokens=True).ids,
        "array": lambda text: tokenizer.encode_batch_flat([text], split_special_tokens=True)[0],
        "decode": tokenizer.decode,
    }


def _tokenizers(subject: Subject) -> Calls:
    """0.23, or 1.0, which has no streaming decoder and takes all options per call."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(subject.path))
    options = {"add_special_tokens": False}
    calls: dict[str, Callable[[Any], Any]] = {}
    if hasattr(tokenizer, "encode_special_tokens"):
        tokenizer.encode_special_tokens = True
        batch = tokenizer.encode_batch_fast

        def step(ids: list[int]) -> str:
            stream = tokenizers.decoders.DecodeStream(skip_special_tokens=False)
            return "".join([stream.step(tokenizer, id) or "" for id in ids])

        calls["step"] = step
    else:
        options["encode_special_tokens"] = True
        batch = tokenizer.encode_batch
    return calls | {
        "list": lambda text: list(tokenizer.encode(text, **options).ids),
        "batch": lambda texts: [list(one.ids) for one in batch(texts, **options)],
        "decode": lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
    }


def _rs_bpe(subject: Subject) -> Calls:
    from rs_bpe.bpe import openai

    tokenizer = getattr(openai, subject.name)()
    return {
        "list": tokenizer.encode,
        "batch": lambda texts: tokenizer.encode_batch(texts)[0],
        "decode": tokenizer.decode,
    }


def _quicktok(subject: Subject) -> Calls:
    import quicktok

    encoding = quicktok.get_encoding(subject.name)
    step = partial(_step, encoding.decode_single_token_bytes)
    return {"list": encoding.encode_ordinary, "decode": encoding.decode, "step": step}


def _sentencepiece(subject: Subject) -> Calls:
    import sentencepiece

    path = subject.path.with_name("tokenizer.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return {"list": processor.encode, "batch": processor.encode, "decode": processor.decode}


# By name: the module, how to load a tokenizer, and which tokenizers are supported.
LIBRARIES: Mapping[str, tuple[str, Callable[[Subject], Calls], Callable[[Subject], bool]]] = {
    "tokexport": ("tokexport", _tokexport, lambda _: True),
    "tiktoken": ("tiktoken", _tiktoken, lambda subject: subject.pattern is not None),
    "tokenizers": ("tokenizers", _tokenizers, lambda subject: subject.pattern is None),
    "gigatoken": ("gigatoken", _gigatoken, lambda _: True),
    "fastokens": ("fastokens", _fastokens, lambda _: True),
    "rs-bpe": ("rs_bpe", _rs_bpe, lambda subject: subject.pattern is not None),
    "quicktok": ("quicktok", _quicktok, lambda subject: subject.pattern is not None),
    "sentencepiece": (
        "sentencepiece",
        _sentencepiece,
        lambda subject: subject.path.with_name("tokenizer.model").is_file(),
    ),
}


def names(subject: Subject) -> list[str]:
    """The installed libraries that support a tokenizer, tokexport first."""
    return [
        name
        for name, (module, _, does) in LIBRARIES.items()
        if find_spec(module) is not None and does(subject)
    ]


def report_missing(wanted: Iterable[str] = LIBRARIES, others: Sequence[str] = ()) -> None:
    """Prints which of the wanted libraries are not installed, and others that are left out."""
    absent = [name for name in wanted if find_spec(LIBRARIES[name][0]) is None]
    if absent or others:
        print(f"Not installed, and left out: {', '.join([*absent, *others])}.", file=sys.stderr)


def load(name: str, subject: Subject) -> Calls:
    """Opens a tokenizer with one library."""
    return LIBRARIES[name][1](subject)
