"""What a tokenizer *is*, whatever file it came from.

A reader turns one source format into a :class:`TokenizerModel`; the compiler turns that into
tables. Everything that decides an id is here and nothing else: a reader refuses
(:class:`tokexport.errors.UnsupportedError`) what these classes cannot say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Behavior(Enum):
    """What a split does with its matches; the names are those of ``tokenizers``'
    ``SplitDelimiterBehavior``.
    """

    ISOLATED = "Isolated"
    REMOVED = "Removed"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class Dialect(Enum):
    """Whose regular expressions a pattern is written in: the engine decides what ``$``, ``\\s`` and
    ``(?i:`` mean.
    """

    ONIGURUMA = "oniguruma"  # tokenizer.json, as `tokenizers` compiles it (Ruby syntax, UTF-8)
    FANCY_REGEX = "fancy-regex"  # tiktoken


class CharacterTest(Enum):
    """Predicates over one character that ``tokenizers`` calls directly, without a regular
    expression.
    """

    NUMERIC = "numeric"  # Digits: Rust's char::is_numeric
    PUNCTUATION = "punctuation"  # Punctuation, BertPreTokenizer
    WHITESPACE = "whitespace"  # WhitespaceSplit, BertPreTokenizer: Rust's char::is_whitespace


class CharacterRuns(Enum):
    """Runs of characters that ``tokenizers`` finds without a regular expression."""

    SCRIPTS = (
        "scripts"  # UnicodeScripts: a character of a script, then all of that script or of none
    )


@dataclass(frozen=True, slots=True)
class Split:
    """One pre-tokenizer stage: cut each piece at the matches of a pattern.

    ``pattern`` is the text of a regular expression in ``dialect``, a :class:`CharacterTest` that
    matches one character at a time, or :class:`CharacterRuns`. ``on_bytes``: the stage stands
    after ByteLevel, so it sees one character a byte (GPT-2's byte alphabet), not the text.
    ``path`` says where in the source the stage stands, for error messages.
    """

    pattern: str | CharacterTest | CharacterRuns
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
    # `tokenizers` up to 0.23 has the forms of Unicode 9, from 1.0 on those of Unicode 17.
    NFC_17 = "NFC of Unicode 17"
    NFD_17 = "NFD of Unicode 17"
    NFKC_17 = "NFKC of Unicode 17"
    NFKD_17 = "NFKD of Unicode 17"

    @property
    def composes(self) -> bool:
        """NFC and NFKC."""
        return self.name.removesuffix("_17").endswith("C")

    @property
    def is_compatible(self) -> bool:
        """NFKC and NFKD."""
        return "K" in self.name

    @property
    def is_of_unicode_17(self) -> bool:
        """Whether its tables are the newer ones."""
        return self.name.endswith("_17")

    @property
    def unversioned(self) -> NormalForm:
        """The form of the same name among the first four."""
        return NormalForm[self.name.removesuffix("_17")]

    @property
    def of_unicode_17(self) -> NormalForm:
        """The form of the same name among the last four."""
        return NormalForm[self.unversioned.name + "_17"]


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in the text before the model runs.

    ``content`` is matched against the text, or, where ``normalized``, its normalized form against
    the normalized text; with ``verbatim`` too, ``content`` itself against the normalized text
    (SentencePiece's user-defined pieces). ``id`` is the id that the reference emits, which is not
    always the one that the source declares.
    """

    id: int
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    verbatim: bool = False


class CharacterMap(Enum):
    """A normalizer that looks at one character at a time, as ``tokenizers`` defines it."""

    LOWERCASE = "Lowercase"  # Rust's char::to_lowercase
    STRIP_ACCENTS = (
        "StripAccents"  # drops combining marks (general category M of the normal forms' Unicode)
    )
    NMT = "Nmt"
    BERT_CLEAN = "clean_text"  # BertNormalizer: drops controls, makes white space U+0020
    BERT_CHINESE = "handle_chinese_chars"  # BertNormalizer: U+0020 before and after an ideograph
    BERT_STRIP_ACCENTS = "strip_accents"  # BertNormalizer, after NFD: drops nonspacing marks


@dataclass(frozen=True, slots=True)
class Strip:
    """Drops white space (Rust's ``char::is_whitespace``) at the ends of a text."""

    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class Replace:
    """Replaces each match of ``pattern`` by ``content``. A ``literal`` pattern is text, any other a
    regular expression in ``dialect``.
    """

    pattern: str
    content: str
    literal: bool = True
    dialect: Dialect = Dialect.ONIGURUMA
    path: str = "normalizer"


@dataclass(frozen=True, slots=True)
class Prepend:
    """Puts ``content`` before a text that is not empty.

    ``unless_present``: not where the text starts with it already. ``only_first``: only before the
    text that is the very start of the input (``prepend_scheme`` "first").
    """

    content: str
    unless_present: bool = False
    only_first: bool = False


@dataclass(frozen=True, slots=True)
class Append:
    """Puts ``content`` after a text that is not empty."""

    content: str


@dataclass(frozen=True, slots=True)
class Charsmap:
    """SentencePiece's precompiled map of character sequences.

    ``data``: u32 size of the trie, the trie (Darts units, u32), then strings that end in NUL;
    https://github.com/google/sentencepiece. ``by_grapheme``: as ``tokenizers``' Precompiled looks
    up, a grapheme cluster of at most 5 bytes, else its characters; otherwise the longest prefix at
    each place, as ``sentencepiece`` does. ``protected``: texts that stay as they are (user-defined
    symbols). ``collapses``: U+0020 is dropped at the start of the text and after another one, but
    not where one protected text or replacement has both.
    """

    data: bytes
    by_grapheme: bool
    protected: tuple[str, ...] = ()
    collapses: bool = False


@dataclass(frozen=True, slots=True)
class SpellBytes:
    """Each byte of the text's UTF-8 becomes a character of GPT-2's alphabet, and what follows
    this step sees those characters.

    Mostly nothing has to see them: then the steps and the model work on the bytes (``on_bytes``,
    ``of_bytes``), which is the same and faster.
    """


# What a normalizer does, step by step.
NormalizerStep = (
    NormalForm | CharacterMap | Strip | Replace | Prepend | Append | Charsmap | SpellBytes
)

# What a pre-tokenizer does, step by step: each step works on every piece of the step before.
PreTokenizerStep = Split | Replace | Prepend | SpellBytes


class TokenKind(Enum):
    """Why an id exists."""

    MODEL = "model"  # in the model's vocabulary: a byte, or made by merges, or found whole
    ADDED = "added"  # only in the added tokens
    UNKNOWN = "unknown"  # the model's unk_token


@dataclass(frozen=True, slots=True)
class Token:
    """What an id decodes to: raw bytes, byte mapping undone. ``special``: left out by
    ``skip_special_tokens``.

    ``first``, ``last``: what it decodes to as the first or the last of the decoded ids, where that
    is other bytes; ``only``: as both at once, where that is not what ``first`` and ``last`` already
    say. ``fallback``: its content is one byte, a part of a character that the vocabulary lacks (see
    ``Decoding.byte_fallback``).
    """

    content: bytes
    kind: TokenKind = TokenKind.MODEL
    special: bool = False
    first: bytes | None = None
    last: bytes | None = None
    fallback: bool = False
    only: bytes | None = None

    @property
    def forms(self) -> tuple[bytes, bytes, bytes, bytes]:
        """What it decodes to between other ids, as the first, as the last, and as the only one.

        >>> Token(b" a", first=b"a").forms
        (b' a', b'a', b' a', b'a')
        """
        first = self.content if self.first is None else self.first
        last = self.content if self.last is None else self.last
        only = self.only if self.only is not None else first if self.last is None else last
        return self.content, first, last, only


@dataclass(frozen=True, slots=True)
class CharacterSymbols:
    """How a piece becomes the first symbols of BPE where they are characters, not bytes.

    ``prefix`` stands before every character but the first, ``suffix`` after the last
    (``continuing_subword_prefix``, ``end_of_word_suffix``). ``byte_ids``: the token of each of the
    256 bytes, ``None`` where there is none, for a character that is not in the vocabulary
    (``byte_fallback``). ``of_bytes``: the characters are those of GPT-2's byte alphabet, that is,
    bytes (CLIP).
    """

    prefix: bytes = b""
    suffix: bytes = b""
    byte_ids: tuple[int | None, ...] | None = None
    of_bytes: bool = False


@dataclass(frozen=True, slots=True)
class BytePairModel:
    """BPE, over bytes or, with ``characters``, over characters.

    ``vocab`` maps what a token stands for in the text that the model sees to its id, for the tokens
    that the encoder can emit: raw bytes, or UTF-8 as the source spells it (with U+2581, ``##`` or
    ``</w>``). ``merges`` lists ``(left, right, product)`` ids, in the order of their rank; ``None``
    says that any two neighbours whose joined bytes are in ``vocab`` merge, by ``ranks`` (id ->
    rank, smaller first, equal ones from the left; SentencePiece) or else with the id as rank
    (tiktoken). ``whole_piece_first``: a piece that is in ``vocab`` is that token, merges or not
    (tiktoken, ``ignore_merges``). A symbol that is not in ``vocab`` becomes ``unk_id`` (runs of
    them one token where ``fuse_unk``), or nothing where that is ``None``; where ``unknown_stops``
    it stops the reference, and so the encoder. ``unused``: ids that take part in merges and are
    then taken apart again (SentencePiece); one of a single character becomes the tokens of its
    bytes, or else is unknown.
    """

    vocab: Mapping[bytes, int]
    merges: tuple[tuple[int, int, int], ...] | None
    whole_piece_first: bool = False
    unk_id: int | None = None
    fuse_unk: bool = False
    characters: CharacterSymbols | None = None
    ranks: Mapping[int, int] | None = None
    unused: frozenset[int] = frozenset()
    unknown_stops: bool = False


@dataclass(frozen=True, slots=True)
class UnigramModel:
    """The segmentation with the largest sum of scores.

    ``vocab`` maps UTF-8 to ids, ``scores`` gives the score of each of those ids, ``unk_score`` that
    of a character that no piece of one character covers. Runs of unknown characters are one
    ``unk_id``, or the tokens of their bytes (``byte_ids``). ``single_precision``: sums are rounded
    to 32 bits at each step, and reset where they grow large, as ``sentencepiece`` does; otherwise
    to 64, as ``tokenizers`` does, which also looks the text of a run up in the vocabulary. ``None``
    as ``unk_id``: the reference stops at an unknown character, and so does the encoder.
    ``on_bytes``: the model sees GPT-2's alphabet, so that a character is a byte and ``vocab`` holds
    raw bytes.
    """

    vocab: Mapping[bytes, int]
    scores: Mapping[int, float]
    unk_id: int | None
    unk_score: float
    byte_ids: tuple[int | None, ...] | None = None
    single_precision: bool = False
    on_bytes: bool = False


@dataclass(frozen=True, slots=True)
class WordPieceModel:
    """The longest piece first; after the start of a word a piece is looked up with ``prefix``
    before it.

    A word of more than ``max_characters`` characters, or one that does not come out even, is
    ``unk_id``; ``None``: the reference stops there, and so does the encoder. ``on_bytes``: the
    model sees GPT-2's alphabet, so that a character is a byte.
    """

    vocab: Mapping[bytes, int]
    unk_id: int | None
    prefix: bytes
    max_characters: int
    on_bytes: bool = False


@dataclass(frozen=True, slots=True)
class WordLevelModel:
    """A piece is a token or ``unk_id``; ``None``: the reference stops at an unknown piece, and so
    does the encoder.

    ``fuse_unk``: neighbouring unknown pieces are one ``unk_id`` (SentencePiece).
    """

    vocab: Mapping[bytes, int]
    unk_id: int | None
    fuse_unk: bool = False


@dataclass(frozen=True, slots=True)
class GreedyModel:
    """The longest token at each place, over raw bytes (RWKV). A byte with which no token begins is
    ``unk_id``, or the encoder stops.
    """

    vocab: Mapping[bytes, int]
    unk_id: int | None = None


Model = BytePairModel | UnigramModel | WordPieceModel | WordLevelModel | GreedyModel


class FirstIs(Enum):
    """Which of the decoded ids are the first: those take the form ``Token.first``."""

    ID = "id"  # the first id of all
    CONTENT = "content"  # the first id whose content is not empty; the last one likewise
    TEXT = "text"  # every id, as long as those before it gave no bytes


@dataclass(frozen=True, slots=True)
class Replacing:
    """Pairs of a text, not empty, and what replaces it: the longest at each place of the whole
    decoded text, from its start on.
    """

    rules: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Up to ``count`` of a character are dropped at the start of the whole decoded text, or
    ``at_end``.
    """

    character: str
    count: int
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Prefixed:
    """``prefix`` stands before the whole decoded text where that is not empty."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Begun:
    """``prefix`` is dropped at the start of the text of a run; before one that does not begin so
    stands ``otherwise``.
    """

    prefix: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Each match of a regular expression is replaced; of ``split`` only the pattern matters.

    ``among``: the characters of which the text can be, where they are known and few.
    """

    split: Split
    content: str
    among: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ByteName:
    """A text that is nothing but the name of a byte, like ``<0x41>``, is that byte; U+FFFD where
    that is no character.
    """


TextEdit = Replacing | Matching | Trimmed | Prefixed | ByteName
RunEdit = TextEdit | Begun


@dataclass(frozen=True, slots=True)
class RunEdits:
    """What is done to the text of each run of ``fallback`` tokens by itself, one after the other.

    Each U+FFFD of a run that is no text is a text of its own. ``first``: what is done to the one
    that begins the whole text, before which there is no id; ``others``: to all others.
    """

    first: tuple[RunEdit, ...]
    others: tuple[RunEdit, ...]


@dataclass(frozen=True, slots=True)
class Decoding:
    """What decoding does besides joining what tokens stand for (``Token.forms``).

    ``byte_fallback``: a run of ``fallback`` tokens that is not UTF-8 as a whole gives one U+FFFD
    for each of its bytes; with ``fallback_by_character`` whole characters in it stay, and each
    other byte is one U+FFFD (SentencePiece). ``strip_left``, ``strip_right``: up to so many of a
    character are dropped at the start and the end of the whole text. ``repeats_once``: neighbouring
    equal ids decode once (CTC). ``edits``: what is done to the whole text, one after the other,
    where that is more than dropping a character at its ends; nothing is dropped by ``strip_left``
    and ``strip_right`` then. ``runs``: what is done to the text of runs before that; such a
    decoding has ``byte_fallback`` and of the others only ``edits``.
    """

    byte_fallback: bool = False
    strip_left: tuple[str, int] = ("", 0)
    strip_right: tuple[str, int] = ("", 0)
    repeats_once: bool = False
    fallback_by_character: bool = False
    first_is: FirstIs = FirstIs.ID
    edits: tuple[TextEdit, ...] = ()
    runs: RunEdits | None = None


@dataclass(frozen=True, slots=True)
class TemplatePiece:
    """One part of a post-processor's template: a text ("A" or "B") or an id, with its segment
    (type) id.
    """

    sequence: str | None = None
    id: int | None = None
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """What the post-processor puts around one text and around a pair; by default it is the texts
    alone.
    """

    single: tuple[TemplatePiece, ...] = (TemplatePiece(sequence="A"),)
    pair: tuple[TemplatePiece, ...] = (
        TemplatePiece(sequence="A"),
        TemplatePiece(sequence="B", type_id=1),
    )


@dataclass(frozen=True, slots=True)
class Trimming:
    """What the post-processor takes off the span of a token whose name begins or ends with white
    space.

    ``passes``: one for each processor that trims, in order; ``True`` where it leaves one space at
    the start of a text (``add_prefix_space``). A name has as much white space at its start and end
    as ``Token.content`` has U+0020 there; ``exceptions`` gives both numbers for the other ids.
    """

    passes: tuple[bool, ...] = ()
    exceptions: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alignment:
    """How ``sentencepiece`` says what a normalized text stems from: it goes through the text once,
    rule by rule.

    ``prefix``, ``suffix``: a space is put before or after the text. ``collapses``: spaces at both
    ends, and after a space, are dropped. ``protected``: texts that are taken together
    (user-defined pieces).
    """

    prefix: bool = False
    suffix: bool = False
    collapses: bool = False
    protected: tuple[str, ...] = ()


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
    SENTENCEPIECE = "sentencepiece"
    RWKV = (
        "rwkv"  # the published algorithm, greedy longest match, run by tokexport.sources.references
    )


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a model came from: the kind of source, and the SHA-256 of each file that was read, by
    its base name.
    """

    source: str
    sha256: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenizerModel:
    """A tokenizer, whole.

    ``tokens[id]`` is ``None`` for a hole in the id space. ``notes`` are sentences for the person
    who converts: what differs from what the source says, and what the reference does about it.
    ``offset_trimming`` is ``None`` where the reference's offsets cannot be told; ``offset_alignment`` where they
    are found step by step, as ``tokenizers`` does it. ``restart_after_added``: after each added token the
    next one is looked for as if the text began there, and words have other characters, as in
    ``tokenizers`` from 1.0 on.
    """

    tokens: tuple[Token | None, ...]
    model: Model
    reference: Reference
    provenance: Provenance
    normalizer: tuple[NormalizerStep, ...] = ()
    pre_tokenizer: tuple[PreTokenizerStep, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    template: Template = Template()
    offset_trimming: Trimming | None = Trimming()
    offset_alignment: Alignment | None = None
    restart_after_added: bool = False
    decoding: Decoding = Decoding()
    special_ids: SpecialIds = SpecialIds()
    chat_template: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfTestCase:
    """A text and the ids that the reference gives for it. ``special``: special tokens in the text
    are ids.
    """

    text: str
    ids: tuple[int, ...]
    special: bool = False
