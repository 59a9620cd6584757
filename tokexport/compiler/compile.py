"""From a model to tables: each pass and each part of the compiler, in order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tokexport._core import give_back_memory
from tokexport.compiler.cuts import ASCII, safe_cuts
from tokexport.compiler.decoder.edits import decoder_table
from tokexport.compiler.decoder.forms import stored_forms
from tokexport.compiler.merges.byte_pair import byte_pair_tables
from tokexport.compiler.normalizer.first_prefix import Stage, mark_first_prefixes
from tokexport.compiler.normalizer.op_tables import op_tables
from tokexport.compiler.normalizer.piece_steps import piece_steps
from tokexport.compiler.normalizer.rewriting import CharsmapOp, Op, compile_steps, runs_of_rewrites
from tokexport.compiler.passes.check_insertions import check_insertions
from tokexport.compiler.passes.dead_splits import without_dead_splits
from tokexport.compiler.passes.swap_space_marker import swap_space_marker
from tokexport.compiler.passes.work_on_bytes import work_on_bytes
from tokexport.compiler.splits.class_table import space_and_word_classes
from tokexport.compiler.splits.compile_split import compile_split, program_table
from tokexport.compiler.tables import (
    AddedTables,
    BytePairTables,
    EncodingTables,
    Pairs,
    SplitStage,
    StoredForms,
    Tables,
    Trie,
    TrieTables,
)
from tokexport.compiler.tries.byte_trie import build_trie
from tokexport.compiler.tries.trie_tables import trie_tables
from tokexport.errors import UnsupportedError
from tokexport.limits import MAX_IDS, MAX_OPS, MAX_STAGES, MAX_TOKEN_BYTES, check_count
from tokexport.model import (
    BytePairModel,
    GreedyModel,
    Model,
    Reference,
    Split,
    TokenizerModel,
    Tokens,
    UnigramModel,
    WordLevelModel,
    WordPieceModel,
)
from tokexport.model.normalization.normalize import normalize

KINDS: Final[Mapping[type[Model], str]] = {
    BytePairModel: "BPE",
    UnigramModel: "UNIGRAM",
    WordPieceModel: "WORDPIECE",
    WordLevelModel: "WORDLEVEL",
    GreedyModel: "GREEDY",
}

_NO_OFFSETS: Final = (
    "The file cannot give the offsets of the reference: ids are exact, offsets are refused."
)


def compile_model(model: TokenizerModel, *, decode_only: bool = False) -> Tables:
    """Compiles a model. UnsupportedError, with the path of a part that has no exact table."""
    model = prepared(model, decode_only=decode_only)
    tokens = Tokens.of(model.tokens)
    _check_limits(tokens)
    encoding, forms = (None, stored_forms(tokens)) if decode_only else _encoding(model, tokens)
    return Tables(
        model=model,
        tokens=tokens,
        kind=KINDS[type(model.model)],
        flags=_flags(model),
        forms=forms,
        decoder=decoder_table(model.decoding, has_one_form=forms.are_contents),
        encoding=encoding,
    )


def prepared(model: TokenizerModel, *, decode_only: bool = False) -> TokenizerModel:
    """The equivalent model to compile; UnsupportedError where the reference would fail, or its ids
    depend on chance.
    """
    if not decode_only and isinstance(model.model, BytePairModel) and model.model.dropout:
        raise UnsupportedError(
            "model.dropout",
            f"a dropout of {model.model.dropout} is not supported",
            "use null or 0.0, or --decode-only (decode_only=True): with dropout ids depend on"
            " chance, decoding does not; if a class is named beside it, --reference transformers"
            " may leave the dropout out",
        )
    if model.piece_normalizer is not None:
        model = replace(model, normalizer=piece_steps(model.piece_normalizer))
    model = work_on_bytes(check_insertions(model))
    if model.offset_trimming is not None or _NO_OFFSETS in model.notes:
        return model
    return replace(model, notes=(*model.notes, _NO_OFFSETS))


def _encoding(original: TokenizerModel, tokens: Tokens) -> tuple[EncodingTables, StoredForms]:
    """The tables of the encoder, and between them the surface forms, where there is memory."""
    splits = without_dead_splits(original.normalizer, original.pre_tokenizer)
    model = swap_space_marker(replace(original, pre_tokenizer=splits))
    give_back_memory()
    normalizer = compile_steps(model.normalizer)
    stages: tuple[Stage, ...] = tuple(
        (step, compile_split(step)) if isinstance(step, Split) else compile_steps(step)
        for step in runs_of_rewrites(model.pre_tokenizer)
    )
    _check_stages(stages, normalizer)
    stages = mark_first_prefixes(
        normalizer, stages, cut_between=any(token.normalized for token in model.added_tokens)
    )
    normalized = {
        index: normalize(token.content, () if token.verbatim else model.normalizer).encode()
        for index, token in enumerate(model.added_tokens)
        if token.normalized
    }
    rewrites = [stage for stage in stages if not isinstance(stage[0], Split)]
    give_back_memory()  # of the patterns: they hold at least a byte per code point
    ops = iter(op_tables([*normalizer, *chain.from_iterable(rewrites)]))
    give_back_memory()
    # BPE takes most memory while it is compiled, a trie when it is done: one is first, one last.
    byte_pairs = _encoder(model, tokens) if isinstance(model.model, BytePairModel) else None
    give_back_memory()
    op_rows = tuple(islice(ops, len(normalizer)))
    stage_tables = tuple(
        SplitStage(stage[0], program_table(stage[1]))
        if isinstance(stage[0], Split)
        else tuple(islice(ops, len(stage)))
        for stage in stages
    )
    added = _added_tables(original, normalized)
    protected = _protected(model, normalizer)
    give_back_memory()
    forms = stored_forms(tokens)
    give_back_memory()
    contents = [*normalized.values()]
    uncrossed = _uncrossed(model, byte_pairs and byte_pairs[0])
    cuts = safe_cuts(normalizer, stages, model.added_tokens, contents, uncrossed)
    give_back_memory()
    encoder, scores = byte_pairs or _encoder(model, tokens)
    give_back_memory()
    tables = EncodingTables(encoder, scores, op_rows, stage_tables, cuts, added, protected)
    return tables, forms


def _flags(model: TokenizerModel) -> tuple[str, ...]:
    inner = model.model
    of_tiktoken = model.reference is Reference.TIKTOKEN
    found = {
        "WHOLE_FIRST": isinstance(inner, BytePairModel) and inner.whole_pre_token_first,
        "FUSE_UNKNOWN": isinstance(inner, BytePairModel | WordLevelModel) and inner.fuse_unk,
        "SEARCH_ANEW": model.restart_after_added,
        "RESCAN_SPECIAL": of_tiktoken,
        "REPLACE_SURROGATES": of_tiktoken,
        "UNKNOWN_STOPS": isinstance(inner, BytePairModel) and inner.unknown_stops,
    }
    return tuple(name for name, holds in found.items() if holds)


def _encoder(
    model: TokenizerModel, tokens: Tokens
) -> tuple[BytePairTables | TrieTables, npt.NDArray[np.floating[Any]] | None]:
    """The tables of the model, and the scores of its ids."""
    if not isinstance(model.model, BytePairModel):
        scores = None
        if isinstance(model.model, UnigramModel):
            scores = np.asarray(model.model.scores, np.float64)
            if len(scores) < len(model.tokens):
                scores = np.pad(scores, (0, len(model.tokens) - len(scores)))
        return trie_tables(model.model), scores
    if model.model.characters is not None and not model.model.characters.of_bytes:
        for step in model.pre_tokenizer:
            if isinstance(step, Split) and step.on_bytes:
                raise UnsupportedError(
                    step.path,
                    "a split of single bytes before BPE over characters is not supported",
                    "split whole characters, or use BPE over bytes",
                )
    return byte_pair_tables(model.model, tokens)


def _uncrossed(model: TokenizerModel, encoder: BytePairTables | TrieTables | None) -> Pairs | None:
    """The pairs of ASCII characters that no token joins, or None if not only these matter.

    A character that BPE drops moves all later spans of its pre-token, so the two sides of a cut
    there would have the right ids, but other spans.
    """
    inner = model.model
    is_single = isinstance(inner, UnigramModel) and inner.single_precision
    if is_single or isinstance(inner, GreedyModel):
        return _uncrossed_by_tokens(inner.vocab)
    if not isinstance(encoder, BytePairTables) or encoder.crossings is None:
        return None
    rule, flags = encoder.crossings.rule, _flags(model)
    drops = rule == "BOTH_KNOWN" and "UNKNOWN_STOPS" not in flags
    if drops or rule == "BYTES" or "WHOLE_FIRST" in flags:
        return None
    return ~encoder.crossings.dense


def _uncrossed_by_tokens(vocab: Iterable[bytes]) -> Pairs:
    """The pairs of ASCII characters that are in no token, and not both in unknown text: a run of
    unknown text is one id.
    """
    crossed = np.zeros((ASCII, ASCII), np.bool_)
    is_token = np.zeros(ASCII, np.bool_)
    for token in vocab:
        for left, right in pairwise(token):
            if left < ASCII > right:
                crossed[left, right] = True
        if len(token) == 1 and token.isascii():
            is_token[token[0]] = True
    return ~crossed & (is_token[:, None] | is_token)


def _check_stages(stages: Sequence[Stage], normalizer: Sequence[Op]) -> None:
    check_count("pre_tokenizer", len(stages), "stages in a row", MAX_STAGES)
    ops = len(normalizer) + sum(len(stage) for stage in stages if not isinstance(stage[0], Split))
    check_count("normalizer", ops, "operations", MAX_OPS)
    on_bytes = [isinstance(stage[0], Split) and stage[0].on_bytes for stage in stages]
    if on_bytes != sorted(on_bytes):
        raise UnsupportedError(
            "pre_tokenizer",
            "a rewriting step after ByteLevel is not supported",
            "put the step before ByteLevel",
        )


def _check_limits(tokens: Tokens) -> None:
    if not tokens:
        raise UnsupportedError("the vocabulary", "it has no tokens", "add at least one token")
    check_count("model.vocab", len(tokens), "ids", MAX_IDS)
    sizes = tokens.contents.sizes
    noun = f"bytes in one token (id {sizes.argmax()})"
    check_count("model.vocab", int(sizes.max()), noun, MAX_TOKEN_BYTES)


def _added_tables(model: TokenizerModel, normalized: Mapping[int, bytes]) -> AddedTables | None:
    tokens = model.added_tokens
    if not tokens:
        return None
    raw = {i: token.content.encode() for i, token in enumerate(tokens) if not token.normalized}
    contents = [token.content for token in tokens] + [text.decode() for text in normalized.values()]
    trims = bool(model.offset_trimming and model.offset_trimming.passes)
    trims = trims and any(text != text.strip() for text in contents)
    looks = trims or any(token.lstrip or token.rstrip or token.single_word for token in tokens)
    return AddedTables(
        tokens,
        build_trie(raw.items()),
        build_trie(normalized.items()),
        space_and_word_classes(of_version_1=model.restart_after_added) if looks else None,
    )


def _protected(model: TokenizerModel, normalizer: Sequence[Op]) -> Trie | None:
    if model.piece_normalizer is None:
        return None
    # A charsmap already contains these texts.
    has_charsmap = any(isinstance(op, CharsmapOp) and op.clusters is None for op in normalizer)
    texts = () if has_charsmap else model.piece_normalizer.protected
    return build_trie(enumerate(text.encode() for text in texts))
