"""added_tokens.json, an object of ids by content, which stands beside a vocabulary that does not
hold those tokens.

It says nothing of their flags. Those are the defaults of ``tokenizers``, and a token is special
where special_tokens_map.json or tokenizer_config.json give it a role, as in ``transformers``, which
writes all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse
from tokexport.sources.tokenizer_json.config import read_config

ADDED_TOKENS: Final = "added_tokens.json"
SPECIAL_TOKENS_MAP: Final = "special_tokens_map.json"
ROLES: Final = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
MORE: Final = "additional_special_tokens"


def read_added_tokens_json(files: SourceFiles) -> list[AddedToken]:
    """The tokens by rising id, none where the file is not there. SourceError for one that is no
    object of ids.
    """
    data = files.beside(ADDED_TOKENS)
    if data is None:
        return []
    special = set(_special_contents(files))
    tokens = [
        AddedToken(
            number.u32(), content, special=content in special, normalized=content not in special
        )
        for content, number in parse(data, ADDED_TOKENS).members()
    ]
    return sorted(tokens, key=lambda token: token.id)


def _special_contents(files: SourceFiles) -> Iterator[str]:
    data = files.beside(SPECIAL_TOKENS_MAP)
    for node in (None if data is None else parse(data, SPECIAL_TOKENS_MAP), read_config(files)):
        if node is not None:
            more = node.optional(MORE)
            for token in (
                *(node.optional(role) for role in ROLES),
                *(() if more is None else more.items()),
            ):
                if token is not None:
                    yield _content(token)


def _content(token: Node) -> str:
    return token.field("content").string() if isinstance(token.value, dict) else token.string()
