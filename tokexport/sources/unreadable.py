"""Identifies files that are not sources, so that the refusal says what to give instead."""

import base64
import binascii
import codecs
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from tokexport.errors import SourceError, UnsupportedError
from tokexport.sources.files import decoded
from tokexport.sources.source import Input

DIRECTORY: Final = "give the directory of the model, or the file in it that holds its tokenizer"
_LIST: Final = (
    "it alone does not determine ids; give the tokenizer.json of this tokenizer, its SentencePiece"
    " model, or GPT-2's kind of vocab.json with merges.txt"
)
_KERAS: Final = (
    "a tokenizer of Keras (words by frequency)",
    "no current library gives its ids; a tokenizer.json of the library `tokenizers` has a `model`",
)
_PICKLE: Final = rb"\x80[\x02-\x05]"
# How a file begins, what it is, and what to do instead.
_STARTS: Final = (
    (rb"\x89TKX", "a tokexport file, the result of a conversion", "give what it was made from"),
    (rb"PK\x03\x04", "a zip archive (such as a PyTorch checkpoint)", DIRECTORY),
    (rb"\xff\xfe|\xfe\xff", "UTF-16, as PowerShell redirects", "save it as UTF-8"),
    (rb"lCRF", "a model of CRFsuite, which labels words and holds no tokenizer", DIRECTORY),
    (
        rb"\xc8\xd7\x34\x01",
        "a tokenizer.bin of llm.c, which only says how ids are decoded",
        "convert it with --from llm.c",
    ),
    (
        # The length of the longest token, then the first record: a score, a length and a text.
        rb".{8}\x05\0{3}<unk>",
        "a tokenizer.bin of llama2.c, whose program encodes in its own way",
        "convert it with --from llama2.c",
    ),
    (
        # The size of the header, eight bytes, then the header, which is JSON.
        rb'.{4}\0{4}\{"',
        "a file of weights (safetensors)",
        f"{DIRECTORY}; `inspect` and `encode` read a tokexport file that is embedded in it",
    ),
    (rb'"\{\\"class_name\\": \\"Tokenizer\\"', *_KERAS),  # a string of JSON
    (_PICKLE, "a Python pickle", "give a pickle of a tiktoken.Encoding, as nanochat saves it"),
)
_TIKTOKEN: Final = b"tiktoken.core"
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_WORD: Final = re.compile(rb"[^\s\0-\x1f]+\s*")
_NUMBERED: Final = re.compile(rb"\S+[ \t]+[0-9]+\s*")
# Common text files of numbered lines that are not tokenizers.
_LISTS: Final = (
    (
        re.compile(rb"[0-9]+[ \t]+[0-9]+\s*"),
        "a text of pairs of numbers (YouTokenToMe's, which is not supported, or merges of digits)",
    ),
    (
        re.compile(rb"[^\t]+\t(?:-[0-9][-+.0-9e]*|0)\s*"),
        "a list of pieces with their scores, which SentencePiece writes beside its model",
    ),
    (
        _NUMBERED,
        "a list of tokens with their counts (fairseq's dict.txt, or one of CTRL or subword-nmt)",
    ),
    (
        re.compile(rb"\S+ \S+ [0-9]+\s*"),
        "a list of merges with their counts (codes of fastBPE: XLM, FlauBERT, PhoBERT)",
    ),
)


def refuse_by_head(source: Input) -> None:
    """Raises if the first bytes are not those of a source, so that a large file is not read."""
    head, file = source.head, source.name
    if source.path is None or source.is_folder:
        return
    if not head:
        raise SourceError("the file is empty", name=file)
    if head.startswith(_LFS_POINTER):
        problem = "it is a pointer of Git LFS, not the file itself"
        raise SourceError(problem, "run `git lfs pull`", name=file)
    for start, what, hint in _STARTS if not is_pickle_of_tiktoken(head) else ():
        if re.match(start, head, re.DOTALL):
            _refuse(file, what, hint)


def is_pickle_of_tiktoken(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a pickled ``tiktoken.Encoding``.

    >>> is_pickle_of_tiktoken(b"\\x80\\x04\\x8c\\rtiktoken.core\\x94\\x8c\\x08Encoding")
    True
    """
    return re.match(_PICKLE, head) is not None and _TIKTOKEN in head


def refuse(source: Input, supported: str, others: Sequence[str]) -> NoReturn:
    """Raises for a file of no known format, and says what it is, or that it is not text.
    ``others``: the other files of its directory, if that was given, that may be a tokenizer.
    """
    file = source.name
    if source.json is not None:
        _refuse_object(file, source.json.object(repeats=True))
    what = list_without_ids(source.lines)
    if what is not None:
        _refuse(file, what, _LIST)
    known = f"the file is of no known binary format; {supported}"
    bare = decoded(source.data, file, known).removeprefix("\ufeff").strip()
    is_json = (
        bare in ("null", "true", "false") or bare[:1] + bare[-1:] == '""' or is_array(source.data)
    )
    what, hint = "text that is not a vocabulary", DIRECTORY
    if is_json:
        what = "JSON that is not an object"
    elif len(source.lines) > 1 and all(map(_WORD.fullmatch, source.lines)):
        what, hint = "a list of tokens without BERT's [UNK]", _LIST
    _refuse(file, what, f"give another file: {', '.join(others)}" if others else hint)


def _refuse_object(file: str, fields: Mapping[str, Any]) -> NoReturn:
    if are_settings(fields):
        other = "file with its vocabulary" if file == "tokenizer.json" else "tokenizer.json"
        _refuse(file, "a tokenizer_config.json", f"give the {other}, or the directory with both")
    if "model_type" in fields or "architectures" in fields:
        _refuse(file, "the config.json of a model", DIRECTORY)
    if "miditok_version" in fields:
        hint = "its ids are those of MidiTok's own vocabulary, which only MidiTok reads"
        _refuse(file, "a tokenizer of MidiTok (music, not text)", hint)
    if fields.get("class_name") == "Tokenizer":
        _refuse(file, *_KERAS)
    _refuse(file, "a JSON object of another kind", DIRECTORY)


def _refuse(file: str, what: str, instead: str) -> NoReturn:
    raise UnsupportedError(file, f"it is {what}", instead)


def are_settings(fields: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a tokenizer_config.json by its content: no vocabulary.

    >>> are_settings({"tokenizer_class": "X"}), are_settings({"tokenizer_class": "X", "model": {}})
    (True, False)
    """
    has_settings = "tokenizer_class" in fields or "added_tokens_decoder" in fields
    return has_settings and "model" not in fields


def is_array(data: bytes) -> bool:
    """Whether a text is meant as a JSON array; a vocabulary can begin and end with brackets too."""
    bare = data.removeprefix(codecs.BOM_UTF8).strip()
    return bare[:1] == b"[" and bare[-1:] == b"]" and b"\n[" not in data


def list_without_ids(lines: Sequence[bytes]) -> str | None:
    """What a text of numbered lines is if the numbers are not ids; None for any other text."""
    for pattern, what in _LISTS if lines else ():
        are_ranks = pattern is _NUMBERED and are_mostly_base64(lines)
        if all(map(pattern.fullmatch, lines)) and not are_ranks:
            return what
    return None


def are_mostly_base64(lines: Sequence[bytes]) -> bool:
    """Whether most first words are base64: others can look like it, and ranks can be broken."""
    return 2 * sum(_is_base64(line.split()[0]) for line in lines if line.strip()) >= len(lines)


def _is_base64(word: bytes) -> bool:
    try:
        return word == b"=" or bool(base64.b64decode(word, validate=True))
    except binascii.Error:
        return False
