"""The parts of a tokenizer: the losses of a target are found by comparing two lists of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import groupby
from typing import Any

from tokexport.compiler.merges.canonical import canonical_merges
from tokexport.compiler.splits.compile_split import compile_split
from tokexport.errors import TokexportError, UnsupportedError
from tokexport.model import (
    AddedToken,
    Behavior,
    BytePairModel,
    Decoding,
    Prepend,
    Replace,
    SpecialIds,
    Split,
    Template,
    Token,
    TokenizerModel,
    UnigramModel,
    WordPieceModel,
)
from tokexport.patterns.program import spans
from tokexport.runtime.tokenizer import Tokenizer
from tokexport.sources.sentencepiece.proto import SPACE_SYMBOL


class Part(Enum):
    """A part of a tokenizer: its name for users, and what its absence from a target means."""

    BYTES = "bytes of tokens", "tokens have other bytes"
    NORMALIZER = "normalizer", "texts are not normalized"
    PRE_TOKENIZER = (
        "pre-tokenizer",
        "texts are not cut before tokens are merged, so merges cross words",
    )
    MODEL = "model", "a pre-token that is a token becomes what its merges give"
    ORDER = "order of merges", "the format does not record which tokens are merged first"
    PAIRS = "pairs that merge", "any two tokens whose bytes together are a token are merged"
    SCORES = "scores", "the format has no scores of tokens"
    UNKNOWN = "unknown text", "what becomes of text without a token is left to the runtime"
    HOLES = "holes", "an id without a token becomes a token without text"
    ADDED_TOKENS = "added tokens", "the format does not record which tokens are searched for first"
    FLAGS = "flags of added tokens", "single_word, lstrip, rstrip and normalized are left out"
    SPECIAL = "special tokens", "the format does not record which tokens are special"
    TEMPLATE = "template", "the format does not record which ids surround a text"
    BOS_EOS = "BOS and EOS", "the format does not record which ids begin and end a text"
    ROLES = "other ids with a role", "the format has no padding, unknown or further stop ids"
    CHAT_TEMPLATE = "chat template", "the format has no chat template"
    DECODER = "decoder", "decoding only joins the bytes of tokens"

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Part:
        part = object.__new__(cls)
        part._value_ = name
        part.meaning = meaning
        return part


Parts = Mapping[Part, Any]


def parts_of_model(model: TokenizerModel) -> dict[Part, Any]:
    """The parts of a model, without empty and default ones and the path of each step."""
    inner = model.model
    usual = {} if model.chat.default is None else {"default": model.chat.default}
    found: dict[Part, Any] = {
        **_tokens_and_roles(model.tokens, model.added_tokens, model.special_ids),
        Part.NORMALIZER: _normalizer(model),
        Part.PRE_TOKENIZER: _without_paths(model.pre_tokenizer),
        Part.MODEL: algorithm(model),
        Part.TEMPLATE: None if model.template == Template() else model.template,
        Part.CHAT_TEMPLATE: {**model.chat.named, **usual},
        Part.DECODER: _decoder(model),
    }
    match inner:
        case BytePairModel():
            found[Part.ORDER] = order_of_merges(inner)
            found[Part.PAIRS] = None if merges_any_two(inner) else merges_of(inner)
            found[Part.UNKNOWN] = _unknown(inner)
        case UnigramModel():
            found[Part.SCORES] = {id: inner.scores[id] for _, id in inner.vocab.items()}
            found[Part.UNKNOWN] = (inner.unk_id, inner.unk_score, inner.byte_ids)
        case WordPieceModel():
            found[Part.UNKNOWN] = (inner.unk_id, inner.prefix, inner.max_characters)
    return {part: value for part, value in found.items() if not _is_nothing(value)}


def _is_nothing(value: Any) -> bool:
    # Not `value in (b"", ...)`: a comparison of str with bytes is an error with `python -bb`.
    return value is None or (isinstance(value, tuple | dict | bytes) and not value)


def parts_of_file(tokenizer: Tokenizer, tokens: Sequence[Token | None]) -> dict[Part, Any]:
    """The parts of a tokexport file; of those that are compiled, only the presence is known."""
    sizes = dict(tokenizer.sections())
    found: dict[Part, Any] = {
        **_tokens_and_roles(tokens, tokenizer.added_tokens, tokenizer.special_ids),
        Part.NORMALIZER: sizes.get("NORM"),
        Part.PRE_TOKENIZER: sizes.get("SPLT"),
        Part.TEMPLATE: sizes.get("POST"),
        Part.CHAT_TEMPLATE: tokenizer.chat_templates,
        Part.DECODER: sizes.get("DECO"),
        Part.PAIRS: sizes.get("PIDX"),
        Part.ORDER: sizes.get("PIDX"),
    }
    return {part: value for part, value in found.items() if value not in (None, (), {})}


def algorithm(model: TokenizerModel) -> str | tuple[str | int, ...]:
    """The name of the algorithm, with the ids that a pre-token becomes only as a whole, because its
    merges give others.
    """
    inner, name = model.model, type(model.model).__name__.removesuffix("Model")
    if not isinstance(inner, BytePairModel) or not inner.whole_pre_token_first:
        return name
    found = {token.content for token in model.added_tokens if not token.special}
    steps = [step for step in model.pre_tokenizer if isinstance(step, Split)]
    try:
        made = frozenset(canonical_merges(inner).whole.tolist())
        ids = [
            id
            for key, id in inner.vocab.items()
            if id not in made and (text := key.decode("utf-8", "replace")).encode() == key
            if text and not any(token in text for token in found)
            if not any(_cuts(step, text) for step in steps)
        ]
    except UnsupportedError:
        return name, "of pre-tokens"
    return (name, *ids) if ids else name


def _cuts(split: Split, text: str) -> bool:
    """Whether a split cuts a text that is a pre-token by itself."""
    is_plain = split.behavior in (Behavior.ISOLATED, Behavior.REMOVED) and not split.on_bytes
    return is_plain and spans(compile_split(split), text) not in ([], [text])


def order_of_merges(model: BytePairModel) -> tuple[int, ...]:
    """The merged ids, in the order in which they are merged."""
    if model.merges is not None:
        return tuple(dict.fromkeys(model.merges[:, 2].tolist()))
    of_bytes = model.characters is None
    made = [id for key, id in model.vocab.items() if len(key if of_bytes else key.decode()) > 1]
    return tuple(sorted(made, key=model.ranks.__getitem__ if model.ranks else None))


def merges_of(model: BytePairModel) -> tuple[tuple[int, ...], ...]:
    """The merges (left, right, merged id) in order of rank; none for a model of ranks."""
    return () if model.merges is None else tuple(map(tuple, model.merges.tolist()))


def _tokens_and_roles(
    tokens: Sequence[Token | None], added: Sequence[AddedToken], roles: SpecialIds
) -> dict[Part, Any]:
    """The bytes of all tokens, holes, added and special tokens, and the ids with a role."""
    flags = {
        token.id: (token.single_word, token.lstrip, token.rstrip, is_normalized)
        for token in added
        for is_normalized in (token.normalized and not token.verbatim,)
    }
    # That EOS ends a generation is implicit.
    others = (roles.pad, roles.unk, tuple(id for id in roles.stop if id != roles.eos))
    return {
        Part.BYTES: bytes_of(tokens),
        Part.HOLES: tuple(id for id, token in enumerate(tokens) if token is None),
        Part.ADDED_TOKENS: {token.id: token.content for token in added},
        Part.FLAGS: {id: found for id, found in flags.items() if any(found)},
        Part.SPECIAL: tuple(id for id, token in enumerate(tokens) if token and token.special),
        Part.BOS_EOS: bos_eos(roles),
        Part.ROLES: None if others == (None, None, ()) else others,
    }


def bytes_of(tokens: Sequence[Token | None]) -> dict[int, bytes]:
    """The bytes of all tokens except those that decode to nothing."""
    return {id: token.content for id, token in enumerate(tokens) if token and token.content}


def bos_eos(roles: SpecialIds) -> tuple[int | None, int | None] | None:
    """The ids that begin and end a text, if there are any."""
    return None if roles.bos is roles.eos is None else (roles.bos, roles.eos)


def merges_any_two(model: BytePairModel) -> bool:
    """Whether any two neighbours whose joined keys are in the vocabulary merge, and all pairs that
    make the same token have the same rank.
    """
    if model.merges is None:
        return True
    merged = model.merges[:, 2].tolist()
    if len([*groupby(merged)]) > len({*merged}):
        return False
    keys, pairs = dict(model.vocab.items()), {merge[:2] for merge in merges_of(model)}
    return all(
        (keys[key[:at]], keys[key[at:]]) in pairs
        for key in keys
        for at in range(1, len(key))
        if key[:at] in keys and key[at:] in keys
    )


def _unknown(model: BytePairModel) -> object:
    """What becomes of text without a token. With a token for each byte, there is no such text."""
    ids = None if model.characters is None else model.characters.byte_ids
    if ids is not None and None not in ids:
        return ids
    if model.unk_id is None and ids is None:
        return None
    return (model.unk_id, model.fuse_unk, ids)


def _normalizer(model: TokenizerModel) -> tuple[Any, ...]:
    """The steps; a dummy prefix may be a space or the symbol that replaces a space."""
    steps = _without_paths(model.normalizer)
    marked = (Prepend(SPACE_SYMBOL), Replace(" ", SPACE_SYMBOL, path=""))
    return (Prepend(" "), marked[1]) if steps == marked else steps


def _decoder(model: TokenizerModel) -> object:
    """What decoding does besides joining bytes."""
    forms = ((id, token.forms) for id, token in enumerate(model.tokens) if token)
    firsts = {id: each for id, each in forms if len({*each}) > 1}
    plain = model.decoding == Decoding() and not firsts
    return None if plain else (_without_paths(model.decoding.edits), model.decoding, firsts)


def _without_paths(steps: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(replace(step, path="") if hasattr(step, "path") else step for step in steps)


def refuse(target: str, problem: str, hint: str) -> TokexportError:
    """The error for a tokenizer that a target cannot hold at all."""
    return TokexportError(f"{target} cannot hold this tokenizer: {problem}", hint)
