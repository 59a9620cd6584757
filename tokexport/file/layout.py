"""The layout of a tokexport file, version 1, declared once.

The writer builds with these declarations, the Python runtime views the map through them, and tests
hold the C header and the tables of ``formats/tokexport/SPEC.md`` against them. All numbers are
little-endian.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Final

import numpy as np
from construct import Bytes, Const, Float64l, Int8ul, Int16ul, Int32ul, Int64ul, Struct

MAGIC: Final = b"\x89TKX\r\n\x1a\n"
VERSION_MAJOR: Final = 1
VERSION_MINOR: Final = 0
ALIGNMENT: Final = 64
NONE: Final = 0xFFFFFFFF
ID_BITS: Final = 21
MAX_IDS: Final = (1 << ID_BITS) - 1
MAX_SECTIONS: Final = 64
MAX_STAGES: Final = 16
MAX_OPS: Final = 24
MAX_CLASSES: Final = 254
MAX_STATES: Final = 4096


class ModelType(IntEnum):
    """``header.model``."""

    BPE = 1
    UNIGRAM = 2
    WORDPIECE = 3
    WORDLEVEL = 4
    GREEDY = 5


class HeaderFlag(IntFlag):
    """``header.flags``."""

    WHOLE_PIECE_FIRST = 1 << 0  # a piece whose bytes are a token is that token, merges or not
    FUSE_UNKNOWN = (
        1 << 1
    )  # neighbouring bytes, or with WORDLEVEL pieces, without an id give one unknown id
    SEARCH_ANEW = (
        1 << 2
    )  # after each added token, the next is looked for as if the text began there (tokenizers 1.0)
    RESCAN_SPECIAL = (
        1 << 3
    )  # a special token that is not allowed is passed by one character, not whole (tiktoken)
    REPLACE_SURROGATES = (
        1 << 4
    )  # a lone surrogate in a source string becomes U+FFFD (tiktoken), else it is an error
    UNKNOWN_STOPS = 1 << 5  # BPE: a byte or character without an id is an error; unknown_id is NONE


class RecordFlag(IntFlag):
    """``record.flags``: two bits of kind, then flags."""

    KIND_HOLE = 0
    KIND_MODEL = 1
    KIND_ADDED = 2
    KIND_UNKNOWN = 3
    KIND_MASK = 3
    SPECIAL = 1 << 2  # left out by skip_special_tokens
    WHOLE = 1 << 3  # merging the token's own bytes gives this token
    # These count in a file with DECO only.
    FALLBACK = 1 << 4  # a byte of a character that the vocabulary lacks
    FIRST_SKIP = 3 << 5  # a number: so many bytes are left out at the front of the first token
    FIRST_MORE = (
        3 << 7
    )  # a number: so many bytes that lie before `offset` belong to the first token
    LAST_SKIP = 3 << 9  # a number: so many bytes are left out at the end of the last token
    FORMS = 1 << 11  # what the first, the last and the only token decode to lies after the bytes


class SectionFlag(IntFlag):
    """``section.flags``."""

    REQUIRED = 1 << 0  # a reader that does not know the tag refuses the file


class Tag:
    """Four-byte section tags."""

    RECORDS: Final = b"RECS"
    BYTES: Final = b"BYTS"
    SCORES: Final = b"SCOR"
    DOUBLE_SCORES: Final = b"SC64"
    RANKS: Final = b"RANK"
    BYTE_IDS: Final = b"BIDS"
    CHARACTERS: Final = b"CHRS"
    KEYS: Final = b"KEYS"
    TOKEN_INDEX: Final = b"TIDX"
    PAIR_INDEX: Final = b"PIDX"
    PAIR_GRID: Final = b"GRID"
    TRIE: Final = b"TRIE"
    CROSSINGS: Final = b"XPRS"
    UNUSED: Final = b"UNUS"
    SPLITS: Final = b"SPLT"
    CUTS: Final = b"CUTS"
    NORMALIZER: Final = b"NORM"
    ADDED_TOKENS: Final = b"ADDT"
    ADDED_CLASSES: Final = b"ACLS"
    TEMPLATE: Final = b"POST"
    TRIMMING: Final = b"TRIM"
    ALIGNMENT: Final = b"ALGN"
    SPECIAL_IDS: Final = b"SPID"
    CHAT_TEMPLATE: Final = b"CHAT"
    PROVENANCE: Final = b"PROV"
    SELF_TEST: Final = b"TEST"
    DECODER: Final = b"DECO"


Header = Struct(
    "magic" / Const(MAGIC),
    "version_major" / Int16ul,
    "version_minor" / Int16ul,
    "section_count" / Int32ul,
    "file_size" / Int64ul,
    "id_count" / Int32ul,  # ids are 0 .. id_count - 1
    "token_count" / Int32ul,  # ids that are not holes
    "model" / Int32ul,
    "flags" / Int32ul,
    "max_token_bytes" / Int32ul,  # the longest token that the token index holds
    "unknown_id" / Int32ul,  # for a byte without an id; NONE: such a byte gives nothing
    "reserved" / Const(bytes(12)),
    "crc32" / Int32ul,  # of the header up to here and of the section table
)

Section = Struct(
    "tag" / Bytes(4),
    "flags" / Int32ul,
    "offset" / Int64ul,
    "size" / Int64ul,
    "crc32" / Int32ul,
    "reserved" / Const(bytes(4)),
)

# RECS: one per id.
RECORD: Final = np.dtype([("offset", "<u4"), ("length", "<u2"), ("flags", "<u2")])

# After the bytes of a token with FORMS: the lengths of its other forms, then those.
FORM_LENGTHS: Final = np.dtype([("first", "<u2"), ("last", "<u2"), ("only", "<u2")])


class DecoderFlag(IntFlag):
    """``decoder.flags``."""

    BYTE_FALLBACK = (
        1 << 0
    )  # a run of FALLBACK tokens that is not UTF-8 gives one U+FFFD for each of its bytes
    BY_CHARACTER = (
        1 << 1
    )  # not the run as a whole, but each byte that belongs to no whole character
    REPEATS_ONCE = 1 << 2  # an id that follows itself gives nothing
    FIRST_BY_CONTENT = 1 << 3  # ids without content are neither the first nor the last
    FIRST_BY_TEXT = 1 << 4  # an id is the first as long as those before it gave no bytes
    EDGES = 1 << 5  # the edits read where the text of a run begins, and where another token does


# DECO: this; then, where edit_state_count is not 0, 256 classes of bytes, edit_state_count *
# edit_class_count EDIT by state and class, edit_state_count EDIT for the end of the text, and the
# text.
Decoder = Struct(
    "flags" / Int32ul,
    "strip_left_count"
    / Int32ul,  # how many characters are dropped at the start of the text, at most
    "strip_right_count" / Int32ul,
    "strip_left" / Int32ul,  # which character: a code point
    "strip_right" / Int32ul,
    "edit_state_count" / Int16ul,
    "edit_class_count" / Int16ul,
    "edit_text_size" / Int32ul,
    "reserved" / Const(bytes(4)),
)
EDIT: Final = np.dtype([("next", "<u2"), ("length", "<u2"), ("offset", "<u4")])
EDIT_KEEPS: Final = 0x8000  # in length: the byte that is read is written after the text

# SCOR, SC64: one per id. RANK: one per id, NONE for a token that no merge makes. BIDS: 256 ids.
SCORE: Final = np.dtype("<f4")
DOUBLE_SCORE: Final = np.dtype("<f8")
RANK: Final = np.dtype("<u4")
BYTE_ID: Final = np.dtype("<u4")


class SymbolUnit(IntEnum):
    """``characters.unit``: what a first symbol stands for."""

    CHARACTER = 0
    BYTE = 1


# CHRS: this header, then for characters: top[272] u16 a place, middle[middle_count][64] u16,
# leaves[leaf_count][64] SYMBOL; for bytes: 256 SYMBOL a place.
CharactersHeader = Struct(
    "unit" / Int32ul,
    "place_count" / Int32ul,  # 1, or 4: first, inside, alone, last
    "middle_count" / Int32ul,
    "leaf_count" / Int32ul,
)
SYMBOL: Final = np.dtype("<u4")

# KEYS: one per id.
KEY: Final = np.dtype([("offset", "<u4"), ("length", "<u2"), ("zero", "<u2")])


class CrossingRule(IntEnum):
    """``crossings.rule``: which of the two characters must have a symbol of their own, so that a
    text may be cut between them.
    """

    NONE = 0
    ONE_KNOWN = 1
    BOTH_KNOWN = 2


# XPRS: this header, then 128 x 128 bits for ASCII, then 1 << bits bits.
CrossingsHeader = Struct("rule" / Int32ul, "bits" / Int32ul)

# TIDX: this header, then the slots, then the displacements.
IndexHeader = Struct("slot_count" / Int32ul, "bucket_count" / Int32ul)
TOKEN_SLOT: Final = np.dtype("<u4")  # fingerprint << 21 | id; all ones: empty
DISPLACEMENT: Final = np.dtype("<u2")

# PIDX: this header, then the slots, then the starts of the rows and the end of the last one, then
# the displacements.
PairIndexHeader = Struct(
    "slot_count" / Int32ul,
    "bucket_count" / Int32ul,
    "row_shift" / Int32ul,  # ids that differ in so many low bits only have one row
    "reserved" / Const(bytes(4)),
)
PAIR_SLOT: Final = np.dtype("<u8")  # left << 42 | right << 21 | product; all ones: empty
ROW_START: Final = np.dtype("<u4")

# GRID: this header, then an entry for each two of some ASCII characters that follow each other.
GridHeader = Struct(
    "bound_shift" / Int32ul,
    "first" / Int32ul,
    "character_count" / Int32ul,
    "reserved" / Const(bytes(4)),
)
GRID_ENTRY: Final = np.dtype("<u4")  # OWN or 0, | bound << 21 | product
OWN: Final = 1 << 31  # the product has the least rank across the boundary, and alone
UNCROSSED: Final = 1023  # in the place of a bound: nothing is joined across that boundary


class TrieFlag(IntFlag):
    """``trie.flags``."""

    SINGLE_PRECISION = (
        1 << 0
    )  # Unigram: sums are rounded to 32 bits, and unknown text is not looked up
    BYTES = 1 << 1  # a character is one byte


# TRIE: this header, then unit_count units. The child of a node with base b for byte c is unit b +
# c, if its label is c.
TrieHeader = Struct(
    "unit_count" / Int32ul,
    "root" / Int32ul,  # base of the root
    "continuation"
    / Int32ul,  # WordPiece: base of the node of the prefix; 0: no token begins with it
    "max_characters" / Int32ul,  # WordPiece: a word of more characters is unknown
    "unknown_score" / Float64l,  # Unigram: of a character that no piece of one character covers
    "flags" / Int32ul,
    "reserved" / Const(bytes(4)),
)
TRIE_UNIT: Final = np.dtype("<u8")  # base << 32 | id << 9 | label
LABEL_BITS: Final = 9
NO_LABEL: Final = 256  # of a unit that is no node
NO_TOKEN: Final = MAX_IDS  # in the place of an id: no token ends here

# SPLT: this header, then one Stage each, then their tables.
SplitsHeader = Struct("stage_count" / Int32ul, "reserved" / Const(bytes(4)))


class StageBehavior(IntEnum):
    """``stage.behavior``."""

    ISOLATED = 0
    REMOVED = 1
    MERGED_WITH_PREVIOUS = 2
    MERGED_WITH_NEXT = 3
    CONTIGUOUS = 4


class StageFlag(IntFlag):
    """``stage.flags``."""

    INVERT = 1 << 0
    ON_BYTES = 1 << 1  # the program reads bytes; its class table is 256 bytes
    REWRITE = 1 << 2  # no program: ops of NORM rewrite each piece
    EMPTY_MATCHES = 1 << 3  # a match may be of no symbols, and then parts what lies around it
    FORWARD_LABELS = (
        1 << 4
        # the first label table reads a piece from its first symbol to its last, the second the
        # other way
    )
    DOUBLES = (
        1 << 5
    )  # the first label table reads a symbol that is the one before it once more as another class


Stage = Struct(
    "behavior" / Int8ul,
    "flags" / Int8ul,
    "class_count" / Int8ul,
    "second_label_class_count"
    / Int8ul,  # labels that the second label table reads; 0: there is none
    "state_count" / Int16ul,  # state 0 is dead
    "memo_count" / Int16ul,  # states 1 .. memo_count can be passed through without bound
    "middle_count" / Int16ul,  # blocks of the class table's second level
    "leaf_count" / Int16ul,  # blocks of its third level
    "row_shift" / Int8ul,  # a row of transitions holds 1 << row_shift entries
    "label_class_count"
    / Int8ul,  # classes that the label table reads; 0: there is none, and the program reads classes
    "label_state_count"
    # states of the label table, which follows the transitions, and before the second
    / Int16ul,
    "classes_offset" / Int32ul,  # from the start of the section, as the next two
    "starts_offset" / Int32ul,
    "transitions_offset" / Int32ul,
    "first_op" / Int8ul,  # with REWRITE; otherwise 0, as the next
    "op_count" / Int8ul,
    "second_label_state_count" / Int16ul,
    "idle_leads"
    # bit b - 0xC0: no match begins with a character whose first byte is b; so a reader may skip
    # these
    / Int64ul,
)

# A class table: ASCII[128] u8, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64]
# u8 (u16 in NORM).
CLASS_ASCII: Final = 128
CLASS_TOP: Final = 272  # 0x110000 >> 12
CLASS_BLOCK: Final = 64
TRANSITION: Final = np.dtype(
    "<u2"
)  # low 15 bits: next state; bit 15: a match ends before this symbol
ACCEPT: Final = 0x8000
LABEL: Final = np.dtype("<u4")  # next state << 8 | label

# CUTS: 128 x 128 bits, row = left character: encoding the two sides apart changes nothing.
CUTS_SIZE: Final = 128 * 128 // 8


# NORM: this header, then one RewriteOp each, then their tables and contents.
RewriteHeader = Struct(
    "op_count" / Int32ul,
    "normalizer_count"
    / Int32ul,  # the first ops, which rewrite each stretch; the others belong to stages
    "reserved" / Const(bytes(8)),
)


class OpKind(IntEnum):
    """``op.kind``."""

    FORM = 0
    MAP = 1
    REPLACE = 2
    CHARSMAP = 3
    AFFIX = 4
    BYTES = 5


class OpFlag(IntFlag):
    """``op.flags``: of AFFIX, but for BY_CLUSTER and COLLAPSE."""

    APPEND = 1 << 0
    UNLESS_PRESENT = 1 << 1
    ONLY_FIRST = 1 << 2
    BY_CLUSTER = 1 << 3  # of CHARSMAP
    FIRST_SOURCE = 1 << 4
    COLLAPSE = 1 << 5  # of CHARSMAP


RewriteOp = Struct(
    "kind" / Int8ul,
    "flags" / Int8ul,
    "reserved" / Const(bytes(2)),
    "growth" / Int32ul,  # a text of n bytes becomes at most growth * n + extra bytes
    "extra" / Int32ul,
    "table_offset" / Int32ul,  # from the start of the section
    "table_size" / Int32ul,
    "content_offset" / Int32ul,
    "content_size" / Int32ul,
    "reserved2" / Const(bytes(4)),
)


class NormalFormCode(IntEnum):
    """``form.form``."""

    NFC = 0
    NFD = 1
    NFKC = 2
    NFKD = 3


# FORM: this header, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64] u16 (entry
# numbers), entries, points, compositions.
FormHeader = Struct(
    "form" / Int32ul,
    "middle_count" / Int32ul,
    "leaf_count" / Int32ul,
    "entry_count" / Int32ul,
    "point_count" / Int32ul,
    "composition_count" / Int32ul,
    "reserved" / Const(bytes(8)),
)
NORMALIZER_ENTRY: Final = np.dtype(
    [("start", "<u4"), ("length", "u1"), ("combining_class", "u1"), ("check", "u1"), ("zero", "u1")]
)
NORMALIZER_POINT: Final = np.dtype("<u4")
COMPOSITION: Final = np.dtype([("first", "<u4"), ("second", "<u4"), ("composite", "<u4")])

# MAP: this header, ascii[128] u8, top, middle and leaves as for FORM, entries, text.
MapHeader = Struct(
    "middle_count" / Int32ul,
    "leaf_count" / Int32ul,
    "entry_count" / Int32ul,
    "text_size" / Int32ul,
    "idle_leads" / Int64ul,  # bit b - 0xC0: every character whose first byte is b stays as it is
)
MAP_ENTRY: Final = np.dtype(
    [("start", "<u4"), ("before", "u1"), ("after", "u1"), ("keep", "u1"), ("zero", "u1")]
)
MAP_LETTERS: Final = 2  # keep: the letters of a Hangul syllable
MAX_MAPPED: Final = 0xFF  # bytes before a character, and after it
MAP_OTHER: Final = 0x80  # in ascii: the entry says what the character becomes


# CHARSMAP: this header, units, nodes and edges of the trie over protected texts (as in ADDT), the
# program of clusters, text.
CharsmapHeader = Struct(
    "unit_count" / Int32ul,
    "node_count" / Int32ul,
    "edge_count" / Int32ul,
    "program_size" / Int32ul,
    "text_size" / Int32ul,
    "first_plain"
    / Int32ul,  # characters of this and higher classes of the program stay, side by side
)
CHARSMAP_UNIT: Final = np.dtype("<u4")
MAX_CLUSTER: Final = 5


class AddedFlag(IntFlag):
    """``added.flags``."""

    SPECIAL = 1 << 0
    SINGLE_WORD = 1 << 1
    LSTRIP = 1 << 2
    RSTRIP = 1 << 3
    NORMALIZED = 1 << 4


# ADDT: this header, tokens, then the two tries (nodes with one more at the end, then edges), then
# the text.
AddedHeader = Struct(
    "token_count" / Int32ul,
    "raw_node_count" / Int32ul,  # trie over the contents that are matched against the text as it is
    "raw_edge_count" / Int32ul,
    "normalized_node_count"
    / Int32ul,  # trie over those that are matched against the normalized text
    "normalized_edge_count" / Int32ul,
    "text_size" / Int32ul,
    "flags" / Int32ul,  # all tokens' flags, or-ed
    "reserved" / Const(bytes(4)),
    "raw_starts" / Bytes(32),  # bit b: some content starts with byte b
    "normalized_starts" / Bytes(32),
)
ADDED_TOKEN: Final = np.dtype(
    [("id", "<u4"), ("offset", "<u4"), ("length", "<u4"), ("flags", "<u4")]
)
TRIE_NODE: Final = np.dtype(
    [("first_edge", "<u4"), ("token", "<u4")]
)  # token: index into the tokens, or NONE
TRIE_EDGE: Final = np.dtype("<u4")  # byte << 24 | child node; sorted by byte

# ACLS: this header, then a class table with u8 leaves; present when an added token strips or wants
# whole words.
AddedClassesHeader = Struct(
    "middle_count" / Int16ul, "leaf_count" / Int16ul, "reserved" / Const(bytes(4))
)


class AddedClass(IntFlag):
    """The leaves of ACLS."""

    SPACE = 1 << 0
    WORD = 1 << 1


# POST: this header, then the pieces of both templates.
TemplateHeader = Struct("single_count" / Int32ul, "pair_count" / Int32ul)


class PieceKind(IntEnum):
    """``piece.kind``."""

    ID = 0
    SEQUENCE_A = 1
    SEQUENCE_B = 2


TEMPLATE_PIECE: Final = np.dtype([("kind", "<u4"), ("id", "<u4"), ("type_id", "<u4")])

# TRIM: this header, then the exceptions.
TrimmingHeader = Struct(
    "passes" / Int32ul, "exception_count" / Int32ul
)  # passes: two bits each; NONE: spans cannot be told


class TrimmingPass(IntEnum):
    """Two bits of ``trimming.passes``."""

    END = 0
    ALL = 1
    KEEP_FIRST = 2  # one space at the start of a text stays in the span


MAX_TRIMMING_PASSES: Final = 15
TRIMMING_EXCEPTION: Final = np.dtype([("id", "<u4"), ("leading", "<u2"), ("trailing", "<u2")])

# ALGN: this header, then the nodes and edges of a trie over the protected texts.
AlignmentHeader = Struct(
    "flags" / Int32ul, "node_count" / Int32ul, "edge_count" / Int32ul, "reserved" / Const(bytes(4))
)


class AlignmentFlag(IntFlag):
    """``alignment.flags``."""

    PREFIX = 1 << 0  # a space is put before the text
    SUFFIX = 1 << 1  # a space is put after the text
    COLLAPSE = 1 << 2  # spaces at both ends, and after a space, are dropped


# UNUS: this header, unused_count + 1 entries, the parts.
UnusedHeader = Struct("unused_count" / Int32ul, "part_count" / Int32ul)
UNUSED_ENTRY: Final = np.dtype([("id", "<u4"), ("first", "<u4")])
UNUSED_PART: Final = np.dtype(
    [("id", "<u4"), ("length", "<u4")]
)  # length: in bytes, of the text that it stands for

# SPID: this header, then stop_count ids.
SpecialIdsHeader = Struct(
    "bos" / Int32ul, "eos" / Int32ul, "pad" / Int32ul, "unk" / Int32ul, "stop_count" / Int32ul
)

# TEST: this header, cases, ids, text.
SelfTestHeader = Struct(
    "case_count" / Int32ul,
    "id_count" / Int32ul,
    "text_size" / Int32ul,
    "reserved" / Const(bytes(4)),
)


class CaseFlag(IntFlag):
    """``case.flags``."""

    SPECIAL = 1 << 0  # special tokens in the text are ids


SELF_TEST_CASE: Final = np.dtype(
    [
        ("text_offset", "<u4"),
        ("text_length", "<u4"),
        ("first_id", "<u4"),
        ("id_count", "<u4"),
        ("flags", "<u4"),
    ]
)
