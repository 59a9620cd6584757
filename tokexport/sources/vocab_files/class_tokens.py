"""The added tokens of a tokenizer whose class a tokenizer_config.json names, where no
tokenizer.json lists them.

They are those of its ``added_tokens_decoder``, or else of added_tokens.json, and after them every
special token: what a role names in tokenizer_config.json or special_tokens_map.json, or else in the
class. Source of the order and of what overrules what: ``PreTrainedTokenizerBase._from_pretrained``
and ``PreTrainedTokenizerFast.__init__`` of ``transformers`` 4.57.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tokexport.errors import SourceError, UnsupportedError
from tokexport.model import AddedToken
from tokexport.sources.files import SourceFiles
from tokexport.sources.json_node import Node, parse, show
from tokexport.sources.tokenizer_json.config import CONFIG
from tokexport.sources.vocab_files.added_tokens_json import (
    ADDED_TOKENS,
    MORE,
    ROLES,
    SPECIAL_TOKENS_MAP,
    read_added_tokens_json,
)

_DECODER: Final = "added_tokens_decoder"
# What newer releases call additional_special_tokens.
_EXTRA: Final = "extra_special_tokens"
_UNNUMBERED: Final = 0
_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized", "special")


@dataclass(frozen=True, slots=True)
class ClassTokens:
    """``added`` in the order in which they are numbered, and the content of each role that has one,
    by its name (``bos_token``).
    """

    added: tuple[AddedToken, ...]
    roles: Mapping[str, str]

    def id_of(self, role: str) -> int | None:
        """The id of the token with a role; None where none has it."""
        return next(
            (token.id for token in self.added if token.content == self.roles.get(role)), None
        )

    def entries(self) -> list[dict[str, Any]]:
        """As the ``added_tokens`` of a tokenizer.json."""
        return [
            {
                "id": token.id,
                "content": token.content,
                **{flag: getattr(token, flag) for flag in _FLAGS},
            }
            for token in self.added
        ]


def class_tokens(
    config: Node,
    files: SourceFiles,
    vocab: Mapping[str, int],
    defaults: Mapping[str, AddedToken],
    without_role: Sequence[str] = (),
    *,
    strings: bool = False,
    normalizes: bool = True,
) -> ClassTokens:
    """The tokens for a ``vocab``; ``defaults`` are the class's own by role, whose flags a token has
    that is given as a string only.

    One without a content has the flags of a role in which the class has no token of its own.
    ``without_role`` are its special tokens without a role, where nothing names others. With
    ``strings`` the class gives its tokens no flags: then those of a listed token count.

    UnsupportedError for one that is listed as normalized and given as not, or the other way round,
    in a class that ``normalizes``: the reference then finds it otherwise than its own
    tokenizer.json says.
    """
    decoder = _decoder(config)
    given = {role: node for role in ROLES if (node := config.get(role)) is not None}
    more = tokens_without_role(config)
    if decoder is None:
        given, more = _with_map(given, more, files)
    listed = read_added_tokens_json(files) if decoder is None else decoder
    found = {token.content: token for token in listed}
    special: dict[str, AddedToken] = {}
    roles: dict[str, str] = {}
    for role in ROLES:
        default = defaults.get(role)
        if role in given:
            token = _given(
                given[role], default, found, described=decoder is not None, strings=strings
            )
        else:
            token = (
                default if default is None or not strings else found.get(default.content, default)
            )
        if token is None or (role not in given and not token.content):
            continue
        roles[role] = token.content
        special.setdefault(token.content, token)
    for node in more or ():
        token = _given(node, None, found, described=False, strings=True)
        if token is not None:
            special.setdefault(token.content, token)
    for content in without_role if more is None else ():
        special.setdefault(
            content, found.get(content, AddedToken(_UNNUMBERED, content, special=True))
        )
    for token in listed:
        again = special.get(token.content, token)
        if normalizes and again.normalized != token.normalized:
            raise UnsupportedError(
                CONFIG if decoder is not None else ADDED_TOKENS,
                f"{show(token.content)}, listed with normalized {show(token.normalized)} and given"
                f" with {show(again.normalized)}, is not supported",
                "transformers does not do what the tokenizer.json says that it makes of this; give"
                " both the same",
            )
    wanted = [replace(special.get(token.content, token), id=token.id) for token in listed]
    wanted += [token for token in special.values() if token.content not in found]
    wanted = [replace(token, special=token.special or token.content in special) for token in wanted]
    return ClassTokens(tuple(_numbered(wanted, vocab, len(listed))), roles)


def _numbered(
    tokens: Sequence[AddedToken], vocab: Mapping[str, int], declared: int
) -> Iterable[AddedToken]:
    """The first ``declared`` keep the ids they declare, as the reader of added tokens checks them;
    the others get theirs.
    """
    following = len(vocab) + sum(token.content not in vocab for token in tokens[:declared])
    for position, token in enumerate(tokens):
        if position < declared:
            yield token
        elif token.content in vocab:
            yield replace(token, id=vocab[token.content])
        else:
            yield replace(token, id=following)
            following += 1


def _decoder(config: Node) -> list[AddedToken] | None:
    """The tokens of added_tokens_decoder by rising id, None where it is not there."""
    table = config.optional(_DECODER)
    if table is None:
        return None
    tokens = []
    for key, entry in table.members():
        if not (key.isascii() and key.isdigit()):
            raise SourceError(f"{CONFIG}: {table.path} has the key {show(key)}; expected an id")
        tokens.append(_described(entry, int(key)))
    return sorted(tokens, key=lambda token: token.id)


def _with_map(
    given: dict[str, Node], more: list[Node] | None, files: SourceFiles
) -> tuple[dict[str, Node], list[Node] | None]:
    """What special_tokens_map.json says goes before tokenizer_config.json."""
    data = files.beside(SPECIAL_TOKENS_MAP)
    if data is None:
        return given, more
    root = parse(data, SPECIAL_TOKENS_MAP)
    found = {role: node for role in ROLES if (node := root.get(role)) is not None}
    others = tokens_without_role(root)
    return {**given, **found}, more if others is None else [*(more or ()), *others]


def tokens_without_role(root: Node) -> list[Node] | None:
    """The special tokens without a role; None where nothing is said of them."""
    nodes = None
    for name in (MORE, _EXTRA):
        node = root.get(name)
        if node is None:
            continue
        nodes = nodes or []
        if isinstance(node.value, dict):
            nodes += [token for _, token in node.members()]
        elif not node.is_null:
            nodes += node.items()
    return nodes


def _given(
    node: Node,
    default: AddedToken | None,
    listed: Mapping[str, AddedToken],
    *,
    described: bool,
    strings: bool,
) -> AddedToken | None:
    """The token at ``node``: a role of ``default``, or one without a role; None where it is null.

    ``described``: an added_tokens_decoder describes the ``listed`` tokens, whose flags then go
    before others.
    """
    if node.is_null:
        return None
    content = node.field("content").string() if isinstance(node.value, dict) else node.string()
    if described and content in listed:
        return listed[content]
    if isinstance(node.value, dict):
        return replace(_described(node, _UNNUMBERED), special=True)
    if default is not None and not strings:
        return replace(default, content=content)
    return listed.get(content, AddedToken(_UNNUMBERED, content, special=True))


def _described(node: Node, number: int) -> AddedToken:
    """A token with its flags. Where they are left out, they are those of ``AddedToken`` of
    ``tokenizers``.
    """

    def flag(name: str, otherwise: bool) -> bool:
        found = node.get(name)
        return otherwise if found is None else found.boolean()

    special = flag("special", node.file == SPECIAL_TOKENS_MAP)
    return AddedToken(
        number,
        node.field("content").string(),
        special=special,
        single_word=flag("single_word", False),
        lstrip=flag("lstrip", False),
        rstrip=flag("rstrip", False),
        normalized=flag("normalized", not special),
    )
