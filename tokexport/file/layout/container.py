"""The header, the section table, and what every file holds: tokens, scores, ids with a role."""

from __future__ import annotations

from typing import Final

import numpy as np
from construct import Bytes, Const, Struct

from tokexport.file.layout.declare import U16, U32, U64, Code, Flags, SectionTag, record, zeros
from tokexport.limits import MAX_IDS

# fmt: off
# ruff: noqa: ISC004

MAGIC: Final = b"\x89TKX\r\n\x1a\n"
VERSION_MAJOR: Final = 1
VERSION_MINOR: Final = 0
ALIGNMENT: Final = 64
MAX_SECTIONS: Final = 64
NONE: Final = 0xFFFFFFFF


class ModelType(Code):
    """``header.model``."""

    BPE = 1, "byte-pair encoding: merges"
    UNIGRAM = 2, "the segmentation with the largest sum of scores"
    WORDPIECE = 3, "the longest token first, with a prefix inside of words"
    WORDLEVEL = 4, "a pre-token is a token"
    GREEDY = 5, "the longest token first"


class HeaderFlag(Flags):
    """``header.flags``."""

    WHOLE_PIECE_FIRST = (1 << 0, "a pre-token whose bytes are a model token is that token, "
                                 "whatever its merges give")
    FUSE_UNKNOWN = (1 << 1, "neighbouring bytes or characters without an id, with WORDLEVEL "
                            "pre-tokens, become one unknown id, not one each")
    SEARCH_ANEW = (1 << 2, "after each added token, the next one is looked for as if the text "
                           "began there")
    RESCAN_SPECIAL = (1 << 3, "after a special token that is not allowed the search goes on one "
                              "character further, not at its end")
    REPLACE_SURROGATES = (1 << 4, "for hosts whose strings can hold lone surrogates: such a one "
                                  "becomes U+FFFD; without this flag it is an error")
    UNKNOWN_STOPS = (1 << 5, "with BPE: a byte or character without an id is an error; unknown_id"
                             " is NONE")


Header = Struct(
    "magic" / Const(MAGIC) * "89 54 4B 58 0D 0A 1A 0A: 0x89, `TKX`, CR LF, 0x1A, LF. A transfer "
                             "in text mode changes it",
    "version_major" / U16 * "1",
    "version_minor" / U16 * "0",
    "section_count" / U32 * f"entries of the section table, at most {MAX_SECTIONS}",
    "file_size" / U64 * "of the whole file",
    "id_count" / U32 * f"ids are 0 to id_count - 1; 1 to {MAX_IDS:,}",
    "token_count" / U32 * "ids that are not holes",
    "model" / U32 * "a `ModelType`",
    "flags" / U32 * "`HeaderFlag`",
    "max_token_bytes" / U32 * "length of the longest key in TIDX or TRIE, at most 65,535; a "
                              "longer pre-token need not be looked up whole",
    "unknown_id" / U32 * "what a byte or character without an id becomes; NONE: it becomes "
                         "nothing; for models other than BPE, what unknown text becomes",
    "reserved" / zeros(12),
    "crc32" / U32 * "of bytes 0 to 59 of the header, then the section table",
)


class SectionFlag(Flags):
    """``section.flags``."""

    REQUIRED = (1 << 0, "a reader that does not know the tag refuses the file; without it the "
                        "reader skips the section")


Section = Struct(
    "tag" / Bytes(4) * "four ASCII letters",
    "flags" / U32 * "`SectionFlag`",
    "offset" / U64 * "from the start of the file",
    "size" / U64 * "without padding",
    "crc32" / U32 * "of the section's bytes, without padding",
    "reserved" / zeros(4),
)


class Tag(SectionTag):
    """The sections."""

    RECORDS = b"RECS", True, "where each token's bytes are, and its kind", "every file"
    BYTES = b"BYTS", True, "the tokens' bytes", "every file"
    DECODER = b"DECO", True, "what decoding does besides joining bytes", "EDIT"
    EDITS = b"EDIT", True, "what decoding changes in the joined text"
    SCORES = b"SCOR", False, "a score for each id", "encoding with UNIGRAM, or SC64"
    DOUBLE_SCORES = (b"SC64", True, "a score for each id, as a double",
                     "encoding with UNIGRAM, or SCOR")
    RANKS = b"RANK", True, "ranks of merges, where rank is not the order of ids"
    BYTE_IDS = b"BIDS", True, "the id of each single byte", "encoding with BPE"
    CHARACTERS = b"CHRS", True, "first symbols that are characters, or that depend on their place"
    KEYS = b"KEYS", True, "what TIDX finds an id by, where that is not the token's bytes"
    TOKEN_INDEX = b"TIDX", True, "index from bytes to id", "encoding with BPE"
    PAIR_INDEX = (b"PIDX", True, "index from (left, right) to product: the merges",
                  "encoding with BPE")
    TRIE = b"TRIE", True, "the vocabulary, as a trie", "encoding with another model"
    CROSSINGS = b"XPRS", False, "where merges may cross from one character to the next"
    SPLITS = b"SPLT", True, "the stages of the pre-tokenizer", "encoding"
    LABELS = b"LABL", True, "label tables, of stages that look ahead over any number of characters"
    CUTS = b"CUTS", False, "where a text may be cut"
    NORMALIZER = b"NORM", True, "operations that rewrite texts"
    ADDED_TOKENS = b"ADDT", True, "added tokens"
    ADDED_CLASSES = (b"ACLS", True, "which characters are white space, which belong to words",
                     "ADDT that strips or wants whole words")
    TEMPLATE = b"POST", False, "what goes around one text or two"
    TRIMMING = b"TRIM", False, "white space that spans leave out"
    ALIGNMENT = b"ALGN", False, "how spans follow the normalizer as a whole"
    SPECIAL_IDS = b"SPID", False, "BOS, EOS, padding, unknown, stop ids"
    CHAT_TEMPLATE = b"CHAT", False, "the chat template, UTF-8"
    PROVENANCE = b"PROV", False, "where the tokenizer came from, JSON"
    SELF_TEST = b"TEST", False, "texts and their ids"


