"""The tokenizer in a GGUF file (``tokenizer.ggml.*``).

A GGUF holds less than what it was made from, so it is read as that: a byte-level BPE ("gpt2") or a WordPiece vocabulary ("bert") as the
tokenizer.json with the same tokens, a SentencePiece vocabulary ("llama", "t5") as the ``.model`` with the same pieces, RWKV's ("rwkv") as
the vocabulary file. The references are those of these. What the GGUF leaves out (flags of added tokens, truncation) is left out here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tokexport.errors import SourceError, TokexportError, UnsupportedError
from tokexport.model import Provenance, SpecialIds, Template, TemplatePiece, TokenizerModel
from tokexport.readers import sentencepiece
from tokexport.readers.gguf_patterns import ORIGINALS
from tokexport.readers.huggingface import read_tokenizer_json
from tokexport.readers.huggingface_document import added_token, byte_level, tokenizer_document
from tokexport.readers.json_node import Node, show
from tokexport.readers.rwkv_vocabulary import read_rwkv
from tokexport.readers.sentencepiece_proto import Algorithm, NormalizerSpec, Piece, PieceType, SentencePieceModel
from tokexport.readers.source_files import SourceFiles
from tokexport.readers.wordpiece_vocabulary import BertSettings, wordpiece_document

MAGIC: Final = b"GGUF"
_PREFIX: Final = "tokenizer."
_ROLES: Final = {"bos": "bos_token_id", "eos": "eos_token_id", "pad": "padding_token_id", "unk": "unknown_token_id"}
_STOPS: Final = ("eos_token_id", "eot_token_id", "eom_token_id")
# The tokenizers of these names lower-case, which a GGUF does not say. The converter finds a name from the ids of a text: every
# model with the vocabulary of bert-base-uncased has one of the two, whichever the converter asks for last.
_UNCASED: Final = ("bert-bge", "jina-v2-en")
# Without tokenizer.ggml.unknown_token_id.
_UNKNOWN: Final = {"llama": 0, "t5": 2}
_SPACE_SYMBOL: Final = "\u2581"
_SUPPORTED: Final = 'the models "gpt2", "llama", "t5", "bert" and "rwkv" are supported'
# How Python writes bytes that are no printable ASCII.
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|([tnr\\'\"]))")
_ESCAPED: Final = {"t": b"\t", "n": b"\n", "r": b"\r"}


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The values of a GGUF without ``tokenizer.ggml.`` before their names; ``token_types`` are NORMAL where there are none."""

    file: str
    values: dict[str, Any]
    tokens: list[str]
    types: list[PieceType]
    chat_template: str | None

    @property
    def model(self) -> str:
        """Which kind of tokenizer it is."""
        return str(self.values.get("model"))

    def number(self, name: str) -> int | None:
        """An id, or None where there is none of this name."""
        value = self.values.get(name)
        if value is None or (type(value) is int and 0 <= value < len(self.tokens)):
            return value
        raise SourceError(f"{self.file}: tokenizer.ggml.{name} is {show(value)}; expected the id of a token")

    def flag(self, name: str, otherwise: bool) -> bool:
        """A flag, or what counts where the file does not say."""
        value = self.values.get(name, otherwise)
        if isinstance(value, bool):
            return value
        raise SourceError(f"{self.file}: tokenizer.ggml.{name} is {show(value)}; expected true or false")

    def array(self, name: str, kind: type, size: int | None) -> list[Any]:
        """An array of one kind, of ``size`` elements where that is given."""
        value = self.values.get(name)
        if not isinstance(value, list) or (value and type(value[0]) is not kind) or size not in (None, len(value)):
            count = "" if size is None else f"{size} "
            raise SourceError(
                f"{self.file}: tokenizer.ggml.{name} is no array of {count}values of type {kind.__name__}"
            )
        return value


def parse_gguf(path: Path) -> GgufTokenizer:
    """The tokenizer in a GGUF file; SourceError for a file without one, TokexportError without the package `gguf`."""
    try:
        from tokexport.readers.gguf_metadata import read_metadata
    except ImportError as error:
        raise TokexportError(
            "the package `gguf` is not installed, and GGUF files are read with it; pip install 'tokexport[gguf]'"
        ) from error
    file = path.name
    values = read_metadata(path, _PREFIX)
    inner = {name.removeprefix("tokenizer.ggml."): value for name, value in values.items()}
    if "model" not in inner:
        raise SourceError(f"{file}: there is no tokenizer.ggml.model in this GGUF file, so it has no tokenizer")
    source = GgufTokenizer(file, inner, [], [], None)
    tokens = source.array("tokens", str, None)
    types = source.array("token_type", int, len(tokens)) if "token_type" in inner else [1] * len(tokens)
    wrong = next((value for value in types if value not in set(PieceType)), None)
    if wrong is not None:
        raise SourceError(f"{file}: tokenizer.ggml.token_type holds {wrong}; expected a number from 1 to 6")
    template = values.get("tokenizer.chat_template")
    return replace(
        source,
        tokens=tokens,
        types=[PieceType(value) for value in types],
        chat_template=template if isinstance(template, str) else None,
    )


