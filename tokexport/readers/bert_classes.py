"""vocab.txt beside a tokenizer_config.json: whether the class that it names reads it as BERT's does, and which tokens it adds.

Source of the classes: convert_slow_tokenizer.py of ``transformers`` 4.57, where these have ``BertConverter``. Others cut a text into words
by another library (MeCab, jieba), or have other special tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tokexport.errors import UnsupportedError
from tokexport.model import AddedToken
from tokexport.readers.added_tokens_json import ADDED_TOKENS
from tokexport.readers.class_tokens import class_tokens
from tokexport.readers.huggingface_config import CONFIG, NAMES_NO_CLASS, SAVE, tokenizer_class
from tokexport.readers.json_node import Node, show
from tokexport.readers.source_files import SourceFiles
from tokexport.readers.wordpiece_vocabulary import UNKNOWN, BertSettings, wordpiece_document

_CLASSES: Final = (
    "BertTokenizer",
    "ConvBertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "LayoutLMTokenizer",
    "LxmertTokenizer",
    "MobileBertTokenizer",
    "RealmTokenizer",
    "RetriBertTokenizer",
    "SqueezeBertTokenizer",
)
_ROLES: Final = {
    "unk_token": UNKNOWN,
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
# The rest may be another token's.
_FIXED: Final = ("unk_token", "sep_token", "cls_token")
# Settings with which words are cut otherwise, and the values with which they are not.
_SETTINGS: Final[Mapping[str, tuple[object, ...]]] = {
    "word_tokenizer_type": ("basic",),
    "subword_tokenizer_type": ("wordpiece",),
    "never_split": ([],),
    "do_basic_tokenize": (True,),
    "do_word_tokenize": (True,),
    "do_subword_tokenize": (True,),
}


def is_named(config: Node | None) -> bool:
    """Whether a tokenizer_config.json names a class that says how a vocab.txt is read."""
    return tokenizer_class(config) not in NAMES_NO_CLASS


def check_bert(config: Node | None, file: str) -> None:
    """UnsupportedError where a tokenizer_config.json says that the vocabulary ``file`` is not read as BERT's."""
    if config is None:
        return
    for name, known in _SETTINGS.items():
        setting = config.optional(name)
        if setting is not None and setting.value not in known:
            raise UnsupportedError(
                file,
                f"{name} {show(setting.value)}, which {CONFIG} has,",
                f"with it words are cut otherwise than BERT's are; if there is a tokenizer.json, give that ({SAVE})",
            )
    if is_named(config) and tokenizer_class(config) not in _CLASSES:
        raise UnsupportedError(
            file,
            f"a vocab.txt of the class {show(tokenizer_class(config))}, which {CONFIG} or config.json names,",
            f"of this class give the tokenizer.json ({SAVE}); vocab.txt is read of {', '.join(_CLASSES)}",
        )


def bert_document(
    config: Node, vocab: dict[str, int], file: str, settings: BertSettings, files: SourceFiles
) -> dict[str, Any]:
    """The tokenizer.json for a class that is named: with the added tokens that ``config`` and the files beside it name."""
    document = wordpiece_document(vocab, file, settings)
    defaults = {role: AddedToken(0, content, special=True) for role, content in _ROLES.items()}
    tokens = class_tokens(config, files, vocab, defaults)
    for role in _FIXED:
        if tokens.roles.get(role) != _ROLES[role]:
            raise UnsupportedError(
                file,
                f"{role} {show(tokens.roles.get(role))} for a vocab.txt",
                f"{show(_ROLES[role])} is; give the tokenizer.json ({SAVE})",
            )
    return {**document, "added_tokens": tokens.entries()}


def left_out(config: Node | None, files: SourceFiles) -> tuple[str, ...]:
    """A note for each place that lists added tokens where no class says how they are added."""
    places = (
        [f"added_tokens_decoder of {CONFIG}"] if config is not None and config.optional("added_tokens_decoder") else []
    )
    places += [ADDED_TOKENS] if files.has(ADDED_TOKENS) else []
    return tuple(
        f"{place} is not read, since no {CONFIG} names the tokenizer's class; the added tokens are those of BertWordPieceTokenizer "
        "of tokenizers."
        for place in places
    )
