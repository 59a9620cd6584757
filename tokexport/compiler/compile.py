"""Everything that a writer needs, made from a model once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tokexport.compiler.added.trie import Trie, build_trie
from tokexport.compiler.added.words import space_and_word_classes
from tokexport.compiler.merges.byte_pair import BytePairTables, byte_pair_tables
from tokexport.compiler.normalizer.normalize import normalize
from tokexport.compiler.normalizer.rewriting import Op, compile_steps, runs_of_rewrites
from tokexport.compiler.passes.dead_splits import without_idle_splits
from tokexport.compiler.passes.first_prefix import find_first_pieces
from tokexport.compiler.passes.swap_space_marker import keep_spaces
from tokexport.compiler.splits.class_table import ClassTable
from tokexport.compiler.splits.cuts import ASCII, Pairs, safe_cuts
from tokexport.compiler.tries.trie_tables import TrieTables, trie_tables
from tokexport.errors import UnsupportedError
from tokexport.limits import MAX_IDS, MAX_OPS, MAX_STAGES
from tokexport.model import (
    AddedToken,
    BytePairModel,
    PreTokenizerStep,
    Split,
    TokenizerModel,
    WordLevelModel,
)
from tokexport.patterns import SplitProgram, compile_split

MAX_TOKEN_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class AddedTables:
    """The added tokens with their tries; ``classes`` (spaces and word characters) only where some
    token needs them.
    """

    tokens: tuple[AddedToken, ...]
    raw: Trie
    normalized: Trie
    classes: ClassTable | None


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled model. A stage is a split with its program, or what rewrites each piece."""

    encoder: BytePairTables | TrieTables
    stages: tuple[tuple[Split, SplitProgram] | tuple[Op, ...], ...]
    cuts: Pairs
    normalizer: tuple[Op, ...]
    added: AddedTables | None

    @property
    def stage_ops(self) -> list[Op]:
        """The operations of all stages that rewrite, in order."""
        return [
            op for stage in self.stages for op in stage if not isinstance(op, Split | SplitProgram)
        ]


def compile_model(model: TokenizerModel) -> Tables:
    """Compiles a model to tables.

    Raises UnsupportedError for a pattern that cannot be a table, and for a model over the limits of
    the format.
    """
    _check_limits(model)
    added_tokens = model.added_tokens
    model = keep_spaces(
        replace(model, pre_tokenizer=without_idle_splits(model.normalizer, model.pre_tokenizer))
    )
    normalizer = compile_steps(model.normalizer)
    stages = tuple(_stage(step) for step in runs_of_rewrites(model.pre_tokenizer))
    _check_stages(stages, normalizer)
    stages = find_first_pieces(
        normalizer, stages, cut_between=any(token.normalized for token in model.added_tokens)
    )
    normalized = {
        index: token.content.encode()
        if token.verbatim
        else normalize(token.content, model.normalizer).encode()
        for index, token in enumerate(model.added_tokens)
        if token.normalized
    }
    encoder = _encoder(model)
    return Tables(
        encoder=encoder,
        stages=stages,
        cuts=_no_cuts()
        if isinstance(model.model, WordLevelModel) and model.model.fuse_unk
        else safe_cuts(
            normalizer,
            stages,
            model.added_tokens,
            list(normalized.values()),
            _uncrossed(model, encoder),
        ),
        normalizer=normalizer,
        added=_added_tables(
            added_tokens,
            normalized,
            trims=bool(model.offset_trimming and model.offset_trimming.passes),
            restart_after_added=model.restart_after_added,
        ),
    )


def _encoder(model: TokenizerModel) -> BytePairTables | TrieTables:
    if not isinstance(model.model, BytePairModel):
        return trie_tables(model.model)
    if model.model.characters is not None and not model.model.characters.of_bytes:
        for step in model.pre_tokenizer:
            if isinstance(step, Split) and step.on_bytes:
                raise UnsupportedError(
                    step.path,
                    "a split of single bytes before BPE over characters is not supported",
                    "others are",
                )
    return byte_pair_tables(model.model, model.tokens)


def _no_cuts() -> Pairs:
    """Where neighbouring unknown words are one id, both sides of any cut may be unknown, and two
    ids where the whole gives one.
    """
    return np.zeros((ASCII, ASCII), np.bool_)


def _uncrossed(model: TokenizerModel, encoder: BytePairTables | TrieTables) -> Pairs | None:
    """The pairs of ASCII characters that no merge joins, where it does not matter which pieces they
    stand in.
    """
    if not isinstance(encoder, BytePairTables) or encoder.crossings is None:
        return None
    whole_pre_token_first = (
        isinstance(model.model, BytePairModel) and model.model.whole_pre_token_first
    )
    return None if whole_pre_token_first else ~encoder.crossings.ascii


def _stage(
    step: Split | tuple[PreTokenizerStep, ...],
) -> tuple[Split, SplitProgram] | tuple[Op, ...]:
    return (step, compile_split(step)) if isinstance(step, Split) else compile_steps(step)


def _check_stages(
    stages: Sequence[tuple[Split, SplitProgram] | tuple[Op, ...]], normalizer: Sequence[Op]
) -> None:
    if len(stages) > MAX_STAGES:
        raise UnsupportedError(
            "pre_tokenizer",
            f"{len(stages)} stages in a row is not supported",
            f"at most {MAX_STAGES} are",
        )
    ops = len(normalizer) + sum(len(stage) for stage in stages if not isinstance(stage[0], Split))
    if ops > MAX_OPS:
        raise UnsupportedError(
            "normalizer", f"{ops} operations is not supported", f"at most {MAX_OPS} are"
        )
    on_bytes = [isinstance(stage[0], Split) and stage[0].on_bytes for stage in stages]
    if on_bytes != sorted(on_bytes):
        raise UnsupportedError(
            "pre_tokenizer",
            "a rewriting step after ByteLevel is not supported",
            "it may stand before ByteLevel",
        )


def _check_limits(model: TokenizerModel) -> None:
    if len(model.tokens) > MAX_IDS:
        raise UnsupportedError(
            "model.vocab", f"{len(model.tokens)} ids is not supported", f"at most {MAX_IDS} are"
        )
    for token_id, token in enumerate(model.tokens):
        if token is not None and len(token.content) > MAX_TOKEN_BYTES:
            found = f"a token of {len(token.content)} bytes (id {token_id})"
            raise UnsupportedError(
                "model.vocab", f"{found} is not supported", f"at most {MAX_TOKEN_BYTES} bytes are"
            )


def _added_tables(
    tokens: tuple[AddedToken, ...],
    normalized: Mapping[int, bytes],
    *,
    trims: bool,
    restart_after_added: bool,
) -> AddedTables | None:
    if not tokens:
        return None
    raw = [
        (token.content.encode(), index)
        for index, token in enumerate(tokens)
        if not token.normalized
    ]
    contents = [
        *(token.content for token in tokens),
        *(content.decode() for content in normalized.values()),
    ]
    trims = trims and any(text != text.strip() for text in contents)
    strips = trims or any(token.lstrip or token.rstrip or token.single_word for token in tokens)
    return AddedTables(
        tokens,
        build_trie(raw),
        build_trie((content, index) for index, content in normalized.items()),
        space_and_word_classes(of_version_1=restart_after_added) if strips else None,
    )
