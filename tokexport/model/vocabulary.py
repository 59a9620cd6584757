"""The tokens, and the model that chooses among them: BPE, Unigram, WordPiece, WordLevel, greedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt


class TokenKind(Enum):
    """Why an id exists."""

    MODEL = "model"  # in the model's vocabulary: a byte, or made by merges, or found whole
    ADDED = "added"  # only in the added tokens
    UNKNOWN = "unknown"  # the model's unk_token


@dataclass(frozen=True, slots=True)
class Token:
    """What an id decodes to."""

    # Raw bytes: GPT-2's byte alphabet is undone.
    content: bytes
    kind: TokenKind = TokenKind.MODEL
    # Left out by `skip_special_tokens`.
    special: bool = False
    # What it decodes to as the first or the last id, if that is other bytes; never both.
    first: bytes | None = None
    last: bytes | None = None
    # One byte of a character that the vocabulary lacks (`Decoding.byte_fallback`).
    fallback: bool = False

    @property
    def forms(self) -> tuple[bytes, bytes, bytes]:
        """What it decodes to between other ids, as the first, and as the last.

        >>> Token(b" a", first=b"a").forms
        (b' a', b'a', b' a')
        """
        first = self.content if self.first is None else self.first
        last = self.content if self.last is None else self.last
        return self.content, first, last

    @property
    def has_forms(self) -> bool:
        """Whether it decodes to other bytes as the first or the last."""
        return self.first not in (None, self.content) or self.last not in (None, self.content)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in the text before the model runs."""

    # What the reference emits, which is not always what the source declares.
    id: int
    # Matched against the text, or, if `normalized`, in its normalized form after the normalizer.
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    # With `normalized`: matched as it is (SentencePiece's user-defined pieces).
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class CharacterSymbols:
    """How a pre-token becomes the first symbols of BPE if they are characters, not bytes."""

    # Put before every character but the first (`continuing_subword_prefix`).
    prefix: bytes = b""
    # Put after the last character (`end_of_word_suffix`).
    suffix: bytes = b""
    # The tokens of the 256 bytes, or `None`, for characters not in the vocabulary.
    byte_ids: tuple[int | None, ...] | None = None
    # The characters are those of GPT-2's byte alphabet, that is, bytes (CLIP).
    of_bytes: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BytePairModel:
    """BPE, over bytes or, with ``characters``, over characters."""

    # The tokens that the encoder can emit: from the bytes of a token in the text that the model
    # sees (raw bytes, or UTF-8 as the source spells it, with U+2581, `##` or `</w>`) to its id.
    vocab: Mapping[bytes, int]
    # Rows of ids (left, right, product) in the order of their rank. `None`: any two neighbours
    # whose joined bytes are in `vocab` merge, by `ranks` or else by the product's id (tiktoken).
    merges: npt.NDArray[np.integer[Any]] | None
    # A pre-token that is in `vocab` is that token, merges or not (tiktoken, `ignore_merges`).
    whole_pre_token_first: bool = False
    # What a symbol that is not in `vocab` becomes; `None`: nothing.
    unk_id: int | None = None
    # A run of unknown symbols is one token.
    fuse_unk: bool = False
    characters: CharacterSymbols | None = None
    # From id to rank, smaller first, equal ones from the left (SentencePiece).
    ranks: Mapping[int, int] | None = None
    # An unknown symbol stops the reference, and so the encoder.
    unknown_stops: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BytePairModel):
            return NotImplemented
        names = [field.name for field in fields(self) if field.name != "merges"]
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and np.array_equal(self.merges, other.merges)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]  # as of other values with dictionaries


@dataclass(frozen=True, slots=True)
class UnigramModel:
    """The segmentation with the largest sum of scores."""

    vocab: Mapping[bytes, int]
    # By id; 0.0 for one that is not in `vocab`.
    scores: Sequence[float]
    # What a run of unknown characters becomes. `None`: the reference stops, and the encoder.
    unk_id: int | None
    # The score of a character that no token of one character covers.
    unk_score: float
    # What the bytes of an unknown character become in place of `unk_id`.
    byte_ids: tuple[int | None, ...] | None = None
    # Sums are rounded to 32 bits at each step, and reset when they grow large, as `sentencepiece`
    # does; otherwise to 64, as `tokenizers` does, which also looks the text of a run up in `vocab`.
    single_precision: bool = False


@dataclass(frozen=True, slots=True)
class WordPieceModel:
    """The longest token first, until the word is used up."""

    vocab: Mapping[bytes, int]
    # What a word becomes that is too long or not used up. `None`: the encoder stops there.
    unk_id: int | None
    # Put before what is looked up after the start of a word.
    prefix: bytes
    # A word of more characters is unknown.
    max_characters: int


@dataclass(frozen=True, slots=True)
class WordLevelModel:
    """A pre-token is a token or unknown."""

    vocab: Mapping[bytes, int]
    # `None`: the reference stops at an unknown pre-token, and so does the encoder.
    unk_id: int | None
    # Neighbouring unknown pre-tokens are one `unk_id` (SentencePiece).
    fuse_unk: bool = False


@dataclass(frozen=True, slots=True)
class GreedyModel:
    """The longest token at each place, over raw bytes (RWKV)."""

    vocab: Mapping[bytes, int]
    # What a byte becomes with which no token begins. `None`: the encoder stops there.
    unk_id: int | None = None


Model = BytePairModel | UnigramModel | WordPieceModel | WordLevelModel | GreedyModel
