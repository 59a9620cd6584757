"""What a source file is, found from its content and not from its name."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NoReturn

from tokexport.errors import SourceError, UnsupportedError
from tokexport.file.layout import MAGIC
from tokexport.sources.json_node import Node, parse
from tokexport.sources.vocab_files.minbpe import MAGIC as MINBPE_MAGIC
from tokexport.sources.vocab_files.rwkv import LINE as RWKV_LINE

SUPPORTED: Final = (
    "supported sources are tokenizer.json, SentencePiece models, GGUF, tiktoken ranks, tekken.json,"
    " vocab.json with merges.txt, WordPiece's vocab.txt, CLIP's and RWKV's vocabularies and"
    " minbpe's models; from Python also a tiktoken.Encoding and a tokenizers.Tokenizer"
)


class Kind(Enum):
    """The kinds of file that can be read."""

    TOKENIZER_JSON = "tokenizer.json"
    VOCAB_JSON = "vocab.json"
    MERGES = "merges.txt"
    RANKS = "tiktoken ranks"
    SENTENCEPIECE = "SentencePiece model"
    TEKKEN = "tekken.json"
    WORDPIECE = "WordPiece vocabulary"
    RWKV = "RWKV vocabulary"
    MINBPE = "minbpe model"
    CLIP = "vocabulary of CLIP"


_MAGICS: Final = (
    (MAGIC, "a tokexport file, the result of a conversion"),
    (b"PK\x03\x04", "a zip archive (PyTorch checkpoints are such)"),
    (b"\xc8\xd7\x34\x01", "a tokenizer.bin of llm.c"),
)
_GZIP: Final = b"\x1f\x8b"
_PICKLE: Final = re.compile(rb"\x80[\x02-\x05]")
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
# The first field of a SentencePiece model is a piece (field 1, a message), whose first field is its
# text (field 1, a string).
_SENTENCEPIECE: Final = re.compile(rb"\x0a.\x0a.", re.DOTALL)
_OBJECT: Final = re.compile(rb'\{\s*["}]')
_RANK_LINE: Final = re.compile(rb"(?:[A-Za-z0-9+/]+={0,2}|=)[ \t]+[0-9]+\s*")
_SAMPLE_LINES: Final = 20


_NUMBERED: Final = re.compile(rb"\S+[ \t]+[0-9]+\s*")
# Text of numbered lines that is often met and is no tokenizer.
_WITHOUT_IDS: Final = (
    (
        re.compile(rb"[0-9]+[ \t]+[0-9]+\s*"),
        (
            "a text of pairs of numbers (a model of YouTokenToMe, or merges of digits without their"
            " vocab.json)"
        ),
    ),
    (
        re.compile(rb"[^\t]+\t(?:-[0-9][-+.0-9e]*|0)\s*"),
        "a list of pieces with their scores, which SentencePiece writes beside its model",
    ),
    (
        _NUMBERED,
        (
            "a list of tokens with their counts (a dict.txt of fairseq, a vocabulary of CTRL or of"
            " subword-nmt)"
        ),
    ),
    (
        re.compile(rb"\S+ \S+ [0-9]+\s*"),
        (
            "a list of merges with their counts (codes of fastBPE, as XLM, FlauBERT and PhoBERT"
            " have them)"
        ),
    ),
)
TEXTS_WITHOUT_IDS: Final = tuple(what for _, what in _WITHOUT_IDS)


def detect(data: bytes, file: str) -> tuple[Kind, Node | None]:
    """The kind of ``data``, with the parsed document where it is JSON.

    Raises SourceError for what is no source at all, UnsupportedError, which says what it is, for
    what is recognised but cannot be read.
    """
    if not data:
        raise SourceError(f"{file}: the file is empty")
    if data.startswith(_LFS_POINTER):
        raise SourceError(
            f"{file}: it is a pointer of Git LFS, not the file itself; fetch it with: git lfs pull"
        )
    for magic, what in _MAGICS:
        if data.startswith(magic):
            _refuse(file, what)
    if _PICKLE.match(data):
        _refuse(
            file,
            "a Python pickle",
            "to load one is to run the code in it, so it is never loaded; give the"
            " tokenizer.tiktoken beside it, or load it yourself where you trust it and pass the"
            " tiktoken.Encoding to tokexport from Python",
        )
    if data.startswith(_GZIP):
        return Kind.CLIP, None
    if _is_sentencepiece(data):
        return Kind.SENTENCEPIECE, None
    if _is_json(data):
        node = parse(data, file)
        return _json_kind(node), node
    return _text_kind(data, file), None


def _refuse(file: str, what: str, instead: str = SUPPORTED) -> NoReturn:
    raise UnsupportedError(file, f"{what} is not supported", instead)


def _is_sentencepiece(data: bytes) -> bool:
    if not _SENTENCEPIECE.match(data):
        return False
    # The text must lie in the piece, and after it must come the next one or a spec; lengths under
    # 128 take one byte.
    piece, text = data[1], data[3]
    end = 2 + piece
    return text + 2 <= piece < 128 and (
        len(data) == end or data[end : end + 1] in (b"\x0a", b"\x12", b"\x1a")
    )


def _is_json(data: bytes) -> bool:
    """Whether it is meant as a JSON object; a vocabulary in another encoding can begin with a brace
    too.
    """
    text = data.removeprefix(codecs.BOM_UTF8).lstrip()
    if _OBJECT.match(text):
        return True
    try:
        return text.startswith(b"{") and bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _json_kind(node: Node) -> Kind:
    fields = node.object(repeats=True)
    if fields and all(type(value) is int for value in fields.values()):
        return Kind.VOCAB_JSON
    if "model" in fields or "added_tokens" in fields:
        return Kind.TOKENIZER_JSON
    if isinstance(fields.get("config"), dict) and isinstance(fields.get("vocab"), list):
        return Kind.TEKKEN
    if "bpe_ranks" in fields and "pat_str" in fields:
        _refuse(node.file, "a tiktoken encoding as JSON")
    if are_settings(fields):
        instead = (
            "the tokenizer.json"
            if node.file != "tokenizer.json"
            else "the file with its vocabulary"
        )
        _refuse(node.file, "a tokenizer_config.json", f"give {instead}, or the directory with both")
    if fields.get("class_name") == "Tokenizer":
        _refuse(
            node.file,
            "a tokenizer of Keras (words by how often they come)",
            "no library of today gives its ids; the tokenizer.json of the library `tokenizers` has"
            ' a field "model"',
        )
    return _refuse(node.file, "a JSON object of another kind")


def are_settings(fields: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a tokenizer_config.json, whatever its name: settings, without a
    vocabulary.

    >>> are_settings({"tokenizer_class": "T5Tokenizer"}), are_settings({"tokenizer_class": "X", "model": {}})
    (True, False)
    """
    if "model" in fields or "added_tokens" in fields:
        return False
    return "tokenizer_class" in fields or "added_tokens_decoder" in fields


