"""Everything that a writer needs, made from a model once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tokexport.compiler.added_tokens import Trie, build_trie
from tokexport.compiler.byte_pair import BytePairTables, byte_pair_tables
from tokexport.compiler.class_table import ClassTable, class_table
from tokexport.compiler.cuts import Pairs, safe_cuts
from tokexport.compiler.normalize import normalize
from tokexport.compiler.normalizer_table import NormalizerTable, joined_form, normalizer_table
from tokexport.compiler.regex import SplitProgram, compile_split
from tokexport.compiler.trie_tables import TrieTables, trie_tables
from tokexport.compiler.unicode import shorthand_set
from tokexport.errors import UnsupportedError
from tokexport.layout import MAX_IDS, MAX_STAGES, AddedClass
from tokexport.model import (
    AddedToken,
    BytePairModel,
    Dialect,
    Model,
    NormalForm,
    NormalizerStep,
    PreTokenizerStep,
    Split,
    TokenizerModel,
)

MAX_TOKEN_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class AddedTables:
    """The added tokens with their tries; ``classes`` (spaces and word characters) only where some token needs them."""

    tokens: tuple[AddedToken, ...]
    raw: Trie
    normalized: Trie
    classes: ClassTable | None


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled model."""

    encoder: BytePairTables | TrieTables
    stages: tuple[tuple[Split, SplitProgram], ...]
    cuts: Pairs
    normalizer: NormalizerTable | None
    added: AddedTables | None


def compile_model(model: TokenizerModel) -> Tables:
    """Compiles a model to tables.

    Raises UnsupportedError for a pattern that cannot be a table, and for a model over the limits of the format.
    """
    _check_limits(model)
    form = joined_form(_forms(model.normalizer))
    stages = tuple((split, compile_split(split)) for split in _splits(model.splits))
    normalized = {
        index: normalize(token.content, form).encode()
        for index, token in enumerate(model.added_tokens)
        if token.normalized
    }
    return Tables(
        encoder=_encoder(model.model),
        stages=stages,
        cuts=safe_cuts(stages, model.added_tokens, list(normalized.values()), model.add_prefix_space),
        normalizer=None if form is None else normalizer_table(form),
        added=_added_tables(model, normalized),
    )


def _encoder(model: Model) -> BytePairTables | TrieTables:
    if not isinstance(model, BytePairModel):
        return trie_tables(model)
    if model.characters is None and model.ranks is None:
        return byte_pair_tables(model)
    raise UnsupportedError("model", f"{type(model).__name__}", "byte-level BPE is")


def _forms(steps: tuple[NormalizerStep, ...]) -> list[NormalForm]:
    for step in steps:
        if not isinstance(step, NormalForm):
            raise UnsupportedError("normalizer", repr(step), "normal forms are")
    return [step for step in steps if isinstance(step, NormalForm)]


def _splits(steps: tuple[PreTokenizerStep, ...]) -> list[Split]:
    for step in steps:
        if not isinstance(step, Split):
            raise UnsupportedError("pre_tokenizer", repr(step), "splits are")
    return [step for step in steps if isinstance(step, Split)]


def _check_limits(model: TokenizerModel) -> None:
    if len(model.tokens) > MAX_IDS:
        raise UnsupportedError("model.vocab", f"{len(model.tokens)} ids", f"at most {MAX_IDS} are")
    if len(model.splits) > MAX_STAGES:
        raise UnsupportedError("pre_tokenizer", f"{len(model.splits)} splits in a row", f"at most {MAX_STAGES} are")
    for token_id, token in enumerate(model.tokens):
        if token is not None and len(token.content) > MAX_TOKEN_BYTES:
            found = f"a token of {len(token.content)} bytes (id {token_id})"
            raise UnsupportedError("model.vocab", found, f"at most {MAX_TOKEN_BYTES} bytes are")


def _added_tables(model: TokenizerModel, normalized: Mapping[int, bytes]) -> AddedTables | None:
    tokens = model.added_tokens
    if not tokens:
        return None
    raw = [(token.content.encode(), index) for index, token in enumerate(tokens) if not token.normalized]
    contents = [*(token.content for token in tokens), *(content.decode() for content in normalized.values())]
    trims = model.trimming is not None and model.trimming.passes and any(text != text.strip() for text in contents)
    strips = trims or any(token.lstrip or token.rstrip or token.single_word for token in tokens)
    return AddedTables(
        tokens,
        build_trie(raw),
        build_trie((content, index) for index, content in normalized.items()),
        _space_and_word_classes() if strips else None,
    )


def _space_and_word_classes() -> ClassTable:
    # The reference asks the Rust regex crate, whatever engine the pre-tokenizer runs on.
    space = shorthand_set("s", Dialect.FANCY_REGEX).astype(np.uint8) * AddedClass.SPACE
    word = shorthand_set("w", Dialect.FANCY_REGEX).astype(np.uint8) * AddedClass.WORD
    return class_table((space | word).astype(np.uint8))
