"""The header, the section table, and sections about tokens, scores, roles, templates and frames."""

from typing import Final

import numpy as np
from construct import Bytes, Const, Struct

from tokexport.file.layout.declare import U16, U32, U64, Code, Flags, SectionTag, record, zeros
from tokexport.limits import MAX_IDS

MAGIC: Final = b"\x89TKX\r\n\x1a\n"
VERSION_MAJOR: Final = 1
VERSION_MINOR: Final = 0
ALIGNMENT: Final = 64
MAX_SECTIONS: Final = 64
NONE: Final = 0xFFFFFFFF


class ModelType(Code):
    """``header.model``."""

    BPE = 1, "byte-pair encoding: merges (3.5)"
    UNIGRAM = 2, "the segmentation with the largest sum of scores (3.6)"
    WORDPIECE = 3, "the longest token first, with a prefix inside of words (3.6)"
    WORDLEVEL = 4, "a pre-token is a token (3.6)"
    GREEDY = 5, "the longest token first (3.6)"


class HeaderFlag(Flags):
    """``header.flags``."""

    WHOLE_FIRST = 1 << 0, "a pre-token that is a key of TIDX is that id, merges or not (3.5)"
    FUSE_UNKNOWN = 1 << 1, "consecutive unknown text becomes one unknown id (3.5, 3.6)"
    SEARCH_ANEW = 1 << 2, "rare: after an added token the search begins as in a new text (3.2)"
    RESCAN_SPECIAL = 1 << 3, "only one character of a disallowed special token is skipped (3.2)"
    REPLACE_SURROGATES = 1 << 4, "a lone surrogate in a host's string becomes U+FFFD, not an error"
    UNKNOWN_STOPS = 1 << 5, "rare: BPE: unknown text is an error, unknown_id is NONE (3.5)"


Header = Struct(
    "magic" / Const(MAGIC) * "89 54 4B 58 0D 0A 1A 0A: 0x89, `TKX`, CR LF, 0x1A, LF",
    "version_major" / U16 * "1",
    "version_minor" / U16 * "0",
    "section_count" / U32 * f"at most {MAX_SECTIONS}",
    "file_size" / U64 * "of the whole file",
    "id_count" / U32 * f"1 to {MAX_IDS:,}",
    "token_count" / U32 * "ids that are not holes",
    "model" / U32 * "a `ModelType`",
    "flags" / U32 * "`HeaderFlag`",
    "max_token_bytes" / U32 * "size of the longest key in TIDX or TRIE, at most 65,535",
    "unknown_id" / U32 * "the id for text that is not in the vocabulary, or NONE",
    "reserved" / zeros(12),
    "crc32" / U32 * "of bytes 0 to 59 of the header, then the section table",
)


class SectionFlag(Flags):
    """``section.flags``."""

    REQUIRED = 1 << 0, "a reader that does not know the tag refuses the file"


Section = Struct(
    "tag" / Bytes(4) * "four ASCII characters",
    "flags" / U32 * "`SectionFlag`",
    "offset" / U64 * "from the start of the file",
    "size" / U64 * "without padding",
    "crc32" / U32 * "of the section's bytes, without padding",
    "reserved" / zeros(4),
)


