"""Added tokens, rewriting and splitting of a text, and the spans of ids."""

from typing import Final

import numpy as np
from construct import Bytes, Struct

from tokexport.file.layout.declare import U8, U16, U32, U64, Code, Flags, record, zeros
from tokexport.limits import MAX_CLASSES, MAX_OPS, MAX_STAGES, MAX_STATES

# A class table: ASCII[128] u8, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64]
# u8 (u16 in NORM).
CLASS_ASCII: Final = 128
CLASS_TOP: Final = 272  # 0x110000 >> 12
CLASS_BLOCK: Final = 64

# SPLT: this header, then a Stage for each stage, then their tables.
SplitsHeader = Struct(
    "stage_count" / U32 * f"0 to {MAX_STAGES}; 0: a segment is one pre-token", "reserved" / zeros(4)
)


class StageBehavior(Code):
    """``stage.behavior``."""

    ISOLATED = 0, "each match and each gap is a part"
    REMOVED = 1, "gaps are parts, matches are dropped"
    MERGED_WITH_PREVIOUS = 2, "a match is joined to the gap before it"
    MERGED_WITH_NEXT = 3, "a match is joined to the gap after it"
    CONTIGUOUS = 4, "neighbouring matches are joined to one part"


class StageFlag(Flags):
    """``stage.flags``."""

    INVERT = 1 << 0, "matches are treated as gaps, and gaps as matches"
    ON_BYTES = 1 << 1, "rare: the stage reads bytes, not code points"
    REWRITE = 1 << 2, "the stage rewrites each text by operations of NORM; it has no program"
    EMPTY_MATCHES = 1 << 3, "rare: a match may be empty"
    SEARCH_STARTS = 1 << 4, "rare: a search begins in other start states"


Stage = Struct(
    "behavior" / U8 * "a `StageBehavior`",
    "flags" / U8 * "`StageFlag`",
    "class_count" / U8 * f"input classes are 0 to class_count - 1; 1 to {MAX_CLASSES}",
    "row_shift" / U8 * "a row of transitions has 1 << row_shift entries",
    "state_count" / U16 * f"states are 0 to state_count - 1; 1 to {MAX_STATES:,}; state 0 is dead",
    "memo_count" / U16 * "hint, see below",
    "middle_count" / U16 * "of the class table",
    "leaf_count" / U16 * "of the class table",
    "classes_offset" / U32 * "from the start of SPLT; in NORM, of the table",
    "starts_offset" / U32 * "the same, of the start states",
    "transitions_offset" / U32 * "the same, of the transitions",
    "first_op" / U8 * "with REWRITE: the first operation",
    "op_count" / U8 * "with REWRITE: number of operations",
    "reserved" / zeros(2),
    "skip_leads" / U64 * "hint: bit b - 0xC0: no match begins with the byte b",
)
TRANSITION: Final = np.dtype("<u2")  # the next state, or-ed with ACCEPT
ACCEPT: Final = 0x8000  # a match ends before this symbol

# LABL: this header, then one LabelTable for each stage that reads labels, then their entries.
LabelsHeader = Struct("table_count" / U32 * f"at most {MAX_STAGES}", "reserved" / zeros(4))
LabelTable = Struct(
    "stage" / U8 * "index of its stage, larger than that of the previous table",
    "class_count" / U8 * f"1 to {MAX_CLASSES}",
    "state_count" / U16 * f"1 to {MAX_STATES:,}",
    "offset" / U32 * "of its entries, from the start of LABL",
)
LABEL: Final = np.dtype("<u4")  # next state << 8 | label

# CUTS: 128 x 128 bits, row = left character: encoding both sides separately changes no id.
CUTS_SIZE: Final = 128 * 128 // 8

# NORM: this header, then a RewriteOp for each operation, then their tables and contents.
RewriteHeader = Struct(
    "op_count" / U32 * f"number of all operations, at most {MAX_OPS}",
    "normalizer_count" / U32 * "the first ones are the normalizer, the others belong to stages",
    "reserved" / zeros(8),
)


class OpKind(Code):
    """``op.kind``."""

    FORM = 0, "a Unicode normalization form"
    MAP = 1, "each character becomes a text"
    REPLACE = 2, "each match of a program becomes the content"
    CHARSMAP = 3, "sequences of characters become other texts"
    AFFIX = 4, "the content is put before the text, or after it"
    BYTES = 5, "each byte becomes a character of GPT-2's alphabet"


class OpFlag(Flags):
    """``op.flags``: for AFFIX, except BY_CLUSTER."""

    APPEND = 1 << 0, "AFFIX: after the text, not before it"
    UNLESS_PRESENT = 1 << 1, "AFFIX: not if the text begins with the content"
    ONLY_FIRST = 1 << 2, "AFFIX: only before or after a text that is first (3.1)"
    BY_CLUSTER = 1 << 3, "CHARSMAP: by grapheme cluster, not the longest sequence at each position"
    FIRST_SOURCE = 1 << 4, "AFFIX, rare: only if the source of the first byte begins at 0 (A)"


RewriteOp = Struct(
    "kind" / U8 * "an `OpKind`",
    "flags" / U8 * "`OpFlag`, of the kind",
    "reserved" / zeros(2),
    "growth" / U32 * "hint: n bytes become at most growth * n + extra bytes",
    "extra" / U32 * "in all operations up to this one",
    "table_offset" / U32 * "from the start of NORM; a multiple of 4",
    "table_size" / U32,
    "content_offset" / U32 * "from the start of NORM; a multiple of 4",
    "content_size" / U32 * "at most 65,535",
    "reserved2" / zeros(4),
)


class NormalFormCode(Code):
    """``form.form``."""

    NFC = 0
    NFD = 1
    NFKC = 2
    NFKD = 3


