"""Readers: a source of any kind that is known becomes a TokenizerModel.

>>> import base64, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "bytes.tiktoken")
>>> lines = (b"%s %d" % (base64.b64encode(bytes([byte])), byte) for byte in range(256))
>>> _ = path.write_bytes(b"\\n".join(lines))
>>> read(path, pattern="cl100k_base", special_tokens={"<|end|>": 256}).tokens[256].content
b'<|end|>'
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import TokenizerModel
from tokexport.sources.byte_pair import read_vocab
from tokexport.sources.detect import SUPPORTED, Kind, detect
from tokexport.sources.directory import TOKENIZER_JSON, VOCABULARY, directory_notes, tokenizer_file
from tokexport.sources.files import SourceFiles
from tokexport.sources.gguf.read import MAGIC as GGUF_MAGIC
from tokexport.sources.gguf.read import read_gguf
from tokexport.sources.hub import local_source
from tokexport.sources.json_node import Node, parse
from tokexport.sources.sentencepiece.read import read_sentencepiece
from tokexport.sources.tiktoken.encoding import read_encoding
from tokexport.sources.tiktoken.ranks import read_ranks
from tokexport.sources.tiktoken.tekken import read_tekken
from tokexport.sources.tokenizer_json.config import read_class_config, tokenizer_class
from tokexport.sources.tokenizer_json.object import read_tokenizer
from tokexport.sources.tokenizer_json.read import read_tokenizer_json
from tokexport.sources.vocab_files.bert_classes import bert_document, check_bert, is_named, left_out
from tokexport.sources.vocab_files.clip import clip_document, is_clip, published_vocabulary
from tokexport.sources.vocab_files.gpt2_pair import check_kind, parse_merges, read_pair, sibling
from tokexport.sources.vocab_files.minbpe import minbpe_document
from tokexport.sources.vocab_files.pair_classes import check_merges, pair_document
from tokexport.sources.vocab_files.rwkv import read_rwkv
from tokexport.sources.vocab_files.word_pair_classes import WORD_CLASSES
from tokexport.sources.vocab_files.wordpiece import (
    bert_note,
    bert_settings,
    parse_vocabulary,
    wordpiece_document,
)

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["document", "kind_of", "read", "tokenizer_file"]


def read(
    source: str | os.PathLike[str] | tiktoken.Encoding | tokenizers.Tokenizer,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    revision: str | None = None,
) -> TokenizerModel:
    """The model of a tokenizer: a file, a directory, the name of a repository of the Hugging Face
    hub, a ``tiktoken.Encoding`` or a ``tokenizers.Tokenizer``.

    What a file is is found from its content. ``pattern`` (a known name or a regular expression) and
    ``special_tokens`` (ids by content) are for rank files, which hold neither; ``special_tokens``
    also for vocab.json with merges.txt. For a GGUF that has no tokenizer.ggml.pre, or one that is
    not known, ``pattern`` is the name of one that is. Beside a file called tokenizer.json the files
    tokenizer_config.json, generation_config.json and chat_template.jinja are read where they are
    there. ``revision`` is the branch, tag or commit of a repository; a name is a repository's where
    it is a string ``owner/name`` and no such path is on the disk.

    Raises SourceError for a file that is broken or that its own library refuses, UnsupportedError
    for what cannot be exact.
    """
    source = local_source(source, revision)
    if isinstance(source, (str, os.PathLike)):
        path = tokenizer_file(Path(source))
        try:
            model = _read_file(path, pattern, special_tokens)
        except UnsupportedError as error:
            error.file = str(path)
            raise
        notes = directory_notes(Path(source), path) if Path(source).is_dir() else ()
        return replace(model, notes=(*model.notes, *notes)) if notes else model
    if pattern is not None or special_tokens is not None:
        raise SourceError(
            "a tokenizer object has its own pattern and special tokens: pattern and special_tokens"
            " are for rank files"
        )
    if all(hasattr(source, name) for name in ("_pat_str", "_mergeable_ranks", "_special_tokens")):
        return read_encoding(source)  # type: ignore[arg-type]
    if hasattr(source, "to_str") and hasattr(source, "get_added_tokens_decoder"):
        return read_tokenizer(source)  # type: ignore[arg-type]
    raise TypeError(
        f"cannot read a {type(source).__module__}.{type(source).__qualname__}; {SUPPORTED}"
    )


def _read_file(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerModel:
    files = SourceFiles(path.parent)
    name = path.name
    if files.starts_with(name, GGUF_MAGIC):
        _refuse_arguments(name, "GGUF file", None, special_tokens)
        return read_gguf(files.digested(name), files, pattern)
    data = files.read(name)
    kind, node = kind_of(data, name, files)
    if kind is Kind.RANKS:
        return read_ranks(data, name, files, pattern, special_tokens)
    if kind in (Kind.VOCAB_JSON, Kind.MERGES):
        return _read_pair(data, name, files, node, pattern, special_tokens)
    _refuse_arguments(name, kind.value, pattern, special_tokens)
    match kind:
        case Kind.SENTENCEPIECE:
            return read_sentencepiece(data, name, files)
        case Kind.RWKV:
            return read_rwkv(data, name, files)
        case Kind.TEKKEN:
            assert node is not None
            return read_tekken(node, files)
        case Kind.TOKENIZER_JSON:
            assert node is not None
            # Under another name nothing says that what stands beside it belongs to it.
            return read_tokenizer_json(
                node, files if name == TOKENIZER_JSON else SourceFiles(None, files.sha256)
            )
        case _:
            model = read_tokenizer_json(
                Node(name, "", document(kind, data, name, files)), files, kind.value
            )
            return (
                model
                if kind is not Kind.WORDPIECE
                else replace(model, notes=(*model.notes, *_bert_notes(data, name, files)))
            )


def kind_of(data: bytes, name: str, files: SourceFiles) -> tuple[Kind, Node | None]:
    """What the file ``name`` is, by its content, and where it is JSON its root. ``files`` are those
    beside it.

    A vocab.txt whose class is named is one of that class: it need not have the token ``[UNK]``, by
    which others are recognised.
    """
    if name == VOCABULARY and is_named(read_class_config(files)):
        return Kind.WORDPIECE, None
    return detect(data, name)


def document(kind: Kind, data: bytes, name: str, files: SourceFiles) -> dict[str, Any]:
    """The tokenizer.json that says the same as a file of one of the kinds that have such."""
    match kind:
        case Kind.WORDPIECE:
            config = read_class_config(files)
            check_bert(config, name)
            if config is not None and is_named(config):
                vocab = parse_vocabulary(data, name, python=True)
                return bert_document(config, vocab, name, bert_settings(config), files)
            return wordpiece_document(parse_vocabulary(data, name), name, bert_settings(config))
        case Kind.MINBPE:
            return minbpe_document(data, name)
        case Kind.CLIP:
            return clip_document(*published_vocabulary(data, name))
        case _:
            raise AssertionError(kind)


def _bert_notes(data: bytes, name: str, files: SourceFiles) -> tuple[str, ...]:
    config = read_class_config(files)
    note = bert_note(config, parse_vocabulary(data, name))
    return (
        *(() if is_named(config) else left_out(config, files)),
        *(() if note is None else (note,)),
    )


def _refuse_arguments(
    name: str, kind: str, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> None:
    if pattern is not None:
        raise UnsupportedError(
            name,
            f"a pattern for a {kind} is not supported",
            "a pattern can be given for tiktoken ranks and for GGUF, which hold none",
        )
    if special_tokens is not None:
        raise UnsupportedError(
            name, f"special tokens for a {kind} is not supported", "it names its own"
        )


def _read_pair(
    data: bytes,
    name: str,
    files: SourceFiles,
    node: Node | None,
    pattern: str | None,
    special_tokens: Mapping[str, int] | None,
) -> TokenizerModel:
    _refuse_arguments(name, "vocab.json with merges.txt", pattern, None)
    class_name = tokenizer_class(read_class_config(files))
    words = class_name in WORD_CLASSES
    if node is not None and not words and not is_clip(node.object(repeats=True)):
        check_kind(
            name, node.object(repeats=True)
        )  # before the other file is looked for, whose name depends on the kind
    try:
        vocab_name, merges_name = sibling(name, files)
    except SourceError:
        if node is None and not words:
            check_kind(name, {}, parse_merges(data, name))
        raise
    vocab = (
        node
        if node is not None and name == vocab_name
        else parse(files.read(vocab_name), vocab_name)
    )
    merges = data if name == merges_name else files.read(merges_name)
    pairs = [(merge.left, merge.right) for merge in parse_merges(merges, merges_name)]
    found = pair_document(vocab_name, read_vocab(vocab), pairs, files)
    if found is not None:
        check_merges(class_name, merges, merges_name)
        named = class_name or "CLIP"
        _refuse_arguments(name, f"vocab.json of {named}", None, special_tokens)
        return read_tokenizer_json(Node(vocab_name, "", found), files, f"vocab.json of {named}")
    return read_pair(vocab, merges, merges_name, files, special_tokens)
