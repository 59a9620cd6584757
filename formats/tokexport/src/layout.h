/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- layout.h: numbers of SPEC.md; made by generate.py from tokexport/file/layout ------------ */

/* Sizes in bytes. */
enum { HEADER_SIZE = 64, SECTION_SIZE = 32, RECORD_SIZE = 8, DECODER_SIZE = 8, EDITS_HEADER = 16 };
enum { EDIT_SIZE = 8, TRIE_HEADER = 32, UNIT_SIZE = 8, STAGE_SIZE = 36, LABELS_HEADER = 8 };
enum { LABEL_TABLE = 8, REWRITE_HEADER = 16, OP_SIZE = 32, CHARSMAP_HEADER = 24 };
enum { FORM_HEADER = 32, MAP_HEADER = 24, CHARACTERS_HEADER = 16, PAIR_INDEX_HEADER = 16 };
enum { CROSSINGS_HEADER = 8, ADDED_HEADER = 96, ADDED_SIZE = 16, NODE_SIZE = 8, ITEM_SIZE = 12 };
enum { TRIM_HEADER = 8, TRIM_SIZE = 8, ALIGNMENT_HEADER = 16, CASE_SIZE = 20 };
/* Limits, places and masks. */
enum { MAX_IDS = 2097151, MAX_CLASSES = 254, MAX_STATES = 4096, MAX_CLUSTER = 5 };
enum { ASCII_SIZE = 128, TOP_SIZE = 544, ALIGNMENT = 64, MAX_SECTIONS = 64, ID_BITS = 21 };
enum { EDIT_KEEPS = 32768, LABEL_BITS = 9, ACCEPT = 32768, CUTS_SIZE = 2048 };
enum { CROSSINGS_ASCII = 2048, CROSSINGS_BYTES = 8192, PLACES = 4, MAP_OTHER = 128 };
enum { MAP_LETTERS = 2, ONE_KNOWN = 1, BOTH_KNOWN = 2, CROSSED_BYTES = 3, FIRST_SKIP_SHIFT = 5 };
enum { FIRST_MORE_SHIFT = 10, LAST_SKIP_SHIFT = 12, HEADER_FLAGS = 63, DECODER_FLAGS = 27 };
enum { TRIE_FLAGS = 1 };
/* header.model. */
enum { MODEL_BPE = 1, MODEL_UNIGRAM = 2, MODEL_WORDPIECE = 3, MODEL_WORDLEVEL = 4 };
enum { MODEL_GREEDY = 5 };
/* header.flags. */
enum { WHOLE_FIRST = 1, FUSE_UNKNOWN = 2, SEARCH_ANEW = 4, RESCAN_SPECIAL = 8 };
enum { REPLACE_SURROGATES = 16, UNKNOWN_STOPS = 32 };
/* section.flags. */
enum { SECTION_REQUIRED = 1 };
/* decoder.flags. */
enum { BYTE_FALLBACK = 1, BY_CHARACTER = 2, FIRST_BY_CONTENT = 8, FIRST_BY_TEXT = 16 };
/* edits.flags. */
enum { READS_TOKENS = 1 };
/* trie.flags. */
enum { SINGLE_PRECISION = 1 };
/* stage.behavior. */
enum { ISOLATED = 0, REMOVED = 1, MERGED_WITH_PREVIOUS = 2, MERGED_WITH_NEXT = 3, CONTIGUOUS = 4 };
/* stage.flags. */
enum { INVERT = 1, ON_BYTES = 2, REWRITE = 4, EMPTY_MATCHES = 8, SEARCH_STARTS = 16 };
/* op.kind. */
enum { FORM = 0, MAP = 1, REPLACE = 2, CHARSMAP = 3, AFFIX = 4, BYTES = 5 };
/* op.flags: for AFFIX, except BY_CLUSTER. */
enum { APPEND = 1, UNLESS_PRESENT = 2, ONLY_FIRST = 4, BY_CLUSTER = 8, FIRST_SOURCE = 16 };
/* form.form. */
enum { NFC = 0, NFD = 1, NFKC = 2, NFKD = 3 };
/* characters.unit: what a first symbol stands for. */
enum { UNIT_CHARACTER = 0, UNIT_BYTE = 1 };
/* The leaves of ACLS. */
enum { CLASS_SPACE = 1, CLASS_WORD = 2 };
/* Two bits of trimming.passes. */
enum { TRIM_END = 0, TRIM_ALL = 1, TRIM_KEEP_FIRST = 2 };
/* alignment.flags. */
enum { ALIGN_PREFIX = 1, ALIGN_SUFFIX = 2, ALIGN_COLLAPSE = 4 };
