"""vocab.json and merges.txt beside a tokenizer_config.json that names their class: the
tokenizer.json that `transformers` makes of them.

The pair itself does not say how a text is split, what is added to the vocabulary, or what is put
around a text; the class does. So the document is the reference's source, and a class that is not
here is refused. Source of the parts: the converters in convert_slow_tokenizer.py and the
tokenization modules of ``transformers`` 4.57. In what is read here 5.23 gives the same ids, but for
a mask token, which takes the space before it in 4.57 and in the published files; for Deberta's
pairs, between which it puts another ``[SEP]``; and for Blenderbot, whose ``</s>`` it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.tiktoken.known_patterns import QWEN
from tokexport.sources.tokenizer_json.config import CONFIG, SAVE, read_class_config, tokenizer_class
from tokexport.sources.tokenizer_json.document import (
    byte_level,
    byte_pair_model,
    sequence,
    special,
    split,
    template,
    text,
    tokenizer_document,
)
from tokexport.sources.vocab_files.class_tokens import ClassTokens, class_tokens
from tokexport.sources.vocab_files.clip import END, START, clip_document, is_clip
from tokexport.sources.vocab_files.gpt2_pair import check_ends
from tokexport.sources.vocab_files.neox_pair_classes import NEOX_CLASSES, neox_pair_document
from tokexport.sources.vocab_files.python_classes import without_document
from tokexport.sources.vocab_files.whisper_prefix import whisper_prefix
from tokexport.sources.vocab_files.word_pair_classes import (
    HERBERT,
    WORD_CLASSES,
    word_pair_document,
)

_CLIP: Final = "CLIPTokenizer"


class _Around(Enum):
    """What the post-processor puts around a text."""

    NOTHING = "nothing"
    BOS = "the token of bos_token where add_bos_token says so"
    EOS = "eos_token after one text, nothing around two"
    ROBERTA = "cls_token and sep_token, between two texts two of the latter"
    BERT = "cls_token and sep_token, with a type for each text"
    MARKUP = "cls_token and sep_token, with one type for both texts"
    WHISPER = "the start of a transcript, and eos_token"


# The settings that a class takes no notice of in one release of the reference and heeds in another.
_UNCERTAIN: Final[Mapping[_Around, tuple[str, ...]]] = {
    _Around.NOTHING: ("add_bos_token", "add_eos_token"),
    _Around.BOS: ("add_eos_token",),
    _Around.EOS: ("add_bos_token", "add_eos_token"),
    _Around.WHISPER: ("add_bos_token", "add_eos_token"),
}


@dataclass(frozen=True, slots=True)
class _PairClass:
    """A class: its special tokens by role, what it puts around a text, and how it cuts one.

    ``pattern`` is None for GPT-2's, another goes with NFC; ``spaced`` is what add_prefix_space is
    where nothing sets it, None where that is refused; ``unknown``: its unknown token stands for
    bytes without a token; ``fixed`` are roles that no other token may have.
    """

    special: Mapping[str, AddedToken]
    around: _Around
    pattern: str | None = None
    spaced: bool | None = False
    unknown: bool = False
    fixed: tuple[str, ...] = ()


def _tokens(normalized: bool, **contents: str | None) -> dict[str, AddedToken]:
    """Special tokens by role."""
    return {
        role: AddedToken(0, content, special=True, normalized=normalized)
        for role, content in contents.items()
        if content is not None
    }


def _gpt2(normalized: bool) -> dict[str, AddedToken]:
    """There is no pad_token where nothing names one."""
    ends = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    return _tokens(normalized, **ends, pad_token="")


def _roberta(normalized: bool) -> dict[str, AddedToken]:
    return _tokens(
        normalized,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        sep_token="</s>",
        pad_token="<pad>",
        cls_token="<s>",
    )


def _mask(content: str, normalized: bool) -> dict[str, AddedToken]:
    """A mask token, which takes the space before it."""
    return {"mask_token": AddedToken(0, content, special=True, lstrip=True, normalized=normalized)}


_ENDS: Final = dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>")
_LIKE_ROBERTA: Final = _PairClass({**_roberta(True), **_mask("<mask>", False)}, _Around.ROBERTA)
_LIKE_BART: Final = replace(_LIKE_ROBERTA, special={**_roberta(True), **_mask("<mask>", True)})
_CLASSES: Final[Mapping[str, _PairClass]] = {
    "GPT2Tokenizer": _PairClass(_gpt2(True), _Around.BOS),
    "CodeGenTokenizer": _PairClass(_gpt2(False), _Around.NOTHING),
    "Qwen2Tokenizer": _PairClass(_tokens(False, **_ENDS), _Around.NOTHING, pattern=QWEN),
    "RobertaTokenizer": _LIKE_ROBERTA,
    "LongformerTokenizer": _LIKE_ROBERTA,
    "BartTokenizer": _LIKE_BART,
    "LEDTokenizer": _LIKE_BART,
    "MvpTokenizer": _PairClass({**_roberta(False), **_mask("<mask>", False)}, _Around.ROBERTA),
    "LayoutLMv3Tokenizer": replace(_LIKE_BART, spaced=True),
    "MarkupLMTokenizer": replace(_LIKE_BART, around=_Around.MARKUP, unknown=True),
    # 4.57 puts no space before a text where nothing says so, 5.23 does.
    "BlenderbotTokenizer": replace(_LIKE_ROBERTA, around=_Around.EOS, spaced=None),
    "DebertaTokenizer": _PairClass(
        {
            **_tokens(
                False,
                bos_token="[CLS]",
                eos_token="[SEP]",
                unk_token="[UNK]",
                sep_token="[SEP]",
                pad_token="[PAD]",
                cls_token="[CLS]",
            ),
            **_mask("[MASK]", True),
        },
        _Around.BERT,
        fixed=("cls_token", "sep_token"),
    ),
    "WhisperTokenizer": _PairClass(_gpt2(False), _Around.WHISPER),
}
# Every release reads each line of its merges.txt.
_EVERY_LINE: Final = ("Qwen2Tokenizer",)
# Its tokenizer.json has the start token normalized and the end token not.
_CLIP_TOKENS: Final = {
    **_tokens(True, bos_token=START),
    **_tokens(False, **dict.fromkeys(_ENDS, END)),
}


def pair_document(
    vocab_name: str, vocab: Mapping[str, int], merges: Sequence[Sequence[str]], files: SourceFiles
) -> dict[str, Any] | None:
    """The tokenizer.json that says the same as a pair; None for one of GPT-2's kind whose class
    nothing names.

    UnsupportedError for a class, or a setting, that is not known here.
    """
    config = read_class_config(files)
    if is_clip(vocab):
        return _clip_document(config, vocab_name, vocab, merges, files)
    if config is None or tokenizer_class(config) is None:
        return None
    return _class_document(config, vocab_name, vocab, merges, files)


def check_merges(name: str | None, data: bytes, file: str) -> None:
    """UnsupportedError where releases of the reference read different merges out of a merges.txt of
    a class.
    """
    if name is not None and name not in _EVERY_LINE:
        check_ends(data, file, first=name != HERBERT, last=name != _CLIP)


def _class_document(
    config: Node,
    vocab_name: str,
    vocab: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    files: SourceFiles,
) -> dict[str, Any]:
    """The tokenizer.json for the class that ``config`` names."""
    name = tokenizer_class(config)
    if name in WORD_CLASSES:
        return word_pair_document(name, config, vocab_name, vocab, merges, files)
    if name in NEOX_CLASSES:
        return neox_pair_document(name, config, vocab_name, vocab, merges, files)
    known = _CLASSES.get(name or "")
    if name == _CLIP:
        raise UnsupportedError(
            vocab_name,
            f"a pair of the class {show(name)} that lacks CLIP's special tokens, is not supported",
            f"a vocabulary with {show(START)}, {show(END)} and the end of words is; give the"
            f" tokenizer.json ({SAVE})",
        )
    if known is None:
        names = ", ".join(sorted((*_CLASSES, *WORD_CLASSES, *NEOX_CLASSES, _CLIP)))
        raise UnsupportedError(
            vocab_name,
            f"a pair of the class {show(name)}, which {CONFIG} or config.json names, is not supported",
            f"{without_document(name)}; pairs are read of {names}",
        )
    for setting in _UNCERTAIN.get(known.around, ()):
        if _flag(config, setting):
            raise UnsupportedError(
                vocab_name,
                f"{setting} for {name}, which {CONFIG} sets, is not supported",
                f"releases of transformers differ in it; give the tokenizer.json ({SAVE})",
            )
    if known.spaced is None and config.optional("add_prefix_space") is None:
        raise UnsupportedError(
            vocab_name,
            f"a pair of {name} without add_prefix_space, which {CONFIG} can set, is not supported",
            "releases of transformers differ in what it is then; set it to what the model was"
            " trained with",
        )
    tokens = class_tokens(config, files, vocab, known.special, normalizes=known.pattern is not None)
    for role in known.fixed:
        if tokens.roles.get(role) != known.special[role].content:
            raise UnsupportedError(
                vocab_name,
                f"{role} {show(tokens.roles.get(role))} for {name} is not supported",
                f"{show(known.special[role].content)} is; give the tokenizer.json ({SAVE})",
            )
    spaced = _flag(config, "add_prefix_space", otherwise=bool(known.spaced))
    parts = {**byte_level(known.pattern is None), "add_prefix_space": spaced}
    return tokenizer_document(
        added_tokens=tokens.entries(),
        normalizer=None if known.pattern is None else {"type": "NFC"},
        pre_tokenizer=parts if known.pattern is None else sequence(split(known.pattern), parts),
        post_processor=_post_processor(known.around, tokens, config, vocab_name, spaced),
        decoder=byte_level(True),
        model=byte_pair_model(
            vocab, merges, unk_token=tokens.roles.get("unk_token") if known.unknown else None
        ),
    )


def _clip_document(
    config: Node | None,
    vocab_name: str,
    vocab: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    files: SourceFiles,
) -> dict[str, Any]:
    """The tokenizer.json for CLIP's pair: with the added tokens that ``config`` and the files
    beside it name, where there is one.
    """
    document = clip_document(vocab, merges)
    name = None if config is None else tokenizer_class(config)
    if config is None or name is None:
        return document
    if name != _CLIP:
        raise UnsupportedError(
            vocab_name,
            f"a vocabulary of CLIP with the class {show(name)}, which {CONFIG} or config.json"
            " names, is not supported",
            f"{_CLIP} is; give the tokenizer.json ({SAVE})",
        )
    tokens = class_tokens(config, files, vocab, _CLIP_TOKENS)
    for role, expected in (("bos_token", START), ("eos_token", END), ("unk_token", END)):
        if tokens.roles.get(role) != expected:
            raise UnsupportedError(
                vocab_name,
                f"{role} {show(tokens.roles.get(role))} for {_CLIP} is not supported",
                f"{show(expected)} is; give the tokenizer.json ({SAVE})",
            )
    return {**document, "added_tokens": tokens.entries()}


def _flag(config: Node, name: str, *, otherwise: bool = False) -> bool:
    node = config.optional(name)
    return otherwise if node is None else node.boolean()


def _post_processor(
    around: _Around, tokens: ClassTokens, config: Node, vocab_name: str, spaced: bool
) -> dict[str, Any]:
    def named(role: str) -> tuple[str, int]:
        number = tokens.id_of(role)
        if number is None:
            raise SourceError(
                f"{vocab_name}: the class that {CONFIG} names puts its {role} around a text, and it"
                " has none"
            )
        return tokens.roles[role], number

    match around:
        case _Around.ROBERTA:
            return {
                "type": "RobertaProcessing",
                "sep": list(named("sep_token")),
                "cls": list(named("cls_token")),
                "trim_offsets": _flag(config, "trim_offsets", otherwise=True),
                "add_prefix_space": spaced,
            }
        case _Around.BERT | _Around.MARKUP:
            cls, sep = named("cls_token"), named("sep_token")
            return _cls_sep(cls, sep, 1 if around is _Around.BERT else 0)
        case _Around.EOS:
            eos, number = named("eos_token")
            return template([text("A"), special(eos)], [text("A"), text("B", 1)], {eos: number})
        case _Around.WHISPER:
            entries = {entry["content"]: entry["id"] for entry in tokens.entries()}
            prefix, (eos, number) = whisper_prefix(config, entries, vocab_name), named("eos_token")
            before = [special(content) for content in prefix]
            return template(
                [*before, text("A"), special(eos)],
                [*before, text("A"), text("B", 1), special(eos, 1)],
                {**prefix, eos: number},
            )
        case _Around.BOS if _flag(config, "add_bos_token"):
            bos, number = named("bos_token")
            return template(
                [special(bos), text("A")], [special(bos), text("A"), text("B", 1)], {bos: number}
            )
        case _:
            return {**byte_level(True), "add_prefix_space": True, "trim_offsets": False}


def _cls_sep(cls: tuple[str, int], sep: tuple[str, int], second: int) -> dict[str, Any]:
    """The template of BERT's kind; ``second`` is the type of the second text."""
    single = [special(cls[0]), text("A"), special(sep[0])]
    return template(single, [*single, text("B", second), special(sep[0], second)], dict([cls, sep]))
