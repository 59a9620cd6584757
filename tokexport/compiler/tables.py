"""What the compiler makes of a model, and all that the writer of a file needs.

Numbers and arrays as they are, not as they lie in a file: where an id is missing there is -1, and
kinds and flags are the names that the layout has for them.
"""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class ClassTable:
    """From code points to small numbers: ``top`` (272,) uint16 a table, ``middle`` (m, 64) uint16,
    ``leaves`` (n, 64) of the numbers' own type.
    """

    top: npt.NDArray[np.uint16]
    middle: npt.NDArray[np.uint16]
    leaves: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class PerfectIndex:
    """Where each key goes in an index that one probe decides."""

    # The slot of each key.
    slots: npt.NDArray[np.uint32]
    # One for each bucket.
    displacements: npt.NDArray[np.uint16]
    # The first slots of the rows, and after them the end of the last one.
    starts: npt.NDArray[np.uint32]

    @property
    def slot_count(self) -> int:
        return int(self.starts[-1])


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """Tokens by the pre-token that becomes them. A fingerprint is the 11 high bits of its hash."""

    # The pre-tokens.
    keys: ByteStrings
    # The ids whose pre-token merges to just that id.
    whole: Numbers
    ids: npt.NDArray[np.uint32]
    fingerprints: npt.NDArray[np.uint16]
    index: PerfectIndex
    # Bytes of the longest key.
    longest: int


@dataclass(frozen=True, slots=True)
class PairIndex:
    """Rules as left id, right id and product, of 21 bits each; their rows are left >> row_shift."""

    rules: npt.NDArray[np.uint64]
    row_shift: int
    index: PerfectIndex


@dataclass(frozen=True, slots=True)
class Crossings:
    """Where BPE must not be cut.

    ``dense``, of (128, 128) ASCII characters, or, with the rule BYTES, of (256, 256) bytes beside a
    boundary; ``hashed`` (1 << bits,) for other characters.
    """

    # What else decides, as the characters that have no symbol: a name of CrossingRule.
    rule: str
    dense: Pairs
    hashed: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BytePairTables:
    """BPE."""

    # The rank of the merge that makes each id, or -1; None where ranks are in the order of ids.
    ranks: npt.NDArray[np.int64] | None
    # The token of each single byte, or -1.
    byte_ids: npt.NDArray[np.int64]
    # First symbols, where they are not just those. By character: a table for each place. By byte:
    # shape (places, 256).
    characters: ClassTable | npt.NDArray[np.int64] | None
    tokens: TokenIndex
    pairs: PairIndex
    crossings: Crossings | None

    @property
    def longest(self) -> int:
        """Bytes of the longest key."""
        return self.tokens.longest


@dataclass(frozen=True, slots=True)
class DoubleArray:
    """A trie. Its units are as in a file, as there may be millions: each is the base of its node,
    the id that ends there and its label, in 32, 23 and 9 bits.
    """

    units: npt.NDArray[np.uint64]
    # Base of the root.
    root: int


@dataclass(frozen=True, slots=True)
class TrieTables:
    """A model that looks pre-tokens up in a trie."""

    trie: DoubleArray
    # Bytes of the longest key.
    longest: int
    # WordPiece: base of the node after the prefix; 0: no token begins with it.
    continuation: int = 0
    max_characters: int = 0
    unknown_score: float = 0.0
    single_precision: bool = False
    # The tokens of the 256 bytes, -1 where there is none.
    byte_ids: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class ProgramTable:
    """A program and its classes of code points (None: it reads bytes)."""

    program: SplitProgram
    classes: ClassTable | None
    # Bit b - 0xC0: no match begins with a character whose first byte is b.
    skip_leads: int


@dataclass(frozen=True, slots=True)
class SplitStage:
    """A stage that cuts."""

    split: Split
    table: ProgramTable


@dataclass(frozen=True, slots=True)
class Trie:
    """A trie over byte strings, its nodes in breadth-first order."""

    # Where the edges of each node begin, and after them the end of the last one's.
    first_edges: npt.NDArray[np.int64]
    # The number of the text that ends at each node, or -1.
    tokens: npt.NDArray[np.int64]
    # The byte and the child of each edge.
    edges: npt.NDArray[np.int64]
    # Bit b: some text begins with byte b.
    starts: bytes


