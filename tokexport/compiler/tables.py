"""Everything that a writer needs, made from a model once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tokexport.compiler.added_tokens import Trie, build_trie
from tokexport.compiler.class_table import ClassTable, class_table
from tokexport.compiler.cuts import Pairs, safe_cuts
from tokexport.compiler.hashing import PerfectIndex, build_index, hash_contents, hash_pairs
from tokexport.compiler.merges import CanonicalMerges, canonical_merges
from tokexport.compiler.normalize import normalize
from tokexport.compiler.normalizer_table import NormalizerTable, joined_form, normalizer_table
from tokexport.compiler.regex import SplitProgram, compile_split
from tokexport.compiler.unicode import shorthand_set
from tokexport.errors import UnsupportedError
from tokexport.layout import MAX_IDS, MAX_STAGES, NONE, AddedClass
from tokexport.model import AddedToken, Dialect, Split, TokenizerModel

MAX_TOKEN_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by their bytes: ``ids[i]`` has hash ``hashes[i]`` and slot ``index.slots[i]``."""

    ids: npt.NDArray[np.uint64]
    hashes: npt.NDArray[np.uint64]
    index: PerfectIndex
    longest: int


@dataclass(frozen=True, slots=True)
class PairIndex:
    """Merges by their pair: ``left[i]``, ``right[i]`` give ``product[i]`` and have slot ``index.slots[i]``."""

    left: npt.NDArray[np.uint64]
    right: npt.NDArray[np.uint64]
    product: npt.NDArray[np.uint64]
    index: PerfectIndex


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

    merges: CanonicalMerges
    byte_ids: npt.NDArray[np.uint32]
    tokens: TokenIndex
    pairs: PairIndex
    stages: tuple[tuple[Split, SplitProgram], ...]
    cuts: Pairs
    normalizer: NormalizerTable | None
    added: AddedTables | None


def compile_model(model: TokenizerModel) -> Tables:
    """Compiles a model to tables.

    Raises UnsupportedError for a pattern that cannot be a table, and for a model over the limits of the format.
    """
    _check_limits(model)
    merges = canonical_merges(model.model)
    form = joined_form(model.normalizer)
    stages = tuple((split, compile_split(split)) for split in model.splits)
    normalized = {
        index: normalize(token.content, form).encode()
        for index, token in enumerate(model.added_tokens)
        if token.normalized
    }
    return Tables(
        merges=merges,
        byte_ids=np.array([model.model.vocab.get(bytes([byte]), NONE) for byte in range(256)], np.uint32),
        tokens=_token_index(model.model.vocab),
        pairs=_pair_index(merges),
        stages=stages,
        cuts=safe_cuts(stages, model.added_tokens, list(normalized.values()), model.add_prefix_space),
        normalizer=None if form is None else normalizer_table(form),
        added=_added_tables(model, normalized),
    )


def _check_limits(model: TokenizerModel) -> None:
    if len(model.tokens) > MAX_IDS:
        raise UnsupportedError("model.vocab", f"{len(model.tokens)} ids", f"at most {MAX_IDS} are")
    if len(model.splits) > MAX_STAGES:
        raise UnsupportedError("pre_tokenizer", f"{len(model.splits)} splits in a row", f"at most {MAX_STAGES} are")
    for token_id, token in enumerate(model.tokens):
        if token is not None and len(token.content) > MAX_TOKEN_BYTES:
            found = f"a token of {len(token.content)} bytes (id {token_id})"
            raise UnsupportedError("model.vocab", found, f"at most {MAX_TOKEN_BYTES} bytes are")


def _token_index(vocab: Mapping[bytes, int]) -> TokenIndex:
    contents = [content for content in vocab if content]
    hashes = hash_contents(contents)
    ids = np.array([vocab[content] for content in contents], np.uint64)
    return TokenIndex(ids, hashes, build_index(hashes), max(map(len, contents), default=0))


def _pair_index(merges: CanonicalMerges) -> PairIndex:
    product = np.array(list(merges.rules), np.uint64)
    pairs = np.array(list(merges.rules.values()), np.uint64).reshape(-1, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    return PairIndex(left, right, product, build_index(hash_pairs(left, right)))


def _added_tables(model: TokenizerModel, normalized: Mapping[int, bytes]) -> AddedTables | None:
    tokens = model.added_tokens
    if not tokens:
        return None
    raw = [(token.content.encode(), index) for index, token in enumerate(tokens) if not token.normalized]
    strips = any(token.lstrip or token.rstrip or token.single_word for token in tokens)
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