def read_gguf(path: Path, files: SourceFiles) -> TokenizerModel:
    """The model of the tokenizer in a GGUF file."""
    source = parse_gguf(path)
    name = source.file
    if source.model in ("gpt2", "bert"):
        # Nothing that stands beside a GGUF is about it.
        model = read_tokenizer_json(Node(name, "", gguf_document(source)), SourceFiles(None, files.sha256), "GGUF")
    elif source.model == "rwkv":
        model = read_rwkv(gguf_rwkv(source), name, SourceFiles(None, files.sha256))
        model = replace(model, provenance=Provenance("GGUF", model.provenance.sha256))
    else:
        model = sentencepiece.build(gguf_sentencepiece(source), SourceFiles(None, files.sha256), Provenance("GGUF"))
        model = replace(model, template=_template(source))
    ids = {role: source.number(key) for role, key in _ROLES.items()}
    stops = {number for key in _STOPS if (number := source.number(key)) is not None}
    return replace(
        model,
        special_ids=SpecialIds(**ids, stop=tuple(sorted(stops))),
        chat_template=source.chat_template,
    )


def gguf_document(source: GgufTokenizer) -> dict[str, Any]:
    """The tokenizer.json that says the same, for the models "gpt2" and "bert"."""
    _refuse_twice(source)
    if source.model == "bert":
        return _bert_document(source)
    name = str(source.values.get("pre"))
    original = ORIGINALS.get(name)
    if original is None:
        raise UnsupportedError(
            f"{source.file}: tokenizer.ggml.pre",
            show(source.values.get("pre")),
            "the names whose pattern is known are "
            + ", ".join(ORIGINALS)
            + "; convert the tokenizer.json of the model instead",
        )
    merges: list[str] = source.array("merges", str, None)
    vocab = {token: number for number, token in enumerate(source.tokens) if not _is_padding(source, number)}
    return tokenizer_document(
        added_tokens=[
            added_token(number, token, special=source.types[number] is PieceType.CONTROL)
            for token, number in vocab.items()
            if source.types[number] in (PieceType.CONTROL, PieceType.USER_DEFINED)
        ],
        normalizer=original.normalizer,
        pre_tokenizer=original.pre_tokenizer,
        post_processor=_template_document(source, original.add_bos),
        decoder=byte_level(True),
        model={"type": "BPE", "ignore_merges": original.ignore_merges, "vocab": vocab, "merges": merges},
    )


def _is_padding(source: GgufTokenizer, number: int) -> bool:
    """Whether it is no token of the original: llama.cpp's converter fills the ids up to the size of the embedding."""
    return source.types[number] is PieceType.UNUSED or source.tokens[number] == f"[PAD{number}]"


def _bert_document(source: GgufTokenizer) -> dict[str, Any]:
    if source.values.get("pre") not in _UNCASED:
        raise UnsupportedError(
            f"{source.file}: tokenizer.ggml.pre",
            show(source.values.get("pre")),
            "for a WordPiece vocabulary the names known to lower-case or not are " + ", ".join(_UNCASED),
        )
    vocab = {_wordpiece(token): number for number, token in enumerate(source.tokens)}
    if len(vocab) < len(source.tokens):
        raise SourceError(f"{source.file}: two tokens of tokenizer.ggml.tokens are one in the spelling of WordPiece")
    return wordpiece_document(vocab, source.file, BertSettings())


