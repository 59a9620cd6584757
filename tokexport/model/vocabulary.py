"""The tokens, and the model that chooses among them: BPE, Unigram, WordPiece, WordLevel, greedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt


class TokenKind(Enum):
    """Why an id exists."""

    MODEL = "model"  # in the model's vocabulary: a byte, a merged id, or a token found whole
    ADDED = "added"  # only in the added tokens
    UNKNOWN = "unknown"  # the model's unk_token


@dataclass(frozen=True, slots=True)
class Token:
    """What an id decodes to."""

    # Raw bytes, not spelled in GPT-2's byte alphabet.
    content: bytes
    kind: TokenKind = TokenKind.MODEL
    # Left out by `skip_special_tokens`.
    special: bool = False
    # What it decodes to as the first or the last id, if different; never both.
    first: bytes | None = None
    last: bytes | None = None
    # One byte of a character that the vocabulary lacks (`Decoding.byte_fallback`).
    fallback: bool = False

    @property
    def forms(self) -> tuple[bytes, bytes, bytes]:
        """What it decodes to between other ids, as the first id, and as the last.

        >>> Token(b" a", first=b"a").forms
        (b' a', b'a', b' a')
        """
        first = self.content if self.first is None else self.first
        last = self.content if self.last is None else self.last
        return self.content, first, last


@dataclass(frozen=True, slots=True)
class CharacterSymbols:
    """How a pre-token becomes first symbols of BPE where these are characters, not bytes."""

    # Put before every character but the first (`continuing_subword_prefix`).
    prefix: bytes = b""
    # Put after the last character (`end_of_word_suffix`).
    suffix: bytes = b""
    # The tokens of the 256 bytes (`None`: no token), for characters not in the vocabulary.
    byte_ids: tuple[int | None, ...] | None = None
    # The characters are those of GPT-2's byte alphabet, so they are bytes (CLIP).
    of_bytes: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BytePairModel:
    """BPE, over bytes or, with ``characters``, over characters."""

    # The ids of the tokens that the encoder can emit, by their bytes in the text that the model
    # sees (raw bytes, or UTF-8 as the source spells it, with U+2581, `##` or `</w>`).
    vocab: Mapping[bytes, int]
    # Rows of ids (left, right, merged) in order of rank. `None`: any two neighbours whose joined
    # bytes are in `vocab` merge, ranked by `ranks` or otherwise by the merged id (tiktoken).
    merges: npt.NDArray[np.integer[Any]] | None
    # A pre-token in `vocab` is that token, whatever its merges give (tiktoken, `ignore_merges`).
    whole_pre_token_first: bool = False
    # What a symbol that is not in `vocab` becomes; `None`: nothing.
    unk_id: int | None = None
    # A run of unknown symbols is one token.
    fuse_unk: bool = False
    characters: CharacterSymbols | None = None
    # From id to rank: smaller ranks first, equal ranks from the left (SentencePiece).
    ranks: Mapping[int, int] | None = None
    # The reference fails at an unknown symbol, and so does the encoder.
    unknown_stops: bool = False
    # The probability with which the reference skips a merge: then only decoding can be exact.
    dropout: float = 0.0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BytePairModel):
            return NotImplemented
        names = [field.name for field in fields(self) if field.name != "merges"]
        same = all(getattr(self, name) == getattr(other, name) for name in names)
        return same and np.array_equal(self.merges, other.merges)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]  # as for other values that hold dictionaries


@dataclass(frozen=True, slots=True)
class UnigramModel:
    """The segmentation with the largest sum of scores."""

    vocab: Mapping[bytes, int]
    # By id; 0.0 for an id that is not in `vocab`.
    scores: Sequence[float]
    # What a run of unknown characters becomes. `None`: the reference and the encoder fail there.
    unk_id: int | None
    # The score of a character that is not a token by itself.
    unk_score: float
    # What the bytes of an unknown character become in place of `unk_id`.
    byte_ids: tuple[int | None, ...] | None = None
    # Sums are rounded to 32 bits at each step, and reset when they grow large, as in
    # `sentencepiece`; else to 64, as in `tokenizers`, which also looks up a run's text in `vocab`.
    single_precision: bool = False


@dataclass(frozen=True, slots=True)
class WordPieceModel:
    """The longest token first, until the end of the word."""

    vocab: Mapping[bytes, int]
    # What a word becomes that is too long or cannot be covered. `None`: the encoder fails there.
    unk_id: int | None
    # The prefix of each lookup after the start of a word.
    prefix: bytes
    # A word with more characters is unknown.
    max_characters: int


@dataclass(frozen=True, slots=True)
class WordLevelModel:
    """A pre-token is a token or unknown."""

    vocab: Mapping[bytes, int]
    # `None`: the reference fails at an unknown pre-token, and so does the encoder.
    unk_id: int | None
    # Adjacent unknown pre-tokens become one `unk_id` (SentencePiece).
    fuse_unk: bool = False


@dataclass(frozen=True, slots=True)
class GreedyModel:
    """The longest token at each position, over raw bytes (RWKV)."""

    vocab: Mapping[bytes, int]
    # What a byte becomes if no token begins with it. `None`: the encoder fails there.
    unk_id: int | None = None


Model = BytePairModel | UnigramModel | WordPieceModel | WordLevelModel | GreedyModel
