"""What finds added tokens, rewrites and cuts a text, and says which characters ids stand for."""

from __future__ import annotations

from typing import Final

import numpy as np
from construct import Bytes, Struct

from tokexport.file.layout.declare import U8, U16, U32, U64, Code, Flags, record, zeros
from tokexport.limits import MAX_CLASSES, MAX_OPS, MAX_STAGES, MAX_STATES

# fmt: off
# ruff: noqa: ISC004

# A class table: ASCII[128] u8, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64]
# u8 (u16 in NORM).
CLASS_ASCII: Final = 128
CLASS_TOP: Final = 272  # 0x110000 >> 12
CLASS_BLOCK: Final = 64

# SPLT: this header, then one Stage each, then their tables.
SplitsHeader = Struct(
    "stage_count" / U32 * f"0 to {MAX_STAGES}; 0: a segment is one pre-token",
    "reserved" / zeros(4),
)


class StageBehavior(Code):
    """``stage.behavior``."""

    ISOLATED = 0, "every match and every gap is a pre-token"
    REMOVED = 1, "gaps are pre-tokens, matches are dropped"
    MERGED_WITH_PREVIOUS = 2, "a match is joined to the gap before it"
    MERGED_WITH_NEXT = 3, "a match is joined to the gap after it"
    CONTIGUOUS = 4, "neighbouring matches are joined to one pre-token"


class StageFlag(Flags):
    """``stage.flags``."""

    INVERT = 1 << 0, "matches count as gaps and gaps as matches"
    ON_BYTES = 1 << 1, "the stage reads bytes, not code points"
    REWRITE = 1 << 2, "the stage rewrites each pre-token by operations of NORM; it has no program"
    EMPTY_MATCHES = 1 << 3, "a match may be of no symbols"
    SEARCH_STARTS = 1 << 4, "start states come in two rows: the second is for where a search begins"


Stage = Struct(
    "behavior" / U8 * "a `StageBehavior`",
    "flags" / U8 * "`StageFlag`",
    "class_count" / U8 * "what the program reads, classes or labels, is 0 to class_count - 1; 1 "
                         f"to {MAX_CLASSES}",
    "row_shift" / U8 * "a row of transitions has 1 << row_shift entries, more than class_count",
    "state_count" / U16 * f"states are 0 to state_count - 1; 1 to {MAX_STATES:,}; state 0 is dead",
    "memo_count" / U16 * "states 1 to memo_count may be passed through without bound without a "
                         "match end being met",
    "middle_count" / U16 * "of the class table",
    "leaf_count" / U16 * "of the class table",
    "classes_offset" / U32 * "of the class table, from the start of SPLT (in NORM: of the "
                             "operation's table)",
    "starts_offset" / U32 * "of class_count + 1 times u16, twice with SEARCH_STARTS: start states",
    "transitions_offset" / U32 * "of state_count << row_shift times `TRANSITION` (u16)",
    "first_op" / U8 * "with REWRITE: the first operation; otherwise zero",
    "op_count" / U8 * "with REWRITE: how many operations; otherwise zero",
    "reserved" / zeros(2),
    "skip_leads" / U64 * "bit b - 0xC0: no match begins with a character whose first byte is b",
)
TRANSITION: Final = np.dtype("<u2")  # the next state, or-ed with ACCEPT
ACCEPT: Final = 0x8000  # a match ends before this symbol

# LABL: this header, then one LabelTable for each stage that reads labels, then their entries.
LabelsHeader = Struct(
    "table_count" / U32 * f"stages that read labels; at most {MAX_STAGES}",
    "reserved" / zeros(4),
)
LabelTable = Struct(
    "stage" / U8 * "the number of its stage in SPLT, above that of the table before",
    "class_count" / U8 * f"its classes are 0 to class_count - 1; 1 to {MAX_CLASSES}",
    "state_count" / U16 * f"its states are 0 to state_count - 1; 1 to {MAX_STATES:,}",
    "offset" / U32 * "of state_count * class_count times `LABEL` (u32), from the start of LABL",
)
LABEL: Final = np.dtype("<u4")  # next state << 8 | label

# CUTS: 128 x 128 bits, row = left character: encoding the two sides apart changes nothing.
CUTS_SIZE: Final = 128 * 128 // 8