def _wordpiece(token: str) -> str:
    """WordPiece's spelling: in a GGUF the start of a word is marked, not its continuation."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[1:] if token.startswith(_SPACE_SYMBOL) else "##" + token


def gguf_rwkv(source: GgufTokenizer) -> bytes:
    """The vocabulary file (``rwkv_vocab_*.txt``) that says the same, for the model "rwkv".

    The converter writes a token as Python writes its bytes, without the quotes. The first token, which ends a text, is in no such file.
    """
    lines = []
    for number, text in enumerate(source.tokens):
        if source.types[number] is PieceType.CONTROL or _is_padding(source, number):
            continue
        token = _unescaped(source, number, text)
        lines.append(b"%d %s %d\n" % (number, repr(token).encode("ascii"), len(token)))
    return b"".join(lines)


def _unescaped(source: GgufTokenizer, number: int, text: str) -> bytes:
    rest = _ESCAPE.sub("", text)
    if "\\" in rest or not all(" " <= character <= "~" for character in rest):
        raise SourceError(
            f"{source.file}: tokenizer.ggml.tokens[{number}] is {show(text)}; expected printable ASCII and escapes as Python writes them"
        )
    parts: list[bytes] = []
    at = 0
    for escape in _ESCAPE.finditer(text):
        parts.append(text[at : escape.start()].encode())
        parts.append(bytes((int(escape[1], 16),)) if escape[1] else _ESCAPED.get(escape[2], escape[2].encode()))
        at = escape.end()
    return b"".join((*parts, text[at:].encode()))


def gguf_sentencepiece(source: GgufTokenizer) -> SentencePieceModel:
    """The SentencePiece model that says the same, for the models "llama" and "t5"."""
    algorithms = {"llama": Algorithm.BPE, "t5": Algorithm.UNIGRAM}
    if source.model not in algorithms:
        raise UnsupportedError(f"{source.file}: tokenizer.ggml.model", show(source.values["model"]), _SUPPORTED)
    scores = source.array("scores", float, len(source.tokens))
    charsmap = source.values.get("precompiled_charsmap", [])
    unigram = source.model == "t5"
    unknown = _unknown_id(source)
    pieces = [
        Piece(text, score, _piece_type(source, number, unknown))
        for number, (text, score) in enumerate(zip(source.tokens, scores, strict=True))
    ]
    return SentencePieceModel(
        file=source.file,
        pieces=tuple(pieces),
        algorithm=algorithms[source.model],
        byte_fallback=PieceType.BYTE in source.types,
        normalizer=NormalizerSpec(
            charsmap=_bytes(source, charsmap),
            add_dummy_prefix=source.flag("add_space_prefix", True),
            remove_extra_whitespaces=source.flag("remove_extra_whitespaces", unigram),
        ),
    )


def _unknown_id(source: GgufTokenizer) -> int:
    """As the file says; else the only token of the type; else what llama.cpp takes."""
    number = source.number("unknown_token_id")
    if number is not None:
        return number
    typed = [number for number, kind in enumerate(source.types) if kind is PieceType.UNKNOWN]
    return typed[0] if len(typed) == 1 else _UNKNOWN[source.model]


def _piece_type(source: GgufTokenizer, number: int, unknown: int) -> PieceType:
    """Converters call padding unknown or unused, and the unknown token a control token. What no text gives is a control piece here."""
    if number == unknown:
        return PieceType.UNKNOWN
    kind = source.types[number]
    is_padding = source.tokens[number] == f"[PAD{number}]"
    return PieceType.CONTROL if kind is PieceType.UNKNOWN or is_padding else kind


def _bytes(source: GgufTokenizer, values: Sequence[int]) -> bytes:
    try:
        return bytes(value & 0xFF for value in values)
    except TypeError:
        raise SourceError(f"{source.file}: tokenizer.ggml.precompiled_charsmap is no array of bytes") from None


def _refuse_twice(source: GgufTokenizer) -> None:
    seen: dict[str, int] = {}
    for number, token in enumerate(source.tokens):
        first = seen.setdefault(token, number)
        if first != number:
            raise SourceError(
                f"{source.file}: tokenizer.ggml.tokens[{first}] and [{number}] are both {show(token)}; a token has one id"
            )


def _around(source: GgufTokenizer, add_bos: bool, add_eos: bool = False) -> tuple[int | None, int | None]:
    """The ids before and behind each text."""
    bos = source.number("bos_token_id") if source.flag("add_bos_token", add_bos) else None
    eos = source.number("eos_token_id") if source.flag("add_eos_token", add_eos) else None
    return bos, eos


def _template(source: GgufTokenizer) -> Template:
    """llama.cpp's defaults: BOS before a text of "llama", EOS behind one of "t5"."""
    bos, eos = _around(source, source.model == "llama", source.model == "t5")

    def around(sequence: str, type_id: int) -> tuple[TemplatePiece, ...]:
        pieces = (
            TemplatePiece(id=bos, type_id=type_id),
            TemplatePiece(sequence, type_id=type_id),
            TemplatePiece(id=eos, type_id=type_id),
        )
        return tuple(piece for piece in pieces if piece.id is not None or piece.sequence is not None)

    return Template(around("A", 0), (*around("A", 0), *around("B", 1)))


def _template_document(source: GgufTokenizer, add_bos: bool) -> dict[str, Any] | None:
    bos, eos = _around(source, add_bos)
    if bos is None and eos is None:
        return None

    def around(sequence: str, type_id: int) -> list[dict[str, Any]]:
        special = [
            None if number is None else {"SpecialToken": {"id": source.tokens[number], "type_id": type_id}}
            for number in (bos, eos)
        ]
        middle = {"Sequence": {"id": sequence, "type_id": type_id}}
        return [part for part in (special[0], middle, special[1]) if part is not None]

    names = {source.tokens[number]: number for number in (bos, eos) if number is not None}
    return {
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": [*around("A", 0), *around("B", 1)],
        "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in names.items()},
    }