class Tag(SectionTag):
    """The sections."""

    RECORDS = b"RECS", True, "0", "2.6", "location of the bytes of each token, and its flags"
    BYTES = b"BYTS", True, "0", "2.6", "the bytes of the tokens"
    DECODER = b"DECO", True, "2", "3.8", "rules of decoding, besides joining bytes"
    EDITS = b"EDIT", True, "rare", "3.8", "replacements in the decoded text"
    BYTE_IDS = b"BIDS", True, "1", "3.5", "the id of each byte"
    TOKEN_INDEX = b"TIDX", True, "1", "2.5", "index from keys to ids"
    PAIR_INDEX = b"PIDX", True, "1", "2.5", "index from (left id, right id) to merged id"
    RANKS = b"RANK", True, "1", "3.5", "ranks of merges that are not the order of ids"
    CHARACTERS = b"CHRS", True, "2", "3.5", "first symbols other than those of bytes"
    KEYS = b"KEYS", True, "rare", "2.6", "keys of TIDX that are not the bytes of tokens"
    TRIE = b"TRIE", True, "3", "3.6", "the vocabulary as a trie"
    SCORES = b"SCOR", False, "3", "2.6", "a score for each id"
    DOUBLE_SCORES = b"SC64", True, "3", "2.6", "a score for each id, as a double"
    SPLITS = b"SPLT", True, "1", "3.4", "the stages of the pre-tokenizer"
    LABELS = b"LABL", True, "rare", "3.4", "label tables of stages"
    NORMALIZER = b"NORM", True, "1, 2", "3.3", "operations that rewrite texts"
    ADDED_TOKENS = b"ADDT", True, "1", "3.2", "added tokens"
    ADDED_CLASSES = b"ACLS", True, "1", "3.2", "which characters are white space or in words"
    TEMPLATE = b"POST", False, "1", "3.7", "the template around one text or two"
    TRIMMING = b"TRIM", False, "A", "A", "white space that spans leave out"
    ALIGNMENT = b"ALGN", False, "A", "A", "alignment of the normalizer as a whole"
    CUTS = b"CUTS", False, "B", "B", "where a text may be cut"
    CROSSINGS = b"XPRS", False, "B", "B", "where merges may cross between characters"
    SORTED_IDS = b"SORT", False, "extra", "EXTRA.md", "ids in the order of their bytes"
    CHAT_FRAME = b"FRAM", False, "extra", "EXTRA.md", "the chat template as a frame"
    SPECIAL_IDS = b"SPID", False, "", "2.7", "BOS, EOS, padding, unknown, stop ids"
    CHAT_TEMPLATE = b"CHAT", False, "", "2.7", "the chat template"
    PROVENANCE = b"PROV", False, "", "2.7", "where the tokenizer came from"
    SELF_TEST = b"TEST", False, "", "3.9", "texts and their ids"


class RecordFlag(Flags):
    """``record.flags``: two bits of kind, then flags."""

    KIND_HOLE = 0, "no token; offset, length and flags are 0"
    KIND_MODEL = 1, "a token of the model"
    KIND_ADDED = 2, "a token that is only an added token"
    KIND_UNKNOWN = 3, "the model's unknown token"
    KIND_MASK = 3
    SPECIAL = 1 << 2, "left out when decoding without special tokens"
    WHOLE = 1 << 3, "merging the token's key produces this token"
    FALLBACK = 1 << 4, "a byte of a character that is not in the vocabulary"
    FIRST_SKIP = 31 << 5, "five bits: number of bytes dropped at the start of the first token"
    FIRST_MORE = 3 << 10, "two bits: number of bytes before `offset` that the first token has"
    LAST_SKIP = 3 << 12, "two bits: number of bytes dropped at the end of the last token"


# RECS: one per id.
RECORD: Final = record(
    "offset" / U32 * "of the token's bytes in BYTS",
    "length" / U16 * "number of its bytes",
    "flags" / U16 * "`RecordFlag`; the low two bits are the kind",
)

# SCOR, SC64: one per id. RANK: one per id, NONE for a token that no merge makes. BIDS: 256 ids.
# SORT: one per token.
SCORE: Final = np.dtype("<f4")
DOUBLE_SCORE: Final = np.dtype("<f8")
RANK: Final = np.dtype("<u4")
BYTE_ID: Final = np.dtype("<u4")
SORTED_ID: Final = np.dtype("<u4")


class DecoderFlag(Flags):
    """``decoder.flags``."""

    BYTE_FALLBACK = 1 << 0, "ids with FALLBACK form runs"
    BY_CHARACTER = 1 << 1, "with BYTE_FALLBACK: bytes in no valid character become U+FFFD"
    FIRST_BY_CONTENT = 1 << 3, "an id of length 0 is neither the first nor the last"
    FIRST_BY_TEXT = 1 << 4, "an id is the first if no id before it produced bytes"


