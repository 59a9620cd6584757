"""What happens to a text before the model runs: normalizer and pre-tokenizer, in steps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Behavior(Enum):
    """What a split does with its matches, as ``SplitDelimiterBehavior`` of ``tokenizers``."""

    ISOLATED = "Isolated"
    REMOVED = "Removed"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


class Dialect(Enum):
    """The engine of a pattern, which decides what ``$``, ``\\s`` and ``(?i:`` mean."""

    ONIGURUMA = "oniguruma"  # tokenizer.json, as `tokenizers` compiles it (Ruby syntax, UTF-8)
    FANCY_REGEX = "fancy-regex"  # tiktoken


class CharacterTest(Enum):
    """Predicates over one character that ``tokenizers`` has in place of a regular expression."""

    NUMERIC = "numeric"  # Digits: Rust's char::is_numeric
    PUNCTUATION = "punctuation"  # Punctuation, BertPreTokenizer
    WHITESPACE = "whitespace"  # WhitespaceSplit, BertPreTokenizer: Rust's char::is_whitespace


class CharacterRuns(Enum):
    """Runs of characters that ``tokenizers`` finds without a regular expression."""

    # UnicodeScripts: a character of a script, then all of that script or of none.
    SCRIPTS = "scripts"


@dataclass(frozen=True, slots=True)
class Split:
    """One pre-tokenizer stage: cut what the stage before left at the matches of a pattern."""

    # The text of a regular expression in `dialect`, or what is matched without one.
    pattern: str | CharacterTest | CharacterRuns
    behavior: Behavior = Behavior.ISOLATED
    # The matches are what lies between the matches of `pattern`.
    invert: bool = False
    dialect: Dialect = Dialect.ONIGURUMA
    # The stage comes after ByteLevel, so it sees one character a byte (GPT-2's byte alphabet).
    on_bytes: bool = False
    # Where in the source the stage stands, for error messages.
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
        return self.name.removesuffix("_17").endswith("C")

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


class CharacterMap(Enum):
    """A normalizer that looks at one character at a time, as ``tokenizers`` defines it."""

    LOWERCASE = "Lowercase"  # Rust's char::to_lowercase
    # Drops combining marks (general category M of the normal forms' Unicode).
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

    # Text if `literal`, else a regular expression in `dialect`.
    pattern: str
    content: str
    literal: bool = True
    dialect: Dialect = Dialect.ONIGURUMA
    # Where in the source the step stands, for error messages.
    path: str = "normalizer"


@dataclass(frozen=True, slots=True)
class Prepend:
    """Puts ``content`` before a text that is not empty."""

    content: str
    # Not if the text starts with it already.
    unless_present: bool = False
    # Only before the text that is the very start of the input (`prepend_scheme` "first").
    only_first: bool = False


@dataclass(frozen=True, slots=True)
class Append:
    """Puts ``content`` after a text that is not empty."""

    content: str


@dataclass(frozen=True, slots=True)
class Charsmap:
    """SentencePiece's precompiled map of character sequences."""

    # u32 size of the trie, the trie (Darts units, u32), then strings that end in NUL;
    # https://github.com/google/sentencepiece. Empty: it has no rule.
    data: bytes
    # As `tokenizers`' Precompiled looks up: a grapheme cluster of at most 5 bytes, else its
    # characters. Otherwise the longest prefix at each place, as `sentencepiece` does.
    by_grapheme: bool
    # Texts that stay as they are (user-defined symbols).
    protected: tuple[str, ...] = ()
    # U+0020 is dropped at the start and after another, unless one text or replacement has both.
    collapses: bool = False
    path: str = "normalizer"


@dataclass(frozen=True, slots=True)
class SpellBytes:
    """Each byte of the text becomes a character of GPT-2's alphabet, which what follows sees.

    Mostly nothing has to see them: then the steps and the model work on bytes (``on_bytes``,
    ``of_bytes``), which is the same and faster.
    """


# What a normalizer does, step by step.
NormalizerStep = (
    NormalForm | CharacterMap | Strip | Replace | Prepend | Append | Charsmap | SpellBytes
)

# What a pre-tokenizer does, step by step: each works on every pre-token of the step before.
PreTokenizerStep = Split | Replace | Prepend | SpellBytes