@dataclass(frozen=True, slots=True)
class FormTable:
    """A normalization form: ``numbers`` lead from a code point to its entry."""

    # A name of NormalFormCode.
    form: str
    numbers: ClassTable
    # Of each entry: start of its decomposition in ``points``, length, combining class, whether the
    # quick check says No or Maybe.
    entries: npt.NDArray[np.int64]
    points: npt.NDArray[np.int64]
    # First, second, what they become; sorted.
    compositions: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MapTable:
    """Each character becomes a text: ``numbers`` lead from a code point to its entry."""

    # What each ASCII character becomes, where that is one ASCII character.
    ascii: tuple[int | None, ...]
    numbers: ClassTable
    # Of each entry: start in ``text``, bytes before, bytes after, and what stands between: 0:
    # nothing, 1: the character, 2: the letters of a Hangul syllable.
    entries: npt.NDArray[np.int64]
    text: bytes
    # Bit b - 0xC0: every character whose first byte is b stays as it is.
    skip_leads: int


@dataclass(frozen=True, slots=True)
class CharsmapTable:
    """SentencePiece's map of sequences, by grapheme cluster where there are ``clusters``."""

    units: npt.NDArray[np.uint32]
    text: bytes
    protected: Trie
    clusters: ProgramTable | None
    # Characters of this and higher classes of the clusters stay as they are.
    first_plain: int


@dataclass(frozen=True, slots=True)
class OpTable:
    """An operation that rewrites text; n bytes before all operations are at most
    ``growth * n + extra`` after it.
    """

    # Names of OpKind and OpFlag.
    kind: str
    flags: tuple[str, ...]
    growth: int
    extra: int
    table: FormTable | MapTable | ProgramTable | CharsmapTable | None = None
    content: str = ""


@dataclass(frozen=True, slots=True)
class AddedTables:
    """The added tokens with their tries: over the text as it is, and over the normalized text."""

    tokens: tuple[AddedToken, ...]
    raw: Trie
    normalized: Trie
    # Flags of each character, names of AddedClass: SPACE 1, WORD 2. None: no token looks at them.
    classes: ClassTable | None


@dataclass(frozen=True, slots=True)
class StoredForms:
    """The distinct contents of tokens, joined, and by id where its content begins. As the
    first token it is ``first_more`` bytes longer or ``first_skip`` bytes shorter at its front, as
    the last one ``last_skip`` bytes shorter at its end.
    """

    data: bytes
    offsets: npt.NDArray[np.uint32]
    first_skip: npt.NDArray[np.uint8]
    first_more: npt.NDArray[np.uint8]
    last_skip: npt.NDArray[np.uint8]

    @property
    def are_contents(self) -> bool:
        """Whether each token is the same as the first and the last."""
        return not (self.first_skip.any() or self.first_more.any() or self.last_skip.any())


@dataclass(frozen=True, slots=True)
class EditTable:
    """A machine that reads the joined text byte by byte; state 0 is the first."""

    # Of each byte, shape (256,).
    classes: npt.NDArray[np.uint8]
    # By state and class: the bytes that are written, the next state, and whether the byte that is
    # read is written after them.
    steps: tuple[tuple[tuple[bytes, int, bool], ...], ...]
    # What each state writes at the end of the text.
    ends: tuple[bytes, ...]
    # The last class is no byte: a token that is no byte of a run begins.
    reads_tokens: bool = False


@dataclass(frozen=True, slots=True)
class DecoderTable:
    """What decoding does besides joining bytes."""

    # Names of DecoderFlag.
    flags: tuple[str, ...]
    # The ASCII character of which one is dropped at the start of the text, or 0.
    strip_left: int
    edits: EditTable | None


@dataclass(frozen=True, slots=True)
class EncodingTables:
    """What turns text into ids."""

    encoder: BytePairTables | TrieTables
    # A score for each id; None: the model has none.
    scores: npt.NDArray[np.floating[Any]] | None
    normalizer: tuple[OpTable, ...]
    stages: tuple[SplitStage | tuple[OpTable, ...], ...]
    # The pairs between which any text may be cut.
    cuts: Pairs
    added: AddedTables | None
    # The texts that offsets take together, where the normalizer is followed as a whole.
    protected: Trie | None


@dataclass(frozen=True, slots=True)
class Tables:
    """A compiled model."""

    # What needs no compiling is taken from it.
    model: TokenizerModel
    tokens: Tokens
    # A name of ModelType, and names of HeaderFlag.
    kind: str
    flags: tuple[str, ...]
    forms: StoredForms
    # None: decoding is joining bytes.
    decoder: DecoderTable | None
    # None: the file is for decoding alone.
    encoding: EncodingTables | None
