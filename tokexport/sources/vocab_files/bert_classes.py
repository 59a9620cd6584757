"""vocab.txt beside a tokenizer_config.json that names its class: the tokenizer.json that
`transformers` makes of it.

Source of the parts: the converters in convert_slow_tokenizer.py and the fast tokenizers of
``transformers`` 4.57. All of these cut a text as BERT's does; they differ in their special tokens,
and in what is put around a text. 5.23 gives the same ids, but for the class of DPR, in which it
always lower-cases, and for lines of a vocabulary that end in white space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.config import CONFIG, NAMES_NO_CLASS, SAVE, tokenizer_class
from tokexport.sources.tokenizer_json.document import special, template, text
from tokexport.sources.vocab_files.added_tokens_json import ADDED_TOKENS, MORE
from tokexport.sources.vocab_files.class_tokens import ClassTokens, class_tokens
from tokexport.sources.vocab_files.python_classes import without_document
from tokexport.sources.vocab_files.wordpiece import UNKNOWN, BertSettings, document_of


class _Around(Enum):
    """What stands around two texts, besides cls_token before them and sep_token after each."""

    BERT = "nothing more"
    MPNET = "another sep_token between them"
    FUNNEL = "nothing more, and cls_token has a type of its own"
    SPLINTER = "question_token and a full stop after the question"


@dataclass(frozen=True, slots=True)
class _VocabularyClass:
    """A class: its special tokens by role, and what it puts around a text.

    ``basic``: do_basic_tokenize false changes nothing in it. ``strings``: it gives its special
    tokens no flags of its own.
    """

    special: Mapping[str, AddedToken]
    around: _Around = _Around.BERT
    basic: bool = True
    strings: bool = True


def _tokens(**contents: str) -> dict[str, AddedToken]:
    return {role: AddedToken(0, content, special=True) for role, content in contents.items()}


_QUESTION: Final = "[QUESTION]"
_STOP: Final = "."
_BERT: Final = _VocabularyClass(
    _tokens(
        unk_token=UNKNOWN,
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
    )
)
_CLASSES: Final[Mapping[str, _VocabularyClass]] = {
    **dict.fromkeys(
        (
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
        ),
        _BERT,
    ),
    "LayoutLMv2Tokenizer": _VocabularyClass(_BERT.special, basic=False, strings=False),
    "SplinterTokenizer": _VocabularyClass(_BERT.special, _Around.SPLINTER, basic=False),
    "MPNetTokenizer": _VocabularyClass(
        {
            **_tokens(
                bos_token="<s>",
                eos_token="</s>",
                unk_token=UNKNOWN,
                sep_token="</s>",
                pad_token="<pad>",
                cls_token="<s>",
            ),
            "mask_token": AddedToken(0, "<mask>", special=True, lstrip=True),
        },
        _Around.MPNET,
        basic=False,
        strings=False,
    ),
    "FunnelTokenizer": _VocabularyClass(
        _tokens(
            bos_token="<s>",
            eos_token="</s>",
            unk_token="<unk>",
            sep_token="<sep>",
            pad_token="<pad>",
            cls_token="<cls>",
            mask_token="<mask>",
        ),
        _Around.FUNNEL,
    ),
}
# Settings of BertJapaneseTokenizer, with which words are cut otherwise, and the values with which
# they are not.
_SETTINGS: Final[Mapping[str, tuple[object, ...]]] = {
    "word_tokenizer_type": ("basic",),
    "subword_tokenizer_type": ("wordpiece",),
    "do_word_tokenize": (True,),
    "do_subword_tokenize": (True,),
}


def is_named(config: Node | None) -> bool:
    """Whether a tokenizer_config.json names a class that says how a vocab.txt is read."""
    return tokenizer_class(config) not in NAMES_NO_CLASS


def check_bert(config: Node | None, file: str) -> None:
    """UnsupportedError where a tokenizer_config.json says that the vocabulary ``file`` is not read
    as BERT's.
    """
    if config is None:
        return
    known = _CLASSES.get(tokenizer_class(config) or "")
    # The fast tokenizer of a class does not heed these two, but for some where the second is false.
    checked = dict(_SETTINGS)
    if known is None:
        checked["never_split"] = ([],)
    if known is None or not known.basic:
        checked["do_basic_tokenize"] = (True,)
    for field, values in checked.items():
        setting = config.optional(field)
        if setting is not None and setting.value not in values:
            raise UnsupportedError(
                file,
                f"{field} {show(setting.value)}, which {CONFIG} has, is not supported",
                "with it words are cut otherwise than BERT's are; if there is a tokenizer.json,"
                f" give that ({SAVE})",
            )
    if is_named(config) and known is None:
        name = tokenizer_class(config)
        raise UnsupportedError(
            file,
            f"a vocab.txt of the class {show(name)}, which {CONFIG} or config.json names, is not supported",
            f"{without_document(name)}; vocab.txt is read of {', '.join(_CLASSES)}",
        )


def bert_document(
    config: Node, vocab: dict[str, int], file: str, settings: BertSettings, files: SourceFiles
) -> dict[str, Any]:
    """The tokenizer.json for a class that is named: with the added tokens that ``config`` and the
    files beside it name.
    """
    known = _CLASSES[tokenizer_class(config) or ""]
    question = known.around is _Around.SPLINTER
    tokens = class_tokens(
        config, files, vocab, known.special, (_QUESTION,) if question else (), strings=known.strings
    )
    for role in ("unk_token", "sep_token", "cls_token"):
        if role not in tokens.roles:
            raise SourceError(
                f"{CONFIG}: {role} is null, without which {tokenizer_class(config)} makes no"
                " tokenizer"
            )
    if question:
        _check_question(config, vocab, file)
    return document_of(
        vocab,
        settings,
        tokens.roles["unk_token"],
        added_tokens=tokens.entries(),
        post_processor=_post_processor(known.around, tokens, vocab, config),
    )


def _check_question(config: Node, vocab: Mapping[str, int], file: str) -> None:
    """Raises where releases of the reference differ in the tokens between a question and a context."""
    named = config.get("question_token")
    if named is not None and named.value != _QUESTION:
        named.unsupported(f"{show(_QUESTION)} is: releases of transformers differ in another one")
    more = config.get(MORE)
    if more is not None:
        more.unsupported("transformers 4.57 makes no SplinterTokenizer with them")
    if _QUESTION not in vocab:
        raise UnsupportedError(
            file,
            f"a vocabulary without {show(_QUESTION)}, which SplinterTokenizer puts after a"
            " question, is not supported",
            "releases of transformers differ in its id then",
        )


def _post_processor(
    around: _Around, tokens: ClassTokens, vocab: Mapping[str, int], config: Node
) -> dict[str, Any]:
    cls, sep = tokens.roles["cls_token"], tokens.roles["sep_token"]
    ids = {
        content: next(token.id for token in tokens.added if token.content == content)
        for content in (cls, sep)
    }
    first, second = [special(cls), text("A"), special(sep)], [text("B", 1), special(sep, 1)]
    pair = [*first, *second]
    match around:
        case _Around.MPNET:
            pair = [*first, special(sep), *second]
        case _Around.FUNNEL:
            first = [special(cls, 2), *first[1:]]
            pair = [*first, *second]
        case _Around.SPLINTER:
            known = {**{token.content: token.id for token in tokens.added}, **vocab}
            ids |= {
                _QUESTION: vocab[_QUESTION],
                _STOP: known.get(_STOP, known[tokens.roles["unk_token"]]),
            }
            side = config.optional("padding_side")
            # The text that is not padded away is the context.
            if side is None or side.string() == "right":
                pair = [
                    special(cls),
                    text("A"),
                    special(_QUESTION),
                    special(_STOP),
                    special(sep),
                    *second,
                ]
            else:
                pair = [*first, text("B", 1), special(_QUESTION), special(_STOP), special(sep, 1)]
        case _Around.BERT:
            pass
    return template(first, pair, ids)


def left_out(config: Node | None, files: SourceFiles) -> tuple[str, ...]:
    """A note for each place that lists added tokens where no class says how they are added."""
    places = (
        [f"added_tokens_decoder of {CONFIG}"]
        if config is not None and config.optional("added_tokens_decoder")
        else []
    )
    places += [ADDED_TOKENS] if files.has(ADDED_TOKENS) else []
    return tuple(
        f"{place} is not read, since no {CONFIG} names the tokenizer's class; the added tokens are"
        " those of BertWordPieceTokenizer of tokenizers."
        for place in places
    )