class RecordFlag(Flags):
    """``record.flags``: two bits of kind, then flags."""

    KIND_HOLE = 0, "no token; offset, length and flags are 0"
    KIND_MODEL = 1, "a token of the model"
    KIND_ADDED = 2, "a token that only the added tokens produce"
    KIND_UNKNOWN = 3, "the model's unknown token"
    KIND_MASK = 3
    SPECIAL = 1 << 2, "left out when decoding without special tokens"
    WHOLE = 1 << 3, "merging the token's key in TIDX gives this token"
    FALLBACK = 1 << 4, "the token is a byte of a character that the vocabulary lacks"
    FIRST_SKIP = (31 << 5, "five bits, a number: so many bytes are left out at the front of the "
                           "first token")
    FIRST_MORE = (3 << 10, "two bits, a number: so many bytes that lie before `offset` belong to "
                           "the first token")
    LAST_SKIP = (3 << 12, "two bits, a number: so many bytes are left out at the end of the last "
                          "token")


# RECS: one per id.
RECORD: Final = record(
    "offset" / U32 * "of the token's bytes in BYTS",
    "length" / U16 * "number of its bytes",
    "flags" / U16 * "`RecordFlag`",
)

# SCOR, SC64: one per id. RANK: one per id, NONE for a token that no merge makes. BIDS: 256 ids.
SCORE: Final = np.dtype("<f4")
DOUBLE_SCORE: Final = np.dtype("<f8")
RANK: Final = np.dtype("<u4")
BYTE_ID: Final = np.dtype("<u4")


class DecoderFlag(Flags):
    """``decoder.flags``."""

    BYTE_FALLBACK = (1 << 0, "a run of FALLBACK tokens that is not UTF-8 as a whole gives one "
                             "U+FFFD for each of its bytes")
    BY_CHARACTER = (1 << 1, "only with BYTE_FALLBACK: of such a run, whole characters stay, and "
                            "each other byte gives one U+FFFD")
    REPEATS_ONCE = 1 << 2, "an id that follows itself gives nothing"
    FIRST_BY_CONTENT = 1 << 3, "an id of length 0 is neither the first nor the last"
    FIRST_BY_TEXT = (1 << 4, "every id is the first as long as those before it gave no bytes; not"
                             " with FIRST_BY_CONTENT")


# DECO.
Decoder = Struct(
    "flags" / U32 * "`DecoderFlag`",
    "strip_left" / U32 * "an ASCII character, of which one is dropped at the start of the text; "
                         "0: none",
)


class EditsFlag(Flags):
    """``edits.flags``."""

    READS_TOKENS = (1 << 0, "the class class_count - 1 stands before each id that is not FALLBACK;"
                            " only with BYTE_FALLBACK and no other flag in DECO")


# EDIT: this header, 256 classes of bytes, state_count * class_count EDIT by state and class,
# state_count EDIT for the end of the text, and the text.
EditsHeader = Struct(
    "state_count" / U16 * "at least 1",
    "class_count" / U16 * "classes of bytes, 1 to 256, and one more with READS_TOKENS",
    "flags" / U32 * "`EditsFlag`",
    "text_size" / U32 * "bytes of text that are written",
    "reserved" / zeros(4),
)
EDIT: Final = record(
    "next" / U16 * "the next state",
    "length" / U16 * "bytes of the text that are written; bit 15: the byte that was read is "
                     "written after them (never at the end)",
    "offset" / U32 * "where they begin in the text",
)
EDIT_KEEPS: Final = 0x8000  # in length: the byte that is read is written after the text

# SPID: this header, then stop_count ids.
SpecialIdsHeader = Struct(
    "bos" / U32 * "begins a text, or NONE, as the next three",
    "eos" / U32 * "ends a text",
    "pad" / U32 * "fills up a batch",
    "unk" / U32 * "stands for what is unknown",
    "stop_count" / U32,
)

# POST: this header, then the items of both templates.
TemplateHeader = Struct(
    "single_count" / U32 * "items of the template for one text",
    "pair_count" / U32 * "items of the template for two texts",
)


class PieceKind(Code):
    """``piece.kind``."""

    ID = 0, "an id"
    SEQUENCE_A = 1, "the ids of the first text"
    SEQUENCE_B = 2, "the ids of the second text"


TEMPLATE_PIECE: Final = record(
    "kind" / U32 * "a `PieceKind`",
    "id" / U32 * "for kind ID; otherwise 0",
    "type_id" / U32 * "token type id, for models that want one",
)

# TEST: this header, cases, ids, text.
SelfTestHeader = Struct(
    "case_count" / U32,
    "id_count" / U32 * "ids of all cases",
    "text_size" / U32 * "bytes of all texts",
    "reserved" / zeros(4),
)


class CaseFlag(Flags):
    """``case.flags``."""

    SPECIAL = 1 << 0, "special tokens in the text are found"


SELF_TEST_CASE: Final = record(
    "text_offset" / U32 * "in the text",
    "text_length" / U32,
    "first_id" / U32 * "index into the ids",
    "id_count" / U32,
    "flags" / U32 * "`CaseFlag`",
)
