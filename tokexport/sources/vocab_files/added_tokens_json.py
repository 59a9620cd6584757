"""added_tokens.json, an object of ids by content, which stands beside a vocabulary that does not
hold those tokens.

It says nothing of their flags. Those are the defaults of ``tokenizers``, and a token is special
where special_tokens_map.json or tokenizer_config.json give it a role, as in ``transformers``, which
writes all three.
"""

from __future__ import annotations

from typing import Final

from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse
from tokexport.sources.tokenizer_json.config import CONFIG

ADDED_TOKENS: Final = "added_tokens.json"
_ROLES: Final = [f"{role}_token" for role in ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]]


def read_added_tokens_json(files: SourceFiles) -> list[AddedToken]:
    """The tokens by rising id, if any. SourceError for what is no object of ids."""
    data = files.beside(ADDED_TOKENS)
    if data is None:
        return []
    special = set[str]()
    for name in ("special_tokens_map.json", CONFIG):
        settings = files.beside(name)
        root = None if settings is None else parse(settings, name)
        more = None if root is None else root.optional("additional_special_tokens")
        tokens = [] if root is None else [root.optional(role) for role in _ROLES]
        for token in (*tokens, *([] if more is None else more.items())):
            if token is not None:
                special.add(_content(token))
    found = [(content, number.u32()) for content, number in parse(data, ADDED_TOKENS).members()]
    return [
        AddedToken(number, content, special=content in special, normalized=content not in special)
        for content, number in sorted(found, key=lambda token: token[1])
    ]


def _content(token: Node) -> str:
    return token.field("content").string() if isinstance(token.value, dict) else token.string()
