"""The reference libraries, behind one small protocol: their ids are the right ones."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tokexport.errors import SourceError
from tokexport.model import Split
from tokexport.readers import read, tokenizer_file
from tokexport.readers.detect import Kind, detect
from tokexport.readers.gpt2_pair import sibling
from tokexport.readers.source_files import SourceFiles
from tokexport.references.protocol import AddedContent, Mode, ReferenceStopsError, ReferenceTokenizer, version_note

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["AddedContent", "Mode", "ReferenceStopsError", "ReferenceTokenizer", "reference_for", "version_note"]


def reference_for(
    source: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> ReferenceTokenizer:
    """The reference library's tokenizer for a source; the kinds of source are those of :func:`tokexport.readers.read`.

    Raises SourceError where the library refuses it, and TokexportError if the library is not installed.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)}
    >>> special = {"<end>": 256}
    >>> encoding = tiktoken.Encoding("bytes", pat_str=r"\\S+|\\s", mergeable_ranks=ranks, special_tokens=special)
    >>> reference_for(encoding).encode("a<end>", special=True)
    [97, 256]
    """
    if not isinstance(source, (str, os.PathLike)):
        return _for_object(source)
    path = tokenizer_file(Path(source))
    files = SourceFiles(path.parent)
    data = files.read(path.name)
    kind, _ = detect(data, path.name)
    if kind is Kind.RANKS:
        return _for_ranks(path, data, pattern, special_tokens)
    if kind is Kind.SENTENCEPIECE:
        from tokexport.references.sentencepiece_reference import SentencePieceReference

        return SentencePieceReference.from_bytes(data, path)
    from tokexport.references.tokenizers_reference import TokenizersReference

    if kind is Kind.TOKENIZER_JSON:
        return TokenizersReference.from_json(path)
    vocab, merges = sibling(path.name, files)
    return TokenizersReference.from_vocab_and_merges(path.parent / vocab, path.parent / merges, special_tokens or {})


def _for_object(source: object) -> ReferenceTokenizer:
    if hasattr(source, "to_str"):
        import tokenizers

        from tokexport.references.tokenizers_reference import TokenizersReference

        assert isinstance(source, tokenizers.Tokenizer)
        # A copy: the reference changes settings, and the object is the caller's.
        return TokenizersReference(tokenizers.Tokenizer.from_str(source.to_str()))
    import tiktoken

    from tokexport.references.tiktoken_reference import TiktokenReference

    if not isinstance(source, tiktoken.Encoding):
        raise TypeError(f"no reference for a {type(source).__module__}.{type(source).__qualname__}")
    return TiktokenReference(source)


def _for_ranks(
    path: Path, data: bytes, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> ReferenceTokenizer:
    """The ranks are parsed here as tiktoken does it; the pattern and the special tokens come from the reader."""
    from tokexport.references.tiktoken_reference import TiktokenReference

    model = read(path, pattern=pattern, special_tokens=special_tokens)
    split = model.splits[0]
    assert isinstance(split, Split)
    expression = split.pattern
    assert isinstance(expression, str)
    ranks: dict[bytes, int] = {}
    for line in data.splitlines():
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    if len(ranks) < sum(1 for line in data.splitlines() if line):
        raise SourceError(f"{path}: two lines hold the same token")
    return TiktokenReference.from_parts(ranks, expression, {token.content: token.id for token in model.added_tokens})