# NORM: this header, then one RewriteOp each, then their tables and contents.
RewriteHeader = Struct(
    "op_count" / U32 * f"operations in all; at most {MAX_OPS}",
    "normalizer_count" / U32 * "the first of them, which are the normalizer",
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
    """``op.flags``: of AFFIX, but for BY_CLUSTER and COLLAPSE."""

    APPEND = 1 << 0, "after the text, not before it"
    UNLESS_PRESENT = 1 << 1, "not where the text begins with the content"
    ONLY_FIRST = 1 << 2, "only where the text begins where the input begins"
    BY_CLUSTER = (1 << 3, "of CHARSMAP: looked up by grapheme cluster, otherwise the longest "
                          "sequence at each place")
    FIRST_SOURCE = (1 << 4, "only where the source of the text's first byte begins where "
                            "the input begins")
    COLLAPSE = (1 << 5, "of CHARSMAP: spaces at the start of the text and after a space are "
                        "dropped, but for those that come together")


RewriteOp = Struct(
    "kind" / U8 * "an `OpKind`",
    "flags" / U8 * "`OpFlag`; BY_CLUSTER and COLLAPSE, not both, are of CHARSMAP, the others of "
                   "AFFIX",
    "reserved" / zeros(2),
    "growth" / U32 * "a text of n bytes becomes at most growth * n + extra bytes",
    "extra" / U32 * "see growth",
    "table_offset" / U32 * "of the table, from the start of NORM; a multiple of 4",
    "table_size" / U32,
    "content_offset" / U32 * "of the content, from the start of NORM; a multiple of 4",
    "content_size" / U32 * "at most 65,535",
    "reserved2" / zeros(4),
)


class NormalFormCode(Code):
    """``form.form``."""

    NFC = 0, "canonical decomposition, then composition"
    NFD = 1, "canonical decomposition"
    NFKC = 2, "compatibility decomposition, then composition"
    NFKD = 3, "compatibility decomposition"


# FORM: this header, top[272] u16, middle[middle_count][64] u16, leaves[leaf_count][64] u16 (entry
# numbers), entries, points, compositions.
FormHeader = Struct(
    "form" / U32 * "a `NormalFormCode`",
    "middle_count" / U32 * "blocks of the second level",
    "leaf_count" / U32 * "blocks of the third level",
    "entry_count" / U32 * "at least 1",
    "point_count" / U32,
    "composition_count" / U32,
    "reserved" / zeros(8),
)
NORMALIZER_ENTRY: Final = record(
    "start" / U32 * "of the decomposition in points",
    "length" / U8 * "of the full decomposition; 0: the code point itself",
    "combining_class" / U8 * "canonical combining class",
    "check" / U8 * "1: the quick check of this form says No or Maybe; 0: Yes",
    "zero" / U8 * "zero",
)
NORMALIZER_POINT: Final = np.dtype("<u4")
COMPOSITION: Final = record(
    "first" / U32 * "code point",
    "second" / U32 * "code point",
    "composite" / U32 * "code point that the two compose to",
)

# MAP: this header, ascii[128] u8, top, middle and leaves as for FORM, entries, text.
MapHeader = Struct(
    "middle_count" / U32 * "blocks of the second level",
    "leaf_count" / U32 * "blocks of the third level",
    "entry_count" / U32 * "at least 1",
    "text_size" / U32 * "bytes of text",
    "skip_leads" / U64 * "bit b - 0xC0: every character whose first byte is b stays as it is; a "
                         "hint",
)
MAP_ENTRY: Final = record(
    "start" / U32 * "in the text",
    "before" / U8 * "bytes from start on, which come first",
    "after" / U8 * "bytes after those, which come last",
    "keep" / U8 * "1: the character itself stands between the two; 0: it is dropped; 2 "
                  "(`MAP_LETTERS`): it is a Hangul syllable, and its letters stand there",
    "zero" / U8 * "zero",
)
MAP_LETTERS: Final = 2  # keep: the letters of a Hangul syllable
MAP_OTHER: Final = 0x80  # in ascii: the entry says what the character becomes

# CHARSMAP: this header, units, nodes and edges of the trie over protected texts (as in ADDT), the
# program of clusters, text.
CharsmapHeader = Struct(
    "unit_count" / U32 * "units of the trie, at least 1",
    "node_count" / U32 * "nodes of the trie over the protected texts; 0 with BY_CLUSTER",
    "edge_count" / U32 * "its edges",
    "program_size" / U32 * "bytes of the program; 0 without BY_CLUSTER",
    "text_size" / U32 * "bytes of text",
    "first_plain" / U32 * "at most the program's class_count; 0 without BY_CLUSTER",
)
CHARSMAP_UNIT: Final = np.dtype("<u4")


class AddedFlag(Flags):
    """``added.flags``."""

    SPECIAL = 1 << 0, "found on request only"
    SINGLE_WORD = 1 << 1, "found only where no word character touches it"
    LSTRIP = 1 << 2, "takes the white space before it with it"
    RSTRIP = 1 << 3, "takes the white space after it with it"
    NORMALIZED = (1 << 4, "is in the normalized trie, under its normalized content; without this "
                          "flag it is in the raw trie")


# ADDT: this header, tokens, then the two tries (nodes with one more at the end, then edges), then
# the text.
AddedHeader = Struct(
    "token_count" / U32 * "number of added tokens",
    "raw_node_count" / U32 * "nodes of the raw trie",
    "raw_edge_count" / U32 * "its edges",
    "normalized_node_count" / U32 * "nodes of the normalized trie",
    "normalized_edge_count" / U32 * "its edges",
    "text_size" / U32 * "bytes of all contents",
    "flags" / U32 * "the flags of all added tokens, or-ed",
    "reserved" / zeros(4),
    "raw_starts" / Bytes(32) * "bit b & 7 of byte b >> 3 is set where a content of the raw trie "
                               "starts with byte b",
    "normalized_starts" / Bytes(32) * "the same for the normalized trie",
)
ADDED_TOKEN: Final = record(
    "id" / U32,
    "offset" / U32 * "of the content in the text",
    "length" / U32 * "of the content",
    "flags" / U32 * "`AddedFlag`",
)
TRIE_NODE: Final = record(
    "first_edge" / U32 * "the node's edges are those from here to the next node's first_edge, "
                         "which is not included",
    "token" / U32 * "index of the added token that ends here, or NONE",
)
TRIE_EDGE: Final = np.dtype("<u4")  # byte << 24 | child node; sorted by byte

# ACLS: this header, then a class table with u8 leaves; present when an added token strips or wants
# whole words.
AddedClassesHeader = Struct(
    "middle_count" / U16 * "of the class table",
    "leaf_count" / U16 * "of the class table",
    "reserved" / zeros(4),
)


class AddedClass(Flags):
    """The leaves of ACLS."""

    SPACE = 1 << 0, "white space, for LSTRIP and RSTRIP"
    WORD = 1 << 1, "a word character, for SINGLE_WORD"


class TrimmingPass(Code):
    """Two bits of ``trimming.passes``."""

    END = 0, "no more passes"
    ALL = 1, "white space at both ends is left out"
    KEEP_FIRST = 2, "the same, but a single space at the start of a text stays"


# TRIM: this header, then the exceptions.
TrimmingHeader = Struct(
    "passes" / U32 * "up to 15 times two bits, the lowest first, each a `TrimmingPass`; NONE: the"
                     " file cannot say where ids stand in a text",
    "exception_count" / U32,
)
TRIMMING_EXCEPTION: Final = record(
    "id" / U32 * "a token of the model",
    "leading" / U16 * "how many characters of white space its name begins with",
    "trailing" / U16 * "how many it ends with",
)


class AlignmentFlag(Flags):
    """``alignment.flags``."""

    PREFIX = 1 << 0, "a space is put before the text"
    SUFFIX = 1 << 1, "a space is put after the text"
    COLLAPSE = 1 << 2, "spaces at both ends, and after a space, are dropped"


# ALGN: this header, then the nodes and edges of a trie over the protected texts.
AlignmentHeader = Struct(
    "flags" / U32 * "`AlignmentFlag`",
    "node_count" / U32 * "nodes of the trie over the protected texts",
    "edge_count" / U32 * "its edges",
    "reserved" / zeros(4),
)
