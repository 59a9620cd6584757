"""What a tokenizer *is*, whatever file it came from.

A reader turns one source format into a :class:`TokenizerModel`; the compiler turns that into tables. Everything
that decides an id is here and nothing else: a reader refuses (:class:`tokexport.errors.UnsupportedError`) what these classes cannot
say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Behavior(Enum):
    """What a split does with its matches; the names are those of ``tokenizers``' ``SplitDelimiterBehavior``."""

    ISOLATED = "Isolated"
    REMOVED = "Removed"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class Dialect(Enum):
    """Whose regular expressions a pattern is written in: the engine decides what ``$``, ``\\s`` and ``(?i:`` mean."""

    ONIGURUMA = "oniguruma"  # tokenizer.json, as `tokenizers` compiles it (Ruby syntax, UTF-8)
    FANCY_REGEX = "fancy-regex"  # tiktoken


class CharacterTest(Enum):
    """Predicates over one character that ``tokenizers`` calls directly, without a regular expression."""

    NUMERIC = "numeric"  # Digits: Rust's char::is_numeric
    PUNCTUATION = "punctuation"  # Punctuation, BertPreTokenizer
    WHITESPACE = "whitespace"  # WhitespaceSplit, BertPreTokenizer: Rust's char::is_whitespace


@dataclass(frozen=True, slots=True)
class Split:
    """One pre-tokenizer stage: cut each piece at the matches of a pattern.

    ``pattern`` is the text of a regular expression in ``dialect``, or a :class:`CharacterTest` that matches one character at a time.
    ``on_bytes``: the stage stands behind ByteLevel, so it sees one character a byte (GPT-2's byte alphabet), not the text.
    ``path`` says where in the source the stage stands, for error messages.
    """

    pattern: str | CharacterTest
    behavior: Behavior = Behavior.ISOLATED
    invert: bool = False
    dialect: Dialect = Dialect.ONIGURUMA
    on_bytes: bool = False
    path: str = "pre_tokenizer"


class NormalForm(Enum):
    """A Unicode normalization form, as the reference library computes it."""

    NFC = "NFC"
    NFD = "NFD"
    NFKC = "NFKC"
    NFKD = "NFKD"


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in the text before the model runs.

    ``content`` is matched against the text, or, where ``normalized``, its normalized form against the normalized text.
    ``id`` is the id that the reference emits, which is not always the one that the source declares.
    """

    id: int
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class TokenKind(Enum):
    """Why an id exists."""

    MODEL = "model"  # in the model's vocabulary: a byte, or made by merges, or found whole
    ADDED = "added"  # only in the added tokens
    UNKNOWN = "unknown"  # the model's unk_token


@dataclass(frozen=True, slots=True)
class Token:
    """What an id decodes to: raw bytes, byte mapping undone. ``special``: left out by ``skip_special_tokens``."""

    content: bytes
    kind: TokenKind = TokenKind.MODEL
    special: bool = False


@dataclass(frozen=True, slots=True)
class BytePairModel:
    """Byte-level BPE.

    ``vocab`` maps raw bytes to ids for the tokens that the encoder can emit. ``merges`` lists ``(left, right, product)`` ids, in
    the order of their rank; ``None`` says that any two neighbours whose joined bytes are in ``vocab`` merge, with the id as rank
    (tiktoken). ``whole_piece_first``: a piece that is in ``vocab`` is that token, merges or not (tiktoken, ``ignore_merges``).
    A byte that is not in ``vocab`` becomes ``unk_id`` (runs of them one token where ``fuse_unk``), or nothing where that is ``None``.
    """

    vocab: Mapping[bytes, int]
    merges: tuple[tuple[int, int, int], ...] | None
    whole_piece_first: bool = False
    unk_id: int | None = None
    fuse_unk: bool = False


@dataclass(frozen=True, slots=True)
class TemplatePiece:
    """One part of a post-processor's template: a text ("A" or "B") or an id, with its segment (type) id."""

    sequence: str | None = None
    id: int | None = None
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """What the post-processor puts around one text and around a pair; by default it is the texts alone."""

    single: tuple[TemplatePiece, ...] = (TemplatePiece(sequence="A"),)
    pair: tuple[TemplatePiece, ...] = (TemplatePiece(sequence="A"), TemplatePiece(sequence="B", type_id=1))


@dataclass(frozen=True, slots=True)
class SpecialIds:
    """Ids with a role. ``stop``: every id that ends a generation, sorted."""

    bos: int | None = None
    eos: int | None = None
    pad: int | None = None
    unk: int | None = None
    stop: tuple[int, ...] = ()


class Reference(Enum):
    """The library whose ids are the right ones."""

    TOKENIZERS = "tokenizers"
    TIKTOKEN = "tiktoken"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a model came from: the kind of source, and the SHA-256 of each file that was read, by its base name."""

    source: str
    sha256: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """A tokenizer, whole.

    ``tokens[id]`` is ``None`` for a hole in the id space. ``notes`` are sentences for the person who converts: what differs from
    what the source says, and what the reference does about it.
    """

    tokens: tuple[Token | None, ...]
    model: BytePairModel
    reference: Reference
    provenance: Provenance
    normalizer: tuple[NormalForm, ...] = ()
    splits: tuple[Split, ...] = ()
    add_prefix_space: bool = False
    added_tokens: tuple[AddedToken, ...] = ()
    template: Template = Template()
    special_ids: SpecialIds = SpecialIds()
    chat_template: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfTestCase:
    """A text and the ids that the reference gives for it. ``special``: special tokens in the text are ids."""

    text: str
    ids: tuple[int, ...]
    special: bool = False
