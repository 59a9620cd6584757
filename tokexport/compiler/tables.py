"""What the compiler makes of a model: everything that the writer of a file needs.

Plain numbers and arrays, not yet in their encoding in the file: -1 stands for a missing id, and
kinds and flags are the names that the layout gives them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tokexport.model import AddedToken, ByteStrings, Split, TokenizerModel, Tokens
from tokexport.model import SelfTestCase as SelfTestCase
from tokexport.model.byte_strings import Numbers as Numbers
from tokexport.model.tokens import KINDS as KINDS
from tokexport.patterns import SplitProgram

Pairs = npt.NDArray[np.bool_]  # (128, 128): row = left ASCII character, column = right one


def numbers_of(ids: Iterable[int | None]) -> npt.NDArray[np.int64]:
    return np.array([-1 if number is None else number for number in ids], np.int64)


@dataclass(frozen=True, slots=True)
class ClassTable:
    """From code points to small numbers: ``top`` (272,) uint16 per table, ``middle`` (m, 64)
    uint16, ``leaves`` (n, 64) of the numbers' own type.
    """

    top: npt.NDArray[np.uint16]
    middle: npt.NDArray[np.uint16]
    leaves: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class PerfectIndex:
    """A one-probe index of keys."""

    slots: npt.NDArray[np.uint32]  # the slot of each key
    displacements: npt.NDArray[np.uint16]  # one for each bucket
    starts: npt.NDArray[np.uint32]  # the first slot of each row, then the end of the last row

    @property
    def slot_count(self) -> int:
        return int(self.starts[-1])


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by the pre-token that becomes them. A fingerprint is the top 11 bits of a hash."""

    keys: ByteStrings  # the pre-tokens
    whole: Numbers  # the ids whose pre-token merges to just that id
    ids: npt.NDArray[np.uint32]
    fingerprints: npt.NDArray[np.uint16]
    index: PerfectIndex


@dataclass(frozen=True, slots=True)
class PairIndex:
    """Rules as left, right and merged id, 21 bits each; the row of a rule is left >> row_shift."""

    rules: npt.NDArray[np.uint64]
    row_shift: int
    index: PerfectIndex


@dataclass(frozen=True, slots=True)
class Crossings:
    """Where BPE must not be cut.

    ``dense``: (128, 128) ASCII characters or, with the rule BYTES, (256, 256) bytes on either side
    of a boundary; ``hashed``: (1 << bits,) for other characters.
    """

    rule: str  # what else matters, such as characters that have no symbol: a name of CrossingRule
    dense: Pairs
    hashed: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BytePairTables:
    """BPE."""

    # The rank of the merge that makes each id, or -1; None where ranks are in the order of ids.
    ranks: npt.NDArray[np.int64] | None
    # The token of each single byte, or -1.
    byte_ids: npt.NDArray[np.int64]
    # First symbols, where they differ from ``byte_ids``. By character: a table for each place. By
    # byte: shape (places, 256).
    characters: ClassTable | npt.NDArray[np.int64] | None
    tokens: TokenIndex
    pairs: PairIndex
    crossings: Crossings | None
    # Length of the longest key in bytes.
    longest: int


@dataclass(frozen=True, slots=True)
class TrieTables:
    """A model that looks up pre-tokens in a trie. Its units are packed as in a file, as there may
    be millions: the base of the node, the id that ends there and the label, in 32, 23 and 9 bits.
    """

    units: npt.NDArray[np.uint64]
    # Base of the root.
    root: int
    # Length of the longest key in bytes.
    longest: int
    # WordPiece: base of the node after the prefix; 0 if no token begins with it.
    continuation: int = 0
    max_characters: int = 0
    unknown_score: float = 0.0
    single_precision: bool = False
    # The token of each of the 256 bytes, or -1.
    byte_ids: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class ProgramTable:
    """A program and its input classes (None: it reads bytes)."""

    program: SplitProgram
    classes: ClassTable | None
    skip_leads: int  # bit b - 0xC0: no match begins with a character whose first byte is b


@dataclass(frozen=True, slots=True)
class SplitStage:
    """A stage that cuts."""

    split: Split
    table: ProgramTable


@dataclass(frozen=True, slots=True)
class Trie:
    """A trie over byte strings, its nodes in breadth-first order."""

    # The first edge of each node, then the end of the last node's edges.
    first_edges: npt.NDArray[np.int64]
    # The number of the text that ends at each node, or -1.
    tokens: npt.NDArray[np.int64]
    # The byte and the child of each edge.
    edges: npt.NDArray[np.int64]
    # Bit b: some text begins with byte b.
    starts: bytes