# FORM: this header, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64] u16 (entry
# numbers), entries, points, compositions.
FormHeader = Struct(
    "form" / U32,
    "middle_count" / U32,
    "leaf_count" / U32,
    "entry_count" / U32,
    "point_count" / U32,
    "composition_count" / U32,
    "reserved" / zeros(8),
)
NORMALIZER_ENTRY: Final = record(
    "start" / U32 * "of the decomposition in points",
    "length" / U8 * "of the full decomposition; 0: the code point itself",
    "combining_class" / U8 * "canonical combining class",
    "check" / U8 * "the quick check for this form: 0 is Yes, 1 is No or Maybe",
    "zero" / U8 * "zero",
)
NORMALIZER_POINT: Final = np.dtype("<u4")
COMPOSITION: Final = record("first" / U32, "second" / U32, "composite" / U32)

# MAP: this header, ascii[128] u8, top, middle and leaves as for FORM, entries, text.
MapHeader = Struct(
    "middle_count" / U32,
    "leaf_count" / U32,
    "entry_count" / U32,
    "text_size" / U32,
    "skip_leads" / U64 * "hint: bit b - 0xC0: no character with the first byte b changes",
)
MAP_ENTRY: Final = record(
    "start" / U32 * "of the bytes before, in the texts",
    "before" / U8 * "number of bytes written first",
    "after" / U8 * "number of bytes written last, stored right after those",
    "keep" / U8 * "between them: 0 nothing, 1 the character, 2 (`MAP_LETTERS`) its letters",
    "zero" / U8 * "zero",
)
MAP_LETTERS: Final = 2  # keep: the letters of a Hangul syllable
MAP_OTHER: Final = 0x80  # in ascii: see the entry of the character

# CHARSMAP: this header, units, nodes and edges of the trie over protected texts (as in ADDT), the
# program of clusters, text.
CharsmapHeader = Struct(
    "unit_count" / U32 * "at least 1",
    "node_count" / U32 * "of the protected texts; 0 with BY_CLUSTER",
    "edge_count" / U32 * "of the protected texts",
    "program_size" / U32 * "0 without BY_CLUSTER",
    "text_size" / U32,
    "first_plain" / U32 * "hint, see below; 0 without BY_CLUSTER",
)
CHARSMAP_UNIT: Final = np.dtype("<u4")


class AddedFlag(Flags):
    """``added.flags``."""

    SPECIAL = 1 << 0, "found only where it is allowed"
    SINGLE_WORD = 1 << 1, "found only if no word character is next to it"
    LSTRIP = 1 << 2, "includes the white space before it"
    RSTRIP = 1 << 3, "includes the white space after it"
    NORMALIZED = 1 << 4, "in the normalized trie, by normalized content; otherwise in the raw one"


# ADDT: this header, tokens, then the two tries (nodes plus one extra at the end, then edges), then
# the text.
AddedHeader = Struct(
    "token_count" / U32,
    "raw_node_count" / U32,
    "raw_edge_count" / U32,
    "normalized_node_count" / U32,
    "normalized_edge_count" / U32,
    "text_size" / U32,
    "flags" / U32 * "bitwise or of the flags of all added tokens",
    "reserved" / zeros(4),
    "raw_starts" / Bytes(32) * "hint: bit b & 7 of byte b >> 3: a content begins with b",
    "normalized_starts" / Bytes(32) * "hint: the same for the normalized trie",
)
ADDED_TOKEN: Final = record(
    "id" / U32,
    "offset" / U32 * "of its content in the contents, as in the source",
    "length" / U32 * "of the content",
    "flags" / U32 * "`AddedFlag`",
)
TRIE_NODE: Final = record(
    "first_edge" / U32 * "its edges: from this one up to the next node's first_edge",
    "token" / U32 * "the token that ends here, or NONE",
)
TRIE_EDGE: Final = np.dtype("<u4")  # byte << 24 | child node; sorted by byte

# ACLS: this header, then a class table with u8 leaves; present if an added token strips or matches
# only whole words.
AddedClassesHeader = Struct("middle_count" / U16, "leaf_count" / U16, "reserved" / zeros(4))


class AddedClass(Flags):
    """The leaves of ACLS."""

    SPACE = 1 << 0, "white space, for LSTRIP and RSTRIP"
    WORD = 1 << 1, "a word character, for SINGLE_WORD"


class TrimmingPass(Code):
    """Two bits of ``trimming.passes``."""

    END = 0, "no more passes"
    ALL = 1, "white space at both ends is left out"
    KEEP_FIRST = 2, "the same, but one space at the start of a text is kept"


# TRIM: this header, then the exceptions.
TrimmingHeader = Struct(
    "passes" / U32 * "up to 15 `TrimmingPass` of two bits, lowest first; NONE: no spans",
    "exception_count" / U32,
)
TRIMMING_EXCEPTION: Final = record(
    "id" / U32 * "a token of the model",
    "leading" / U16 * "number of white space characters at the start of its name",
    "trailing" / U16 * "the same at its end",
)


class AlignmentFlag(Flags):
    """``alignment.flags``."""

    PREFIX = 1 << 0, "a space is inserted before the text"
    SUFFIX = 1 << 1, "a space is inserted after the text"
    COLLAPSE = 1 << 2, "spaces at both ends, and after a space, are dropped"


# ALGN: this header, then the nodes and edges of a trie over the protected texts.
AlignmentHeader = Struct(
    "flags" / U32 * "`AlignmentFlag`",
    "node_count" / U32 * "of the protected texts; 0 with a CHARSMAP without BY_CLUSTER",
    "edge_count" / U32 * "of the protected texts",
    "reserved" / zeros(4),
)
