"""vocab.json and merges.txt of GPT-NeoX's and Cohere's class, which `transformers` reads as such
from release 5 on.

4.57 needs their tokenizer.json. The document is the one that 5.23 makes of a pair: bytes in NFC,
split by GPT-2's pattern, for Cohere after single digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse, show
from tokexport.sources.tokenizer_json.config import CONFIG, SAVE
from tokexport.sources.tokenizer_json.document import (
    byte_level,
    byte_pair_model,
    sequence,
    special,
    template,
    text,
    tokenizer_document,
)
from tokexport.sources.vocab_files.added_tokens_json import (
    ROLES,
    SPECIAL_TOKENS_MAP,
    read_added_tokens_json,
)
from tokexport.sources.vocab_files.class_tokens import (
    ClassTokens,
    class_tokens,
    tokens_without_role,
)

_NEOX: Final = "GPTNeoXTokenizer"
_COHERE: Final = "CohereTokenizer"
NEOX_CLASSES: Final = (_NEOX, _COHERE)
_ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    _NEOX: {
        **dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"),
        "pad_token": "<|padding|>",
    },
    _COHERE: {
        "bos_token": "<BOS_TOKEN>",
        "eos_token": "<|END_OF_TURN_TOKEN|>",
        "unk_token": "<UNK>",
        "sep_token": "<SEP>",
        "pad_token": "<PAD>",
        "cls_token": "<CLS>",
        "mask_token": "<MASK_TOKEN>",
    },
}
_FLAGS: Final = ("lstrip", "rstrip", "single_word", "normalized")
_PLAIN: Final = (False,) * len(_FLAGS)


def neox_pair_document(
    name: str,
    config: Node,
    vocab_name: str,
    vocab: Mapping[str, int],
    merges: Sequence[Sequence[str]],
    files: SourceFiles,
) -> dict[str, Any]:
    """The tokenizer.json of a pair of the class ``name``, which is one of ``NEOX_CLASSES``."""
    if name == _COHERE and config.optional("add_bos_token") is None:
        raise UnsupportedError(
            vocab_name,
            f"a pair of {name} without add_bos_token, which {CONFIG} can set, is not supported",
            "its documentation has it true and the class has it false; set it to what the model was"
            " trained with",
        )
    defaults = {
        role: AddedToken(0, content, special=True) for role, content in _ROLES[name].items()
    }
    tokens = class_tokens(config, files, vocab, defaults, strings=True)
    _check_flags(tokens, config, files)
    spaced = {**byte_level(True), "add_prefix_space": _flag(config, "add_prefix_space")}
    return tokenizer_document(
        added_tokens=tokens.entries(),
        normalizer={"type": "NFC"},
        pre_tokenizer=(
            spaced
            if name == _NEOX
            else sequence({"type": "Digits", "individual_digits": True}, spaced)
        ),
        post_processor=_around(name, tokens, config, vocab_name),
        decoder=byte_level(True),
        model=byte_pair_model(vocab, merges),
    )


def _check_flags(tokens: ClassTokens, config: Node, files: SourceFiles) -> None:
    """Refuses a token that stands in two places with other flags: in 5.23 the order of the places
    decides which it has.
    """
    listed = (token.content for token in read_added_tokens_json(files))
    flags: dict[str, tuple[bool, ...]] = dict.fromkeys((*tokens.roles.values(), *listed), _PLAIN)
    decoder = config.optional("added_tokens_decoder")
    nodes = [] if decoder is None else [node for _, node in decoder.members()]
    data = files.beside(SPECIAL_TOKENS_MAP)
    for root in (config, *(() if data is None else (parse(data, SPECIAL_TOKENS_MAP),))):
        nodes += [
            node for role in ROLES if (node := root.get(role)) is not None and not node.is_null
        ]
        nodes += tokens_without_role(root) or ()
    for node in nodes:
        described = isinstance(node.value, dict)
        content = node.field("content").string() if described else node.string()
        found = tuple(bool(node.value.get(flag)) for flag in _FLAGS) if described else _PLAIN
        if flags.setdefault(content, found) != found:
            raise UnsupportedError(
                node.file,
                f"{show(content)}, which is described here and elsewhere, with other flags, is not supported",
                f"releases of transformers differ in it; give the tokenizer.json ({SAVE})",
            )


def _around(name: str, tokens: ClassTokens, config: Node, vocab_name: str) -> dict[str, Any]:
    """Puts the token of bos_token before each text where add_bos_token says so, and that of
    eos_token after it likewise.
    """
    ids: dict[str, int] = {}

    def end(role: str, type_id: int) -> list[dict[str, Any]]:
        if not _flag(config, f"add_{role}"):
            return []
        number = tokens.id_of(role)
        if number is None:
            raise SourceError(
                f"{vocab_name}: {CONFIG} sets add_{role} for {name}, and there is no {role}: it is"
                f" {show(tokens.roles.get(role))}"
            )
        ids[tokens.roles[role]] = number
        return [special(tokens.roles[role], type_id)]

    first, second = (
        [*end("bos_token", n), text("AB"[n], n), *end("eos_token", n)] for n in range(2)
    )
    return template(first, [*first, *second], ids)


def _flag(config: Node, name: str) -> bool:
    node = config.optional(name)
    return node is not None and node.boolean()
