"""Converts another runtime's file to a tokexport file with exactly that runtime's ids, or not."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from tokexport.conversion import Options, file_bytes
from tokexport.errors import SourceError, TokexportError, reading
from tokexport.model import BytePairModel, Provenance, Reference, TokenizerModel
from tokexport.output import refuse_sources, resolve, write_file
from tokexport.runtime.tokenizer import Tokenizer, load
from tokexport.targets.material import Material
from tokexport.targets.registry import target_of
from tokexport.targets.target import Runtime
from tokexport.verification.generators import Vocabulary, every
from tokexport.verification.report import shown

STRINGS: Final = 1000
# Formats that `tokexport convert` reads directly.
_SOURCES: Final = ("tiktoken", "gguf", "tokenizer.json", "vocab.json")
_SPACE: Final = "\u2581".encode()


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written: bytes, tokens, whether it encodes, and how many texts were compared."""

    size: int
    tokens: int
    encodes: bool
    compared: int


def convert_from(
    path: str | os.PathLike[str],
    format: str,
    target: str | os.PathLike[str],
    *,
    force: bool = False,
) -> Converted:
    """Converts a file that another runtime loads, in the named format, to a tokexport file.

    The ids are those of the runtime's own algorithm, compared on random strings. A format that does
    not define how a text becomes tokens produces a decode-only file.

    Raises TokexportError if the ids would differ, for a format that `tokexport convert` reads
    directly, and for a target that exists (unless ``force``); SourceError for a file that is not of
    the format.
    """
    chosen, source, out = target_of(format), Path(path), Path(target)
    refuse_sources(out, [source])
    if format in _SOURCES:
        raise TokexportError(f"{source}: {format} is already a source", "leave out --from")
    with reading(source):
        found = chosen.read(source)
    resolved = resolve(target, force=force)
    encodes = found.file is not None or found.scores is not None  # else it only defines decoding
    if found.file is not None:
        content, compared = found.file, 0
    elif not any(found.tokens):
        raise SourceError(f"{source}: it has no tokens, or is not of this format")
    elif not encodes:
        content, compared = file_bytes(_decoder(found), Options(decode_only=True)), 0
    elif found.model is None:
        raise TokexportError(
            f"{source}: a tokexport file cannot give the ids of {chosen.runtime_name}, which has"
            " no pre-tokenizer and finds special tokens between < and > in its own way",
            "convert the tokenizer.json that the file was made from",
        )
    else:
        content = file_bytes(_with_spaces(found.model))
        compared = _compare(load(content), chosen.runtime(source, {}), source)
    write_file(resolved, content, force=force)
    tokens = sum(token is not None for token in found.tokens)
    return Converted(len(content), tokens, encodes, compared)


def _decoder(found: Material) -> TokenizerModel:
    """A model of which only the tokens matter."""
    tokens, roles, source = tuple(found.tokens), found.special_ids, Provenance(found.name)
    vocab = {token.content: id for id, token in enumerate(tokens) if token}
    model = BytePairModel(vocab, np.empty((0, 3), np.int64))
    return TokenizerModel(tokens, model, Reference.TIKTOKEN, source, special_ids=roles)


def _with_spaces(model: TokenizerModel) -> TokenizerModel:
    """The model as in run.c: its tokens contain spaces, and U+2581 is an ordinary character."""
    inner, normalizer = model.model, model.piece_normalizer
    assert isinstance(inner, BytePairModel)
    assert normalizer is not None
    vocab = {key.replace(_SPACE, b" "): id for key, id in inner.vocab.items()}
    normalizer = replace(normalizer, escapes=False)
    return replace(model, piece_normalizer=normalizer, model=replace(inner, vocab=vocab))


def _compare(tokenizer: Tokenizer, runtime: Runtime, source: Path) -> int:
    """The number of random strings compared. TokexportError if one gets other ids."""
    compared = 0
    vocabulary = Vocabulary.of(range(tokenizer.n_vocab), tokenizer.decode_single_token_bytes)
    for _, text in every(vocabulary, 0, STRINGS):
        expected = runtime.encode(text)
        if expected is None or "\0" in text:  # a C string ends at NUL
            continue
        if tokenizer.encode(text) != expected:
            raise TokexportError(
                f"{source}: a tokexport file would give other ids than the runtime for"
                f" {shown(text)}",
                "convert the tokenizer that the file was made from",
            )
        compared += 1
    return compared
