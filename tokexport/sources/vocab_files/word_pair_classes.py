"""vocab.json and merges.txt of the classes whose tokens are characters with ``</w>`` after the
last one of a word: GPT-1 and HerBERT.

As for other pairs, the document is the one that `transformers` 4.57 makes; 5.23 gives the same ids,
but for HerBERT's ten special tokens without a role, which it does not add.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, show
from tokexport.sources.tokenizer_json.config import CONFIG, SAVE
from tokexport.sources.tokenizer_json.document import byte_pair_model, tokenizer_document
from tokexport.sources.vocab_files.class_tokens import ClassTokens, class_tokens

_GPT: Final = "OpenAIGPTTokenizer"
HERBERT: Final = "HerbertTokenizer"
WORD_CLASSES: Final = (_GPT, HERBERT)
_END_OF_WORD: Final = "</w>"
_ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    _GPT: {"unk_token": "<unk>"},
    HERBERT: {
        "bos_token": "<s>",
        "unk_token": "<unk>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "cls_token": "<s>",
        "mask_token": "<mask>",
    },
}
_WITHOUT_ROLE: Final[Mapping[str, tuple[str, ...]]] = {
    _GPT: (),
    HERBERT: tuple(f"<special{number}>" for number in range(10)),
}


def word_pair_document(
    name: str,
    config: Node,
    vocab_name: str,
    vocab: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    files: SourceFiles,
) -> dict[str, Any]:
    """The tokenizer.json of a pair of the class ``name``, which is one of ``WORD_CLASSES``."""
    for setting in ("add_bos_token", "add_eos_token"):
        flag = config.optional(setting)
        if flag is not None and flag.boolean():
            raise UnsupportedError(
                vocab_name,
                f"{setting} for {name}, which {CONFIG} sets, is not supported",
                f"releases of transformers differ in it; give the tokenizer.json ({SAVE})",
            )
    defaults = {
        role: AddedToken(0, content, special=True) for role, content in _ROLES[name].items()
    }
    tokens = class_tokens(config, files, vocab, defaults, _WITHOUT_ROLE[name], strings=True)
    unknown = tokens.roles.get("unk_token")
    if unknown is None:
        raise SourceError(
            f"{vocab_name}: {name} needs an unk_token, and {CONFIG} sets it to {show(unknown)}"
        )
    return tokenizer_document(
        added_tokens=tokens.entries(),
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None if name == _GPT else False,
            "lowercase": name == _GPT,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor=None if name == _GPT else _around(tokens, vocab_name),
        decoder={"type": "BPEDecoder", "suffix": _END_OF_WORD},
        model=byte_pair_model(vocab, merges, unk_token=unknown, end_of_word_suffix=_END_OF_WORD),
    )


def _around(tokens: ClassTokens, vocab_name: str) -> dict[str, Any]:
    ends: dict[str, Any] = {"type": "BertProcessing"}
    for part in ("sep", "cls"):
        role = f"{part}_token"
        number = tokens.id_of(role)
        if number is None:
            raise SourceError(
                f"{vocab_name}: {HERBERT} puts its {role} around a text, and it has none"
            )
        ends[part] = [tokens.roles[role], number]
    return ends
