"""BERT's vocab.txt: a token a line, its id the number of the line.

It becomes the tokenizer.json that ``BertWordPieceTokenizer`` of `tokenizers`, the reference, makes
of it. Whether it lower-cases stands in a tokenizer_config.json beside it (``do_lower_case``,
``strip_accents``, ``tokenize_chinese_chars``); without one it does, as the reference does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.limits import MAX_IDS
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.config import CONFIG
from tokexport.sources.tokenizer_json.document import added_token, tokenizer_document

UNKNOWN: Final = "[UNK]"
_SPECIAL: Final = (UNKNOWN, "[SEP]", "[CLS]", "[PAD]", "[MASK]")
_PREFIX: Final = "##"
_MAX_CHARACTERS: Final = 100  # of a word


@dataclass(frozen=True, slots=True)
class BertSettings:
    """What a tokenizer_config.json says of the normalizer; ``strip_accents`` None: where it
    lower-cases.
    """

    lowercase: bool = True
    strip_accents: bool | None = None
    chinese_characters: bool = True


def bert_settings(config: Node | None) -> BertSettings:
    """The settings in a tokenizer_config.json, or those of the reference."""

    def flag(name: str, otherwise: bool) -> bool:
        node = None if config is None else config.optional(name)
        return otherwise if node is None else node.boolean()

    accents = (
        None
        if config is None or config.optional("strip_accents") is None
        else flag("strip_accents", False)
    )
    return BertSettings(flag("do_lower_case", True), accents, flag("tokenize_chinese_chars", True))


def bert_note(config: Node | None, vocab: Iterable[str]) -> str | None:
    """A sentence where nothing says whether to lower-case; it counts the tokens of ``vocab`` that
    are never found then.
    """
    if config is not None and config.optional("do_lower_case") is not None:
        return None
    capitals = sum(
        token != token.lower()
        for token in vocab
        if not (token.startswith("[") and token.endswith("]"))
    )
    seems = (
        f" {capitals:,} of its tokens have capitals, so it may be a cased one: then say"
        " do_lower_case false there."
    )
    return (
        f"No do_lower_case in a {CONFIG} beside it, so it lower-cases, as BertWordPieceTokenizer of"
        f" tokenizers does.{seems if capitals else ''}"
    )


def parse_vocabulary(data: bytes, file: str, *, python: bool = False) -> dict[str, int]:
    """The ids by token; of a token that stands twice, the last line counts.

    White space after a token is no part of it, as for `tokenizers`. With ``python`` it is, and
    "\\r" ends a line too, as for the classes of `transformers` 4.57.

    >>> parse_vocabulary(b"[UNK]\\nthe\\n", "vocab.txt")
    {'[UNK]': 0, 'the': 1}
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{file}: byte {error.start} is not UTF-8") from None
    if python:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) > MAX_IDS:
        raise UnsupportedError(
            file, f"{len(lines)} lines is not supported", f"ids are supported up to {MAX_IDS - 1}"
        )
    return {line if python else line.rstrip(): number for number, line in enumerate(lines)}


def wordpiece_document(vocab: dict[str, int], file: str, settings: BertSettings) -> dict[str, Any]:
    """The tokenizer.json. SourceError where a token is missing without which the reference makes
    none.
    """
    for content in ("[SEP]", "[CLS]"):
        if content not in vocab:
            raise SourceError(
                f"{file}: there is no token {show(content)}, which BertWordPieceTokenizer needs"
            )
    special = sorted((vocab[content], content) for content in _SPECIAL if content in vocab)
    return document_of(
        vocab,
        settings,
        UNKNOWN,
        added_tokens=[added_token(number, content, special=True) for number, content in special],
        post_processor={
            "type": "BertProcessing",
            "sep": ["[SEP]", vocab["[SEP]"]],
            "cls": ["[CLS]", vocab["[CLS]"]],
        },
    )


def document_of(
    vocab: dict[str, int],
    settings: BertSettings,
    unknown: str,
    *,
    added_tokens: list[dict[str, Any]],
    post_processor: dict[str, Any],
) -> dict[str, Any]:
    """The tokenizer.json of a vocabulary that cuts a text as BERT's does."""
    return tokenizer_document(
        added_tokens=added_tokens,
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": settings.chinese_characters,
            "strip_accents": settings.strip_accents,
            "lowercase": settings.lowercase,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor=post_processor,
        decoder={"type": "WordPiece", "prefix": _PREFIX, "cleanup": True},
        model={
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": _PREFIX,
            "max_input_chars_per_word": _MAX_CHARACTERS,
            "vocab": vocab,
        },
    )