@dataclass(frozen=True, slots=True)
class FormTable:
    """A normal form: ``numbers`` maps a code point to its entry."""

    # A name of NormalFormCode.
    form: str
    numbers: ClassTable
    # For each entry: start and length of its decomposition in ``points``, combining class, whether
    # the quick check says No or Maybe.
    entries: npt.NDArray[np.int64]
    points: npt.NDArray[np.int64]
    # First and second code point, and what they become; sorted.
    compositions: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MapTable:
    """Each character becomes a text: ``numbers`` maps a code point to its entry."""

    # What each ASCII character becomes, where that is one ASCII character.
    ascii: tuple[int | None, ...]
    numbers: ClassTable
    # For each entry: start in ``text``, bytes before, bytes after, and what is between them: 0:
    # nothing, 1: the character, 2: the letters of a Hangul syllable.
    entries: npt.NDArray[np.int64]
    text: bytes
    # Bit b - 0xC0: every character whose first byte is b is left unchanged.
    skip_leads: int


@dataclass(frozen=True, slots=True)
class CharsmapTable:
    """SentencePiece's map of sequences, by grapheme cluster where there are ``clusters``."""

    units: npt.NDArray[np.uint32]
    text: bytes
    protected: Trie
    clusters: ProgramTable | None
    # Characters in this class of ``clusters`` and in higher ones are left unchanged.
    first_plain: int


@dataclass(frozen=True, slots=True)
class OpTable:
    """An operation: n bytes before the first one are at most ``growth * n + extra`` after this."""

    kind: str  # a name of OpKind
    flags: tuple[str, ...]  # names of OpFlag
    growth: int
    extra: int
    table: FormTable | MapTable | ProgramTable | CharsmapTable | None = None
    content: str = ""


# Each stage of the pre-tokenizer cuts, or rewrites.
Stages = Sequence[SplitStage | tuple[OpTable, ...]]


@dataclass(frozen=True, slots=True)
class AddedTables:
    """The added tokens with their tries: one for the raw and one for the normalized text."""

    tokens: tuple[AddedToken, ...]
    raw: Trie
    normalized: Trie
    # Flags of each character, names of AddedClass: SPACE 1, WORD 2. None: no token needs them.
    classes: ClassTable | None


@dataclass(frozen=True, slots=True)
class StoredForms:
    """The distinct contents of tokens, joined, and for each id the offset of its content. The first
    token is ``first_more`` bytes longer or ``first_skip`` bytes shorter at its front, the last
    token ``last_skip`` bytes shorter at its end.
    """

    data: bytes
    offsets: npt.NDArray[np.uint32]
    first_skip: npt.NDArray[np.uint8]
    first_more: npt.NDArray[np.uint8]
    last_skip: npt.NDArray[np.uint8]

    @property
    def are_contents(self) -> bool:
        """Whether every token decodes to its content as the first and the last id too."""
        return not (self.first_skip.any() or self.first_more.any() or self.last_skip.any())


@dataclass(frozen=True, slots=True)
class EditTable:
    """A machine that reads the joined text byte by byte; it starts in state 0."""

    # The class of each byte, shape (256,).
    classes: npt.NDArray[np.uint8]
    # By state and class: the bytes written, the next state, and whether the byte read is written
    # after them.
    steps: tuple[tuple[tuple[bytes, int, bool], ...], ...]
    # What each state writes at the end of the text.
    ends: tuple[bytes, ...]
    # The last class is not a byte: it says that a token outside a run begins.
    reads_tokens: bool = False


@dataclass(frozen=True, slots=True)
class DecoderTable:
    """What decoding does besides joining bytes."""

    flags: tuple[str, ...]  # names of DecoderFlag
    strip_left: int  # the ASCII character that is dropped once at the start of the text, or 0
    edits: EditTable | None


@dataclass(frozen=True, slots=True)
class EncodingTables:
    """The tables that encode a text."""

    encoder: BytePairTables | TrieTables
    # A score for each id; None: the model has none.
    scores: npt.NDArray[np.floating[Any]] | None
    normalizer: tuple[OpTable, ...]
    stages: Stages
    # The pairs between which any text may be cut.
    cuts: Pairs
    added: AddedTables | None
    # The texts that offsets treat as a unit, where the normalizer is aligned as a whole.
    protected: Trie | None


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled model."""

    model: TokenizerModel  # the writer takes from it what needs no compiling
    tokens: Tokens
    kind: str  # a name of ModelType
    flags: tuple[str, ...]  # names of HeaderFlag
    forms: StoredForms
    decoder: DecoderTable | None  # None: decoding only joins bytes
    encoding: EncodingTables | None  # None: a decode-only file
