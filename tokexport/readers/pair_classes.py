"""vocab.json and merges.txt beside a tokenizer_config.json that names their class: the tokenizer.json that `transformers` makes of them.

The pair itself does not say how a text is split, what is added to the vocabulary, or what is put around a text; the class does. So
the document is the reference's source, and a class that is not here is refused. Source of the parts: the converters in
convert_slow_tokenizer.py and the tokenization modules of ``transformers`` 4.57; in what is read here 5.23 gives the same ids, but
for ``<mask>``, which takes the space before it in 4.57 and in the published files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.readers.class_tokens import ClassTokens, class_tokens
from tokexport.readers.clip_vocabulary import END, START, clip_document, is_clip
from tokexport.readers.huggingface_config import CONFIG, SAVE, read_class_config, tokenizer_class
from tokexport.readers.huggingface_document import byte_level, sequence, split, tokenizer_document
from tokexport.readers.json_node import Node, show
from tokexport.readers.known_patterns import QWEN
from tokexport.readers.source_files import SourceFiles

_CLIP: Final = "CLIPTokenizer"
_TRANSCRIPT: Final = ("<|startoftranscript|>", "<|notimestamps|>")


class _Around(Enum):
    """What the post-processor puts around a text."""

    NOTHING = "nothing"
    BOS = "the token of bos_token where add_bos_token says so"
    ROBERTA = "cls_token and sep_token"
    WHISPER = "the start of a transcript without time stamps, and eos_token"


@dataclass(frozen=True, slots=True)
class _PairClass:
    """A class: its special tokens by role, what it puts around a text, and whether its texts are as Qwen's (NFC, own pattern)."""

    special: Mapping[str, AddedToken]
    around: _Around
    qwen: bool = False


def _tokens(normalized: bool, **contents: str | None) -> dict[str, AddedToken]:
    """Special tokens by role."""
    return {
        role: AddedToken(0, content, special=True, normalized=normalized)
        for role, content in contents.items()
        if content is not None
    }