def _text_kind(data: bytes, file: str) -> Kind:
    lines = [line for line in data[: 1 << 16].splitlines()[:_SAMPLE_LINES] if line]
    if data.startswith(MINBPE_MAGIC):
        return Kind.MINBPE
    if lines and all(RWKV_LINE.fullmatch(line) for line in lines[:3]):
        return Kind.RWKV
    for pattern, what in _WITHOUT_IDS:
        if (
            lines
            and all(pattern.fullmatch(line) for line in lines)
            and not (pattern is _NUMBERED and _are_ranks(lines))
        ):
            _refuse(
                file,
                what,
                "no id is to be had from it alone; give the tokenizer.json of this tokenizer, its"
                " SentencePiece model, or GPT-2's kind of vocab.json with merges.txt",
            )
    if lines and all(_RANK_LINE.fullmatch(line) for line in lines[:3]):
        return Kind.RANKS
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{file}: byte {error.start} is not UTF-8, and the file is of no binary kind known"
            f" here; {SUPPORTED}"
        ) from None
    if data.lstrip()[:1] == b"[" and data.rstrip()[-1:] == b"]" and b"\n[" not in data:
        _refuse(file, "a JSON array")
    if b"[UNK]" in data.splitlines():
        return Kind.WORDPIECE
    if data.startswith(b"#version") or (
        lines and all(len(line.split(b" ")) == 2 and all(line.split(b" ")) for line in lines)
    ):
        return Kind.MERGES
    return _refuse(file, "text of another kind")


def _are_ranks(lines: list[bytes]) -> bool:
    """Whether most of the numbered tokens are base64; words of a length that four divides look like
    it too, and a rank may be broken.
    """
    return 2 * sum(_is_base64(line.split()[0]) for line in lines) >= len(lines)


def _is_base64(word: bytes) -> bool:
    try:
        return word == b"=" or bool(base64.b64decode(word, validate=True))
    except binascii.Error:
        return False
