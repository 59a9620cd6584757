"""What happens to a text before the model runs: normalizer and pre-tokenizer, in steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tokexport.unicode import CharacterTest as CharacterTest
from tokexport.unicode import Dialect as Dialect


class Behavior(Enum):
    """What a split does with its matches: ``SplitDelimiterBehavior`` of ``tokenizers``."""

    ISOLATED = "Isolated"
    REMOVED = "Removed"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class CharacterRuns(Enum):
    """Runs of characters that ``tokenizers`` finds without a regular expression."""

    # UnicodeScripts: a character of a script, then all that follow of that script or of none.
    SCRIPTS = "scripts"


@dataclass(frozen=True, slots=True)
class Split:
    """One pre-tokenizer stage: cuts the pre-tokens so far at the matches of a pattern."""

    # A regular expression in `dialect`, or a test or runs that need none.
    pattern: str | CharacterTest | CharacterRuns
    behavior: Behavior = Behavior.ISOLATED
    # The matches are the gaps between the matches of `pattern`.
    invert: bool = False
    dialect: Dialect = Dialect.ONIGURUMA
    # The stage comes after ByteLevel, so it sees one character per byte (GPT-2's byte alphabet).
    on_bytes: bool = False
    # The path of the stage in the source, for error messages.
    path: str = "pre_tokenizer"


class NormalForm(Enum):
    """A Unicode normal form, as the reference library computes it."""

    NFC = "NFC"
    NFD = "NFD"
    NFKC = "NFKC"
    NFKD = "NFKD"
    # `tokenizers` up to 0.23 has the normal forms of Unicode 9, from 1.0 on those of Unicode 17.
    NFC_17 = "NFC of Unicode 17"
    NFD_17 = "NFD of Unicode 17"
    NFKC_17 = "NFKC of Unicode 17"
    NFKD_17 = "NFKD of Unicode 17"

    @property
    def composes(self) -> bool:
        return self.name.removesuffix("_17").endswith("C")

    @property
    def is_of_unicode_17(self) -> bool:
        return self.name.endswith("_17")

    @property
    def of_unicode_17(self) -> NormalForm:
        return NormalForm[f"{self.name.removesuffix('_17')}_17"]


class CharacterMap(Enum):
    """A normalizer that looks at one character at a time, as ``tokenizers`` defines it."""

    LOWERCASE = "Lowercase"  # Rust's char::to_lowercase
    # Drops combining marks (general category M, in the Unicode version of the normal forms).
    STRIP_ACCENTS = "StripAccents"
    NMT = "Nmt"
    # BertNormalizer: drops controls, makes white space U+0020.
    BERT_CLEAN = "clean_text"
    # BertNormalizer: U+0020 before and after an ideograph.
    BERT_CHINESE = "handle_chinese_chars"
    # BertNormalizer, after NFD: drops nonspacing marks.
    BERT_STRIP_ACCENTS = "strip_accents"


@dataclass(frozen=True, slots=True)
class Strip:
    """Drops white space (Rust's ``char::is_whitespace``) at the ends of a text."""

    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class Replace:
    """Replaces each match of ``pattern`` by ``content``."""

    pattern: str  # a text if `literal`, otherwise a regular expression in `dialect`
    content: str
    literal: bool = True
    dialect: Dialect = Dialect.ONIGURUMA
    path: str = "normalizer"  # the path of the step in the source, for error messages


@dataclass(frozen=True, slots=True)
class Prepend:
    """Puts ``content`` before a text that is not empty."""

    content: str
    # Not if the text already starts with it.
    unless_present: bool = False
    # Only before text at the very start of the input (`prepend_scheme` "first").
    only_first: bool = False


@dataclass(frozen=True, slots=True)
class Append:
    """Puts ``content`` after a text that is not empty."""

    content: str


@dataclass(frozen=True, slots=True)
class Charsmap:
    """SentencePiece's precompiled map of character sequences."""

    # u32 size of the trie, the trie (Darts units, u32), then strings that end in NUL;
    # https://github.com/google/sentencepiece. Empty: no rules.
    data: bytes
    # Look up grapheme clusters of at most 5 bytes, otherwise their characters, as `tokenizers`'
    # Precompiled does. False: the longest prefix at each position, as `sentencepiece` does.
    by_grapheme: bool
    # Texts that are left unchanged (user-defined symbols).
    protected: tuple[str, ...] = ()
    path: str = "normalizer"


@dataclass(frozen=True, slots=True)
class PieceNormalizer:
    """The normalizer of ``sentencepiece``, which aligns its result with the text as a whole."""

    charsmap: bytes = b""  # as in `Charsmap`: mapped first
    prefix: bool = False  # a space is put before the text
    suffix: bool = False  # a space is put after the text; never both
    collapses: bool = False  # spaces at both ends, and after a space, are dropped
    escapes: bool = True  # every space becomes U+2581
    protected: tuple[str, ...] = ()  # user-defined pieces, which are not normalized
    path: str = "normalizer_spec"


@dataclass(frozen=True, slots=True)
class SpellBytes:
    """Each byte of the text becomes a character of GPT-2's alphabet, which later steps see.

    Usually nothing needs these characters: then the steps and the model work on bytes
    (``on_bytes``, ``of_bytes``), which is equivalent and faster.
    """


# The steps of a normalizer.
NormalizerStep = (
    NormalForm | CharacterMap | Strip | Replace | Prepend | Append | Charsmap | SpellBytes
)

# The steps of a pre-tokenizer: each works on every pre-token of the step before.
PreTokenizerStep = Split | Replace | Prepend | SpellBytes