def _gpt2(normalized: bool) -> dict[str, AddedToken]:
    return _tokens(normalized, **dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"))


def _roberta(normalized: bool, mask_normalized: bool) -> _PairClass:
    special = _tokens(
        normalized,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        sep_token="</s>",
        pad_token="<pad>",
        cls_token="<s>",
    )
    mask = AddedToken(0, "<mask>", special=True, lstrip=True, normalized=mask_normalized)
    return _PairClass({**special, "mask_token": mask}, _Around.ROBERTA)


_ENDS: Final = dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>")
_CLASSES: Final[Mapping[str, _PairClass]] = {
    "GPT2Tokenizer": _PairClass(_gpt2(True), _Around.BOS),
    "CodeGenTokenizer": _PairClass(_gpt2(False), _Around.NOTHING),
    "Qwen2Tokenizer": _PairClass(_tokens(False, **_ENDS), _Around.NOTHING, qwen=True),
    "RobertaTokenizer": _roberta(True, False),
    "LongformerTokenizer": _roberta(True, False),
    "BartTokenizer": _roberta(True, True),
    "LEDTokenizer": _roberta(True, True),
    "MvpTokenizer": _roberta(False, False),
    "WhisperTokenizer": _PairClass(_gpt2(False), _Around.WHISPER),
}
# Its tokenizer.json has the start token normalized and the end token not.
_CLIP_TOKENS: Final = {**_tokens(True, bos_token=START), **_tokens(False, **dict.fromkeys(_ENDS, END))}


def pair_document(
    vocab_name: str, vocab: Mapping[str, int], merges: Sequence[Sequence[str]], files: SourceFiles
) -> dict[str, Any] | None:
    """The tokenizer.json that says the same as a pair; None for one of GPT-2's kind whose class nothing names.

    UnsupportedError for a class, or a setting, that is not known here.
    """
    config = read_class_config(files)
    if is_clip(vocab):
        return _clip_document(config, vocab_name, vocab, merges, files)
    if config is None or tokenizer_class(config) is None:
        return None
    return _class_document(config, vocab_name, vocab, merges, files)


def _class_document(
    config: Node, vocab_name: str, vocab: Mapping[str, int], merges: Sequence[Sequence[str]], files: SourceFiles
) -> dict[str, Any]:
    """The tokenizer.json for the class that ``config`` names."""
    name = tokenizer_class(config)
    known = _CLASSES.get(name or "")
    if name == _CLIP:
        raise UnsupportedError(
            vocab_name,
            f"a pair of the class {show(name)} that lacks CLIP's special tokens,",
            f"a vocabulary with {show(START)}, {show(END)} and the end of words is; give the tokenizer.json ({SAVE})",
        )
    if known is None:
        names = ", ".join(sorted((*_CLASSES, _CLIP)))
        raise UnsupportedError(
            vocab_name,
            f"a pair of the class {show(name)}, which {CONFIG} or config.json names,",
            f"of this class give the tokenizer.json ({SAVE}); pairs are read of {names}",
        )
    if known.around is _Around.WHISPER:
        for setting in ("language", "task", "predict_timestamps"):
            if config.optional(setting) is not None:
                raise UnsupportedError(
                    vocab_name,
                    f"{setting} for {name}, which {CONFIG} sets,",
                    f"a class without it is; give the tokenizer.json ({SAVE})",
                )
    elif known.around is not _Around.ROBERTA:
        for setting in ("add_eos_token",) if known.around is _Around.BOS else ("add_bos_token", "add_eos_token"):
            if _flag(config, setting):
                raise UnsupportedError(
                    vocab_name,
                    f"{setting} for {name}, which {CONFIG} sets,",
                    f"releases of transformers differ in it; give the tokenizer.json ({SAVE})",
                )
    tokens = class_tokens(config, files, vocab, known.special)
    spaced = _flag(config, "add_prefix_space")
    parts = {**byte_level(not known.qwen), "add_prefix_space": spaced}
    return tokenizer_document(
        added_tokens=tokens.entries(),
        normalizer={"type": "NFC"} if known.qwen else None,
        pre_tokenizer=sequence(split(QWEN), parts) if known.qwen else parts,
        post_processor=_post_processor(known.around, tokens, config, vocab_name, spaced),
        decoder=byte_level(True),
        model={
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": dict(vocab),
            "merges": [list(merge) for merge in merges],
        },
    )


def _clip_document(
    config: Node | None, vocab_name: str, vocab: Mapping[str, int], merges: Sequence[Sequence[str]], files: SourceFiles
) -> dict[str, Any]:
    """The tokenizer.json for CLIP's pair: with the added tokens that ``config`` and the files beside it name, where there is one."""
    document = clip_document(vocab, merges)
    name = None if config is None else tokenizer_class(config)
    if config is None or name is None:
        return document
    if name != _CLIP:
        raise UnsupportedError(
            vocab_name,
            f"a vocabulary of CLIP with the class {show(name)}, which {CONFIG} or config.json names,",
            f"{_CLIP} is; give the tokenizer.json ({SAVE})",
        )
    tokens = class_tokens(config, files, vocab, _CLIP_TOKENS)
    for role, expected in (("bos_token", START), ("eos_token", END), ("unk_token", END)):
        if tokens.roles.get(role) != expected:
            raise UnsupportedError(
                vocab_name,
                f"{role} {show(tokens.roles.get(role))} for {_CLIP}",
                f"{show(expected)} is; give the tokenizer.json ({SAVE})",
            )
    return {**document, "added_tokens": tokens.entries()}


def _flag(config: Node, name: str) -> bool:
    node = config.optional(name)
    return node is not None and node.boolean()


def _post_processor(
    around: _Around, tokens: ClassTokens, config: Node, vocab_name: str, spaced: bool
) -> dict[str, Any]:
    def named(role: str) -> tuple[str, int]:
        number = tokens.id_of(role)
        if number is None:
            raise SourceError(
                f"{vocab_name}: the class that {CONFIG} names puts its {role} around a text, and it has none"
            )
        return tokens.roles[role], number

    if around is _Around.ROBERTA:
        trim = config.optional("trim_offsets")
        return {
            "type": "RobertaProcessing",
            "sep": list(named("sep_token")),
            "cls": list(named("cls_token")),
            "trim_offsets": trim is None or trim.boolean(),
            "add_prefix_space": spaced,
        }
    if around is _Around.WHISPER:
        return _whisper(tokens, named("eos_token"), vocab_name)
    if around is _Around.BOS and _flag(config, "add_bos_token"):
        content, number = named("bos_token")
        bos = {"SpecialToken": {"id": content, "type_id": 0}}
        first, second = ({"Sequence": {"id": text, "type_id": kind}} for kind, text in enumerate("AB"))
        return {
            "type": "TemplateProcessing",
            "single": [bos, first],
            "pair": [bos, first, second],
            "special_tokens": {content: {"id": content, "ids": [number], "tokens": [content]}},
        }
    return {**byte_level(True), "add_prefix_space": True, "trim_offsets": False}


def _whisper(tokens: ClassTokens, end: tuple[str, int], vocab_name: str) -> dict[str, Any]:
    """The template of Whisper's tokenizer where no language and no task is set."""
    ids = {entry["content"]: entry["id"] for entry in tokens.entries()}
    missing = [content for content in _TRANSCRIPT if content not in ids]
    if missing:
        raise SourceError(
            f"{vocab_name}: WhisperTokenizer puts {show(missing[0])} before a text, and there is no such added token"
        )
    known = {content: ids[content] for content in _TRANSCRIPT} | dict([end])
    before = [{"SpecialToken": {"id": content, "type_id": 0}} for content in _TRANSCRIPT]
    first, second = ({"Sequence": {"id": text, "type_id": kind}} for kind, text in enumerate("AB"))
    return {
        "type": "TemplateProcessing",
        "single": [*before, first, {"SpecialToken": {"id": end[0], "type_id": 0}}],
        "pair": [*before, first, second, {"SpecialToken": {"id": end[0], "type_id": 1}}],
        "special_tokens": {
            content: {"id": content, "ids": [number], "tokens": [content]} for content, number in known.items()
        },
    }