# DECO.
Decoder = Struct(
    "flags" / U32 * "`DecoderFlag`",
    "strip_left" / U32 * "an ASCII character, dropped once at the start of the text; 0: none",
)


class EditsFlag(Flags):
    """``edits.flags``."""

    READS_TOKENS = 1 << 0, "class class_count - 1 is read before each id without FALLBACK"


# EDIT: this header, 256 classes of bytes, state_count * class_count EDIT by state and class,
# state_count EDIT for the end of the text, and the text.
EditsHeader = Struct(
    "state_count" / U16,
    "class_count" / U16,
    "flags" / U32,
    "text_size" / U32,
    "reserved" / zeros(4),
)
EDIT: Final = record(
    "next" / U16 * "the next state",
    "length" / U16 * "number of bytes appended; bit 15: then also the byte read",
    "offset" / U32 * "of these bytes in the texts",
)
EDIT_KEEPS: Final = 0x8000  # in length: the byte read is written after the text

# SPID: this header, then stop_count ids.
SpecialIdsHeader = Struct("bos" / U32, "eos" / U32, "pad" / U32, "unk" / U32, "stop_count" / U32)

# POST: this header, then the items of both templates.
TemplateHeader = Struct("single_count" / U32, "pair_count" / U32)


class ItemKind(Code):
    """``template_item.kind``."""

    ID = 0
    SEQUENCE_A = 1
    SEQUENCE_B = 2


TEMPLATE_ITEM: Final = record(
    "kind" / U32 * "an `ItemKind`",
    "id" / U32 * "for kind ID; otherwise 0",
    "type_id" / U32 * "token type id, for models that use it",
)

# TEST: this header, cases, ids, text.
SelfTestHeader = Struct(
    "case_count" / U32, "id_count" / U32, "text_size" / U32, "reserved" / zeros(4)
)


class CaseFlag(Flags):
    """``case.flags``."""

    SPECIAL = 1 << 0, "all special tokens are allowed; otherwise none"


SELF_TEST_CASE: Final = record(
    "text_offset" / U32 * "in the texts",
    "text_length" / U32,
    "first_id" / U32 * "in the ids",
    "id_count" / U32,
    "flags" / U32 * "`CaseFlag`",
)


class FrameFlag(Flags):
    """``frame.flags``."""

    HAS_SYSTEM = 1 << 0, "a conversation may begin with a system message"
    TAKES_EMPTY = 1 << 1, "a message may be empty or only white space"
    STRIP_SYSTEM = 1 << 2, "white space at the ends of a system message is dropped"
    STRIP_USER = 1 << 3, "the same for a user message"
    STRIP_ASSISTANT = 1 << 4, "the same for an assistant message"
    TRIMMED_SYSTEM = 1 << 5, "a system message has no white space at its ends"
    TRIMMED_USER = 1 << 6, "the same for a user message"
    TRIMMED_ASSISTANT = 1 << 7, "the same for an assistant message"


# FRAM: this header, FRAME_MARK[mark_count], RESERVED_SIZE[reserved_count], then the six texts and
# the reserved ones.
FrameHeader = Struct(
    "flags" / U32 * "`FrameFlag`",
    "mark_count" / U32 * "at most 255",
    "reserved_count" / U32 * "at most 255",
    "text_size" / U32 * "of all texts together",
    "start" / U32 * "size of the text before the first user message, without a system message",
    "before_system" / U32 * "before a system message",
    "after_system" / U32 * "from a system message to the first user message",
    "user_to_assistant" / U32 * "from a user message to the answer",
    "assistant_to_user" / U32 * "from an answer to the next user message",
    "user_to_reply" / U32 * "from the last user message to where the model continues",
)

FRAME_MARK: Final = np.dtype("<u4")
RESERVED_SIZE: Final = np.dtype("<u4")
