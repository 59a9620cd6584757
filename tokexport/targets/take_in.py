"""The file of another runtime in, a tokexport file out: with that runtime's ids, or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from tokexport.conversion import Options, file_bytes
from tokexport.errors import TokexportError
from tokexport.model import BytePairModel, Prepend, Provenance, Reference, TokenizerModel
from tokexport.output import refuse_sources, resolve, write_file
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.targets.material import Material
from tokexport.targets.registry import target_of
from tokexport.targets.target import Runtime
from tokexport.verification.generators import Vocabulary, every
from tokexport.verification.report import shown

STRINGS: Final = 1000
# Those that `tokexport convert` reads by themselves, and those that say how to decode and no more.
_SOURCES: Final = ("tiktoken", "gguf", "tokenizer.json", "vocab.json")
_DECODING: Final = ("llm.c", "whisper.cpp")
_SPACE: Final = "\u2581".encode()


@dataclass(frozen=True, slots=True)
class Taken:
    """What was written: how many bytes and tokens, whether it encodes, and in how many texts its
    ids were compared with the runtime's.
    """

    size: int
    tokens: int
    encodes: bool
    compared: int


def take_in(
    path: str | os.PathLike[str],
    format: str,
    target: str | os.PathLike[str],
    *,
    force: bool = False,
) -> Taken:
    """Writes the tokexport file of a file that another runtime loads, by the name of its format.

    The ids are those of the runtime's own algorithm, which is compared on random strings. A format
    that says nothing of how a text becomes tokens gives a file that decodes and no more.

    Raises TokexportError where the ids would be others, for a format that `tokexport convert` reads
    by itself, and for a target that exists (unless ``force``); SourceError for a file that is none
    of the format.
    """
    chosen, source, out = target_of(format), Path(path), Path(target)
    refuse_sources(out, [source])
    resolved = resolve(out, force=force)
    if format in _SOURCES:
        raise TokexportError(f"{source}: {format} is a source as it is; leave --from out")
    found = chosen.read(source)
    if found.file is not None:
        content, compared = found.file, 0
    elif format in _DECODING:
        content, compared = file_bytes(_decoder(found), Options(decode_only=True)), 0
    elif found.model is None:
        raise TokexportError(
            f"{source}: a tokexport file cannot give the ids of {chosen.runtime_name}, which has no"
            " pre-tokenizer and finds special tokens between < and > in a way of its own; convert"
            " the tokenizer.json that the file was made from"
        )
    else:
        content = file_bytes(_with_spaces(found.model))
        compared = _compare(load(content), chosen.runtime(source, {}), source)
    write_file(resolved, content, force=force)
    tokens = sum(token is not None for token in found.tokens)
    return Taken(len(content), tokens, format not in _DECODING, compared)


def _decoder(found: Material) -> TokenizerModel:
    """A model of which nothing but its tokens counts."""
    tokens = tuple(found.tokens)
    vocab = {token.content: id for id, token in enumerate(tokens) if token}
    merges = np.empty((0, 3), np.int64)
    model = BytePairModel(vocab, merges)
    roles = found.special_ids
    return TokenizerModel(
        tokens, model, Reference.TIKTOKEN, Provenance(found.name), special_ids=roles
    )


def _with_spaces(model: TokenizerModel) -> TokenizerModel:
    """The model as run.c has it: its tokens have spaces, and U+2581 is a character like others."""
    inner = model.model
    assert isinstance(inner, BytePairModel)
    vocab = {key.replace(_SPACE, b" "): id for key, id in inner.vocab.items()}
    steps = tuple(step for step in model.normalizer if isinstance(step, Prepend))
    return replace(model, normalizer=steps, model=replace(inner, vocab=vocab))


def _compare(tokenizer: Tokenizer, runtime: Runtime, source: Path) -> int:
    """How many random strings get the runtime's ids: all, or TokexportError."""
    compared = 0
    vocabulary = Vocabulary.of(range(tokenizer.n_vocab), tokenizer.decode_single_token_bytes)
    for _, text in every(vocabulary, 0, STRINGS):
        expected = runtime.encode(text)
        if expected is None or "\0" in text:  # where a text of C ends
            continue
        if tokenizer.encode(text) != expected:
            raise TokexportError(
                f"{source}: a tokexport file would give other ids than the runtime for"
                f" {shown(text)}; convert the tokenizer that the file was made from"
            )
        compared += 1
    return compared
