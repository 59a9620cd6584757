"""The reference libraries, after one small protocol: their ids are the right ones."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokexport.errors import SourceError
from tokexport.model import Split
from tokexport.sources import document, kind_of, read, tokenizer_file
from tokexport.sources.detect import Kind
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf.read import MAGIC as GGUF_MAGIC
from tokexport.sources.gguf.read import gguf_document, gguf_rwkv, gguf_sentencepiece
from tokexport.sources.gguf.source import parse_gguf
from tokexport.sources.hub import local_source
from tokexport.sources.json_node import Node
from tokexport.sources.reference import (
    AddedContent,
    Mode,
    ReferenceStopsError,
    ReferenceTokenizer,
    version_note,
)
from tokexport.sources.sentencepiece.serialize import serialize
from tokexport.sources.tiktoken.tekken import parse_tekken
from tokexport.sources.tokenizer_json.config import read_class_config
from tokexport.sources.vocab_files.bert_classes import is_named
from tokexport.sources.vocab_files.gpt2_pair import pair_added_tokens, parse_merges, sibling
from tokexport.sources.vocab_files.pair_classes import pair_document
from tokexport.sources.vocab_files.rwkv_reference import RwkvReference
from tokexport.sources.vocab_files.wordpiece import bert_settings

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = [
    "AddedContent",
    "Mode",
    "ReferenceStopsError",
    "ReferenceTokenizer",
    "reference_for",
    "version_note",
]


def reference_for(
    source: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
) -> ReferenceTokenizer:
    """The reference library's tokenizer for a source; the kinds of source are those of
    :func:`tokexport.sources.read`.

    Raises SourceError where the library refuses it, and TokexportError if the library is not
    installed.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)}
    >>> special = {"<end>": 256}
    >>> encoding = tiktoken.Encoding("bytes", pat_str=r"\\S+|\\s", mergeable_ranks=ranks, special_tokens=special)
    >>> reference_for(encoding).encode("a<end>", special=True)
    [97, 256]
    """
    source = local_source(source, revision)
    if not isinstance(source, (str, os.PathLike)):
        return _for_object(source)
    path = tokenizer_file(Path(source))
    files = SourceFiles(path.parent)
    if files.starts_with(path.name, GGUF_MAGIC):
        return _for_gguf(path, pattern)
    data = files.read(path.name)
    kind, node = kind_of(data, path.name, files)
    if kind is Kind.RANKS:
        return _for_ranks(path, data, pattern, special_tokens)
    if node is not None and kind is Kind.TOKENIZER_JSON and node.object().get("version") == "2.0":
        from tokexport.sources.tokenizer_json_2.reference import Tokenizers1Reference

        return Tokenizers1Reference(path)
    if kind is Kind.SENTENCEPIECE:
        from tokexport.sources.sentencepiece.reference import SentencePieceReference

        return SentencePieceReference.from_bytes(data, path)
    if kind is Kind.RWKV:
        return RwkvReference(data)
    if kind is Kind.TEKKEN:
        return _for_tekken(json.loads(data))
    from tokexport.sources.tokenizer_json.reference import TokenizersReference

    if kind is Kind.TOKENIZER_JSON:
        return TokenizersReference.from_json(path)
    if kind is Kind.WORDPIECE and not is_named(read_class_config(files)):
        return TokenizersReference.from_wordpiece(path, bert_settings(read_class_config(files)))
    if kind not in (Kind.VOCAB_JSON, Kind.MERGES):
        return TokenizersReference.from_document(document(kind, data, path.name, files), path)
    vocab, merges = sibling(path.name, files)
    pairs = [(merge.left, merge.right) for merge in parse_merges(files.read(merges), merges)]
    found = pair_document(vocab, json.loads(files.read(vocab)), pairs, files)
    if found is not None:
        return TokenizersReference.from_document(found, path)
    added = pair_added_tokens(files, special_tokens)
    return TokenizersReference.from_vocab_and_merges(
        path.parent / vocab, path.parent / merges, added
    )


def _for_gguf(path: Path, pattern: str | None) -> ReferenceTokenizer:
    source = parse_gguf(path, pattern)
    if source.model in ("gpt2", "bert"):
        from tokexport.sources.tokenizer_json.reference import TokenizersReference

        return TokenizersReference.from_document(gguf_document(source), path)
    if source.model == "rwkv":
        return RwkvReference(gguf_rwkv(source))
    from tokexport.sources.sentencepiece.reference import SentencePieceReference

    return SentencePieceReference.from_bytes(serialize(gguf_sentencepiece(source)), path)


def _for_tekken(document: dict[str, Any]) -> ReferenceTokenizer:
    """As mistral-common does it, but that the special tokens are tiktoken's: their ids come first."""
    from tokexport.sources.tiktoken.reference import TiktokenReference

    encoding = parse_tekken(Node("tekken.json", "", document))
    first = document["config"]["default_num_special_tokens"]
    count = document["config"]["default_vocab_size"] - first
    ranks = {
        base64.b64decode(entry["token_bytes"]): first + entry["rank"]
        for entry in document["vocab"][:count]
    }
    return TiktokenReference.from_parts(
        ranks, document["config"]["pattern"], encoding.special_tokens
    )


def _for_object(source: object) -> ReferenceTokenizer:
    if hasattr(source, "to_str"):
        import tokenizers

        from tokexport.sources.tokenizer_json.reference import TokenizersReference

        assert isinstance(source, tokenizers.Tokenizer)
        # A copy: the reference changes settings, and the object is the caller's.
        return TokenizersReference(tokenizers.Tokenizer.from_str(source.to_str()))
    import tiktoken

    from tokexport.sources.tiktoken.reference import TiktokenReference

    if not isinstance(source, tiktoken.Encoding):
        raise TypeError(f"no reference for a {type(source).__module__}.{type(source).__qualname__}")
    return TiktokenReference(source)


def _for_ranks(
    path: Path, data: bytes, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> ReferenceTokenizer:
    """The ranks are parsed here as tiktoken does it; the pattern and the special tokens come from
    the reader.
    """
    from tokexport.sources.tiktoken.reference import TiktokenReference

    model = read(path, pattern=pattern, special_tokens=special_tokens)
    split = model.pre_tokenizer[0]
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
    return TiktokenReference.from_parts(
        ranks, expression, {token.content: token.id for token in model.added_tokens}
    )
