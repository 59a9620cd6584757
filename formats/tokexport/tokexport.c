/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* tokexport.c - the implementation of tokexport.h. Numbers such as I1 and 3.1 refer to SPEC.md,
   which describes the format and the algorithms. Edit the units in src/, from which amalgamate.py
   generates this file. A unit uses only units before it in src/all.c.

   Two rules hold everywhere. A number from the file is compared with its bound before it is used as
   an index: on opening for tables that inner loops read (SPLT), otherwise on use. And the file and
   the work memory are read and written only by load_, get_ and put_ functions, because they may
   have any alignment, and the host any byte order. */

#include "tokexport.h"
/* ---- base.h: compilers, and bytes ------------------------------------------------------------ */
/* Compilers need these functions, but freestanding C99 does not require <string.h>. */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* With -ffreestanding, GCC and Clang expand a small copy inline only if it is the built-in. */
#if defined(__GNUC__)
#define TKX_COPY __builtin_memcpy
#define TKX_LIKELY(condition) __builtin_expect(!!(condition), 1)
#if defined(__OPTIMIZE_SIZE__) /* 25 % less code, 10 to 25 % slower */
#define TKX_INLINE inline
#else
#define TKX_INLINE inline __attribute__((always_inline))
#endif
#define TKX_NOINLINE __attribute__((noinline))
#define TKX_PREFETCH(address) __builtin_prefetch(address)
#else
#define TKX_COPY memcpy
#define TKX_LIKELY(condition) (condition)
#define TKX_INLINE inline
#define TKX_NOINLINE
#define TKX_PREFETCH(address) ((void)0)
#endif

enum { MAX_TEXT = 0x7FFFFFFF, MAX_CONTENT = 0xFFFF };
/* ---- base.h: loading and storing ------------------------------------------------------------- */
/* Work memory is read and written in the byte order of the host. */
static TKX_INLINE uint32_t get_u32(const uint8_t *p) {
    uint32_t v;
    TKX_COPY(&v, p, 4);
    return v;
}

static TKX_INLINE uint64_t get_u64(const uint8_t *p) {
    uint64_t v;
    TKX_COPY(&v, p, 8);
    return v;
}

static TKX_INLINE void put_u32(uint8_t *p, uint32_t v) { TKX_COPY(p, &v, 4); }
static TKX_INLINE void put_u64(uint8_t *p, uint64_t v) { TKX_COPY(p, &v, 8); }

/* The file is little-endian. */
static TKX_INLINE uint32_t load_u16(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) &&                                 \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static TKX_INLINE uint32_t load_u32(const uint8_t *p) { return get_u32(p); }
static TKX_INLINE uint64_t load_u64(const uint8_t *p) { return get_u64(p); }
#else
static TKX_INLINE uint32_t load_u32(const uint8_t *p) {
    return load_u16(p) | load_u16(p + 2) << 16;
}
static TKX_INLINE uint64_t load_u64(const uint8_t *p) {
    return (uint64_t)load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}
#endif

/* Number of zero bits below the lowest one; v is not 0. */
static TKX_INLINE unsigned lowest_bit(uint64_t v) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(v);
#else
    unsigned n = 0;
    while (!(v & 1)) v >>= 1, n++;
    return n;
#endif
}

static const uint64_t HIGH_BITS = UINT64_C(0x8080808080808080);
static const uint64_t LOW_BITS = UINT64_C(0x0101010101010101);

static int bit_of(const uint8_t *bits, size_t i) { return bits[i >> 3] >> (i & 7) & 1; }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
/* ---- base.h: hashing (2.4, 2.5) -------------------------------------------------------------- */
#define TKX_K0 UINT64_C(0x9E3779B97F4A7C15)
#define TKX_K1 UINT64_C(0xD6E8FEB86659FD93)
#define TKX_K2 UINT64_C(0xFF51AFD7ED558CCD)
#define TKX_K3 UINT64_C(0xC4CEB9FE1A85EC53)

static TKX_INLINE uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * TKX_K1;
    return h ^ h >> 32;
}

static TKX_INLINE uint64_t finish(uint64_t h) {
    h *= TKX_K2;
    return h ^ h >> 29;
}

static TKX_INLINE uint64_t hash_bytes(const uint8_t *b, size_t n) {
    uint64_t h = n * TKX_K0;
    size_t i;
    if (n >= 8) {
        for (i = 0; i < n - 8; i += 8) h = mix(h, load_u64(b + i)) * TKX_K2;
        h = mix(h, load_u64(b + n - 8));
    } else if (n >= 4) {
        h = mix(h, (uint64_t)load_u32(b) | (uint64_t)load_u32(b + n - 4) << 32);
    } else if (n > 0) {
        h = mix(h, (uint64_t)b[0] | (uint64_t)b[n >> 1] << 8 | (uint64_t)b[n - 1] << 16);
    }
    return finish(h);
}

/* The same; `has_word`: 8 bytes may be read at b, so that no branch depends on a small size. */
static TKX_INLINE uint64_t hash_near(const uint8_t *b, size_t n, int has_word) {
    uint64_t word, three, eight, is_three = 0 - (uint64_t)(n < 4);
    if (!TKX_LIKELY(has_word && n <= 8)) return hash_bytes(b, n);
    word = load_u64(b);
    three = (word & 255) | (word >> 8 * (n >> 1) & 255) << 8 | (word >> 8 * (n - 1) & 255) << 16;
    eight = (word & TKX_NONE) | word >> (8 * (n - 4) & 63) << 32;
    return finish(mix(n * TKX_K0, (three & is_three) | (eight & ~is_three)));
}

/* Whether two strings are equal; `has_word`: 8 bytes may be read at both. */
static TKX_INLINE int same_bytes(const uint8_t *a, const uint8_t *b, size_t n, int has_word) {
    if (TKX_LIKELY(has_word && n <= 8)) return !((load_u64(a) ^ load_u64(b)) << 8 * (8 - n));
    return memcmp(a, b, n) == 0;
}

static TKX_INLINE uint64_t hash_pair(uint32_t left, uint32_t right) {
    return finish(mix(0, (uint64_t)left << 21 | right));
}

/* The bucket, below `buckets`, of a key with hash h. */
static TKX_INLINE size_t bucket_of(uint64_t h, uint32_t buckets) {
    return (size_t)((h & TKX_NONE) * buckets >> 32);
}

/* The only slot, below `slots`, of a key with hash h, given the displacement of its bucket. */
static TKX_INLINE size_t slot_of(uint64_t h, uint64_t displacement, uint32_t slots) {
    return (size_t)(((h ^ displacement * TKX_K3) * TKX_K1 >> 32) * slots >> 32);
}
/* ---- base.h: checksums ----------------------------------------------------------------------- */
/* The CRC-32 of zlib, for a header: start with TKX_NONE, invert the result. */
static uint32_t crc_small(uint32_t crc, const uint8_t *p, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                       0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    size_t i;
    for (i = 0; i < size; i++) {
        crc = table[(crc ^ p[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ (uint32_t)p[i] >> 4) & 15] ^ crc >> 4;
    }
    return crc;
}

/* The same with tables on the stack, for whole sections: six times as fast (1.35 GB/s). */
static void crc_tables(uint32_t tables[4][256]) {
    uint32_t i;
    for (i = 0; i < 1024; i++) {
        const uint8_t bytes[4] = {(uint8_t)i, 0, 0, 0};
        tables[i >> 8][i & 255] = crc_small(0, bytes, 1 + (i >> 8));
    }
}

static uint32_t crc_large(uint32_t tables[4][256], const uint8_t *p, size_t size) {
    uint32_t crc = TKX_NONE;
    for (; size >= 4; size -= 4, p += 4) {
        crc ^= load_u32(p);
        crc = tables[3][crc & 255] ^ tables[2][crc >> 8 & 255] ^ tables[1][crc >> 16 & 255] ^
              tables[0][crc >> 24];
    }
    for (; size; size--, p++) crc = tables[0][(crc ^ *p) & 255] ^ crc >> 8;
    return ~crc;
}
/* ---- base.h: UTF-8 --------------------------------------------------------------------------- */
enum { UTF8_BAD, UTF8_CUT, UTF8_GOOD };

static int utf8_inside(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* Examines the character at p; size > 0. *length: its length; if the text ends inside it, the bytes
   that there are; if it is bad, the length of the part that one U+FFFD replaces. */
static int utf8_look(const uint8_t *p, size_t size, size_t *length) {
    uint8_t lead = p[0], low = 0x80, high = 0xBF;
    size_t need, i;
    *length = 1;
    if (lead < 0x80) return UTF8_GOOD;
    if (lead < 0xC2 || lead > 0xF4) return UTF8_BAD;
    need = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    for (i = 1; i < need; i++, low = 0x80, high = 0xBF) {
        *length = i;
        if (i == size) return UTF8_CUT;
        if (p[i] < low || p[i] > high) return UTF8_BAD;
    }
    *length = need;
    return UTF8_GOOD;
}

static TKX_INLINE const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p < 0x80) {
        p++;
        while (end - p >= 8 && !(load_u64(p) & HIGH_BITS)) p += 8;
    }
    return p;
}

/* The offset of the first byte that is not part of a valid character, or size. English: 13 GB/s. */
static size_t utf8_valid(const uint8_t *p, size_t size) {
    size_t i = 0, length;
    while (i < size && (i = (size_t)(skip_ascii(p + i, p + size) - p)) < size) {
        /* most characters of three bytes: after E1 to EC, any continuation bytes are valid */
        if (size - i >= 3 && (uint8_t)(p[i] - 0xE1) < 12 && utf8_inside(p[i + 1]) &&
            utf8_inside(p[i + 2]))
            length = 3;
        else if (utf8_look(p + i, size - i, &length) != UTF8_GOOD) break;
        i += length;
    }
    return i;
}

/* The length of the character with this first byte, in valid UTF-8. */
static TKX_INLINE size_t utf8_length(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The code point at p, in valid UTF-8. */
static TKX_INLINE uint32_t utf8_decode(const uint8_t *p) {
    uint32_t a = p[0];
    if (a < 0x80) return a;
    if (a < 0xE0) return (a & 31) << 6 | (p[1] & 63u);
    if (a < 0xF0) return (a & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return (a & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
}

#ifndef TKX_NO_NORMALIZER
/* Writes a code point (no surrogate, at most 0x10FFFF) as 1 to 4 bytes. */
static size_t utf8_encode(uint8_t *p, uint32_t c) {
    static const uint8_t leads[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    size_t i;
    for (i = size - 1; i; i--, c >>= 6) p[i] = (uint8_t)(0x80 | (c & 63));
    p[0] = (uint8_t)(leads[size] | c);
    return size;
}
#endif
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
/* ---- open_header.c: header and section table (4.1) ------------------------------------------- */
/* The sections that this runtime knows, and the member of a tkx for each. */
/* clang-format off */
#define TKX_AT(member) offsetof(tkx, member)
static const struct { char tag[5]; size_t member; } SECTIONS[] = {
    {"RECS", TKX_AT(records)}, {"BYTS", TKX_AT(bytes)}, {"SCOR", TKX_AT(scores)},
    {"SC64", TKX_AT(double_scores)}, {"RANK", TKX_AT(ranks)}, {"BIDS", TKX_AT(byte_ids)},
    {"TIDX", TKX_AT(token_index)}, {"PIDX", TKX_AT(pair_index)}, {"TRIE", TKX_AT(trie)},
    {"SPLT", TKX_AT(splits)}, {"LABL", TKX_AT(labels)}, {"CUTS", TKX_AT(cuts)},
    {"ADDT", TKX_AT(added)},
    {"ACLS", TKX_AT(added_classes)}, {"POST", TKX_AT(post)}, {"TRIM", TKX_AT(trims)},
    {"SPID", TKX_AT(special_ids)}, {"TEST", TKX_AT(self_test)}, {"KEYS", TKX_AT(keys)},
#ifndef TKX_NO_DECODER
    {"DECO", TKX_AT(decoder)}, {"EDIT", TKX_AT(edits)},
#endif
#ifndef TKX_NO_OFFSETS
    {"ALGN", TKX_AT(alignment)},
#endif
#ifndef TKX_NO_NORMALIZER
    {"NORM", TKX_AT(normalizer)},
#endif
#ifndef TKX_NO_CHARACTERS
    {"CHRS", TKX_AT(characters)},
#endif
    {"XPRS", TKX_AT(crossings)}, {"SORT", TKX_AT(sorted)}, {"CHAT", SIZE_MAX}, {"PROV", SIZE_MAX}};
/* clang-format on */
enum { KNOWN = sizeof SECTIONS / sizeof SECTIONS[0] };

/* The index of a tag in SECTIONS, or KNOWN. */
static size_t known_section(const uint8_t *tag) {
    size_t i;
    for (i = 0; i < KNOWN && memcmp(tag, SECTIONS[i].tag, 4) != 0; i++) continue;
    return i;
}

/* I1 to I4. */
static int check_magic(const uint8_t *data, size_t size) {
    static const uint8_t magic[8] = {0x89, 'T', 'K', 'X', 0x0D, 0x0A, 0x1A, 0x0A};
    size_t i;
    if (size == 0) return TKX_E_EMPTY;
    if (memcmp(data, magic, smaller(size, 8)) != 0) {
        for (i = 1; i <= 3 && i + 3 <= size; i++) {
            if (memcmp(data + i, magic + 1, 3) == 0) return TKX_E_MANGLED;
        }
        return TKX_E_MAGIC;
    }
    return size < HEADER_SIZE ? TKX_E_TRUNCATED : TKX_OK;
}

/* Whether this runtime supports a type of model. */
static int has_model(uint32_t model) {
    switch (model) {
        case MODEL_BPE: return 1;
#ifndef TKX_NO_UNIGRAM
        case MODEL_UNIGRAM: return 1;
#endif
#ifndef TKX_NO_WORDPIECE
        case MODEL_WORDPIECE: return 1;
#endif
#ifndef TKX_NO_WORDLEVEL
        case MODEL_WORDLEVEL: return 1;
#endif
#ifndef TKX_NO_GREEDY
        case MODEL_GREEDY: return 1;
#endif
        default: return 0;
    }
}

/* I5 to I11; also sets the fields of *t from the header. */
static int check_header(tkx *t, const uint8_t *data, size_t size) {
    static const uint8_t zeros[12] = {0};
    const uint64_t file_size = load_u64(data + 16);
    uint32_t crc;
    if (load_u16(data + 8) != TKX_VERSION_MAJOR) return TKX_E_VERSION;
    if (file_size > size) return TKX_E_TRUNCATED;
    if (file_size < size) return TKX_E_TRAILING;
    t->section_count = load_u32(data + 12);
    if (t->section_count > MAX_SECTIONS ||
        t->section_count * (size_t)SECTION_SIZE > size - HEADER_SIZE)
        return TKX_E_HEADER;
    crc = crc_small(TKX_NONE, data, HEADER_SIZE - 4);
    crc = ~crc_small(crc, data + HEADER_SIZE, t->section_count * (size_t)SECTION_SIZE);
    if (crc != load_u32(data + 60)) return TKX_E_HEADER_CRC;
    t->id_count = load_u32(data + 24);
    t->token_count = load_u32(data + 28);
    t->flags = load_u32(data + 36);
    t->max_token_bytes = load_u32(data + 40);
    t->unknown_id = load_u32(data + 44);
    if (t->id_count < 1 || t->id_count > MAX_IDS || t->token_count > t->id_count ||
        t->max_token_bytes > 0xFFFF ||
        (t->unknown_id != TKX_NONE && t->unknown_id >= t->id_count) ||
        (t->flags & ~(uint32_t)HEADER_FLAGS) || memcmp(data + 48, zeros, 12) != 0)
        return TKX_E_HEADER;
    t->model = load_u32(data + 32);
    return has_model(t->model) ? TKX_OK : TKX_E_MODEL;
}

static const uint8_t *section_entry(const tkx *t, uint32_t i) {
    return t->data + HEADER_SIZE + i * (size_t)SECTION_SIZE;
}

/* I12 to I15. */
static int check_sections(const tkx *t) {
    uint64_t end = HEADER_SIZE + (uint64_t)t->section_count * SECTION_SIZE;
    uint32_t i, j;
    for (i = 0; i < t->section_count; i++) {
        const uint8_t *s = section_entry(t, i);
        const uint64_t offset = load_u64(s + 8), size = load_u64(s + 16),
                       next = (end + (ALIGNMENT - 1)) & ~(uint64_t)(ALIGNMENT - 1);
        if ((load_u32(s + 4) & ~(uint32_t)SECTION_REQUIRED) || load_u32(s + 28) || offset != next ||
            offset > t->size || size > t->size - offset)
            return TKX_E_SECTION;
        end = offset + size;
    }
    if (end != t->size) return TKX_E_SECTION;
    for (i = 1; i < t->section_count; i++) {
        for (j = 0; j < i; j++) {
            if (memcmp(section_entry(t, i), section_entry(t, j), 4) == 0) return TKX_E_DUPLICATE;
        }
    }
    for (i = 0; i < t->section_count; i++) {
        const uint8_t *s = section_entry(t, i);
        if ((load_u32(s + 4) & SECTION_REQUIRED) && known_section(s) == KNOWN) return TKX_E_UNKNOWN;
    }
    return TKX_OK;
}

/* The i-th section, after check_sections. */
static tkx_span section_span(const tkx *t, uint32_t i) {
    const uint8_t *s = section_entry(t, i);
    return (tkx_span){t->data + (size_t)load_u64(s + 8), (size_t)load_u64(s + 16)};
}
/* ---- open_sizes.c: sizes of sections (I16, I17) ---------------------------------------------- */
/* A field of a section's header; 0 if the section is too short, in which case its size is wrong. */
static uint64_t field(tkx_span s, size_t offset) {
    return offset + 4 <= s.size ? load_u32(s.data + offset) : 0;
}

static uint64_t token_index_size(tkx_span s) {
    uint64_t slots = field(s, 0), buckets = field(s, 4);
    return slots == 0 || buckets == 0 ? UINT64_MAX : 8 + 4 * slots + 2 * buckets;
}

static uint64_t pair_index_size(tkx_span s, uint32_t ids) {
    uint64_t slots = field(s, 0), buckets = field(s, 4), row_shift = field(s, 8);
    if (slots == 0 || buckets == 0 || row_shift > ID_BITS || field(s, 12)) return UINT64_MAX;
    return PAIR_INDEX_HEADER + 8 * slots + 4 * ((uint64_t)((ids - 1) >> row_shift) + 2) +
           2 * buckets;
}

#ifndef TKX_NO_NORMALIZER
static uint64_t form_size(tkx_span s) {
    return FORM_HEADER + TOP_SIZE + 128 * field(s, 4) + 128 * field(s, 8) + 8 * field(s, 12) +
           4 * field(s, 16) + 12 * field(s, 20);
}

static uint64_t map_size(tkx_span s) {
    return MAP_HEADER + ASCII_SIZE + TOP_SIZE + 128 * field(s, 0) + 128 * field(s, 4) +
           8 * field(s, 8) + field(s, 12);
}

static uint64_t charsmap_size(tkx_span s) {
    return CHARSMAP_HEADER + 4 * field(s, 0) + NODE_SIZE * (field(s, 4) + 1) + 4 * field(s, 8) +
           field(s, 12) + field(s, 16);
}
#endif

static uint64_t added_size(tkx_span s) {
    return ADDED_HEADER + ADDED_SIZE * field(s, 0) + NODE_SIZE * (field(s, 4) + field(s, 12) + 2) +
           4 * (field(s, 8) + field(s, 16)) + field(s, 20);
}

static uint64_t class_table_size(uint64_t middle_count, uint64_t leaf_count) {
    return ASCII_SIZE + TOP_SIZE + 128 * middle_count + 64 * leaf_count;
}

static uint64_t characters_size(tkx_span s) {
    uint64_t unit = field(s, 0), places = field(s, 4), middles = field(s, 8), leaves = field(s, 12);
    if (unit > UNIT_BYTE || (places != 1 && places != PLACES)) return UINT64_MAX;
    if (unit == UNIT_BYTE)
        return middles || leaves ? UINT64_MAX : CHARACTERS_HEADER + 1024 * places;
    return CHARACTERS_HEADER + TOP_SIZE * places + 128 * middles + 256 * leaves;
}

static uint64_t crossings_size(tkx_span s) {
    const uint64_t rule = field(s, 0), bits = field(s, 4);
    const size_t first = rule == CROSSED_BYTES ? CROSSINGS_BYTES : CROSSINGS_ASCII;
    return rule > CROSSED_BYTES || bits < 6 || bits > 26
               ? UINT64_MAX
               : CROSSINGS_HEADER + first + (UINT64_C(1) << bits) / 8;
}

static uint64_t alignment_size(tkx_span s) {
    return ALIGNMENT_HEADER + NODE_SIZE * (field(s, 4) + 1) + 4 * field(s, 8);
}

static uint64_t edits_size(tkx_span s) {
    const uint64_t states = field(s, 0) & 0xFFFF, classes = field(s, 0) >> 16;
    return EDITS_HEADER + 256 + EDIT_SIZE * states * (classes + 1) + field(s, 8);
}

static int check_present(const tkx *t) {
    const int splits = t->splits.data != NULL, trie = t->trie.data != NULL,
              tables = (t->byte_ids.data != NULL) + (t->token_index.data != NULL) +
                       (t->pair_index.data != NULL);
    const uint64_t wants_classes =
        field(t->added, 24) & (TKX_ADDED_SINGLE_WORD | TKX_ADDED_LSTRIP | TKX_ADDED_RSTRIP);
    if (!t->records.data || !t->bytes.data || (t->edits.data && !t->decoder.data) ||
        (t->model == MODEL_BPE ? tables != 3 * splits : trie != splits) ||
        (t->model == MODEL_UNIGRAM && trie && !t->scores.data && !t->double_scores.data))
        return TKX_E_MISSING;
    return wants_classes && !t->added_classes.data ? TKX_E_MISSING : TKX_OK;
}

static int is_sized(tkx_span s, uint64_t size) { return !s.data || s.size == size; }

/* Whether a section has room for `count` entries after its header; others may follow. */
static int has_entries(tkx_span s, uint64_t header, uint64_t entry, uint64_t count) {
    return !s.data || s.size >= header + entry * count;
}

static int check_sizes(const tkx *t) {
    const uint64_t ids = t->id_count, classes = field(t->added_classes, 0);
    return is_sized(t->records, RECORD_SIZE * ids) && is_sized(t->scores, 4 * ids) &&
                   is_sized(t->double_scores, 8 * ids) && is_sized(t->ranks, 4 * ids) &&
                   is_sized(t->trie, TRIE_HEADER + UNIT_SIZE * field(t->trie, 0)) &&
                   is_sized(t->decoder, DECODER_SIZE) && is_sized(t->edits, edits_size(t->edits)) &&
                   is_sized(t->byte_ids, 1024) &&
                   is_sized(t->token_index, token_index_size(t->token_index)) &&
                   is_sized(t->pair_index, pair_index_size(t->pair_index, t->id_count)) &&
                   is_sized(t->cuts, CUTS_SIZE) && is_sized(t->keys, 8 * ids) &&
                   is_sized(t->sorted, 4 * (uint64_t)t->token_count) &&
                   is_sized(t->characters, characters_size(t->characters)) &&
                   is_sized(t->crossings, crossings_size(t->crossings)) &&
                   is_sized(t->added, added_size(t->added)) &&
                   is_sized(t->added_classes,
                            8 + class_table_size(classes & 0xFFFF, classes >> 16)) &&
                   is_sized(t->post, 8 + ITEM_SIZE * (field(t->post, 0) + field(t->post, 4))) &&
                   is_sized(t->trims, TRIM_HEADER + TRIM_SIZE * field(t->trims, 4)) &&
                   is_sized(t->alignment, alignment_size(t->alignment)) &&
                   is_sized(t->special_ids, 20 + 4 * field(t->special_ids, 16)) &&
                   is_sized(t->self_test, 16 + CASE_SIZE * field(t->self_test, 0) +
                                              4 * field(t->self_test, 4) +
                                              field(t->self_test, 8)) &&
                   has_entries(t->normalizer, REWRITE_HEADER, OP_SIZE, field(t->normalizer, 0)) &&
                   has_entries(t->splits, 8, STAGE_SIZE, field(t->splits, 0)) &&
                   has_entries(t->labels, LABELS_HEADER, LABEL_TABLE, field(t->labels, 0))
               ? TKX_OK
               : TKX_E_SECTION_SIZE;
}

/* Reads the header of TRIE, which is checked on use, like the units. */
static void read_trie_header(tkx *t) {
    t->trie_units = (uint32_t)field(t->trie, 0);
    /* a path is no longer than the trie */
    t->trie_depth = (uint32_t)smaller(t->max_token_bytes, t->trie_units);
    t->trie_root = (uint32_t)field(t->trie, 4);
    t->trie_continuation = (uint32_t)field(t->trie, 8);
    t->trie_characters = (uint32_t)field(t->trie, 12);
    t->trie_flags = (uint32_t)field(t->trie, 24);
    t->trie_reserved = (uint32_t)field(t->trie, 28);
}
/* ---- open_stages.c: pre-tokenizer tables (I18) ----------------------------------------------- */
static int all_bytes_below(const uint8_t *p, size_t count, uint32_t bound) {
    uint32_t largest = 0;
    size_t i;
    for (i = 0; i < count; i++) largest = p[i] > largest ? p[i] : largest;
    return count == 0 || largest < bound;
}

static int all_u16_below(const uint8_t *p, size_t count, uint32_t mask, uint32_t bound) {
    uint32_t largest = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        uint32_t v = load_u16(p + 2 * i) & mask;
        largest = v > largest ? v : largest;
    }
    return count == 0 || largest < bound;
}

static int lies_within(tkx_span s, uint64_t offset, uint64_t size) {
    return offset % 4 == 0 && offset <= s.size && size <= s.size - offset;
}

static uint32_t transition(const tkx_stage *s, uint32_t state, uint32_t class_) {
    return load_u16(s->transitions + 2 * (((size_t)state << s->row_shift) + class_));
}

/* Whether a stage needs match_general. */
static int is_general(const tkx_stage *s) {
    return s->labels || (s->flags & (EMPTY_MATCHES | SEARCH_STARTS));
}

static int is_simple(const tkx_stage *s) {
    return !(s->flags & REWRITE) && !is_general(s) &&
           (s->behavior == ISOLATED || s->behavior == REMOVED);
}

/* Precomputes for inner loops: the start state if it is always the same, the bytes (or labels) that
   begin no match, and the states on which all lower-case ASCII letters loop. `leads`: the first
   bytes of non-ASCII characters that begin no match. */
static void study_stage(tkx_stage *s, uint64_t leads) {
    const uint8_t *searched = s->starts + (s->flags & SEARCH_STARTS ? 2 * (s->class_count + 1) : 0);
    const uint32_t search_start = load_u16(searched);
    uint32_t state, class_, letter;
    s->start = (uint16_t)load_u16(s->starts);
    for (class_ = 0; class_ <= s->class_count; class_++) {
        if (load_u16(s->starts + 2 * class_) != s->start ||
            load_u16(searched + 2 * class_) != search_start)
            s->start_varies = 1;
    }
    if (is_general(s)) {
        for (class_ = 0; class_ < s->class_count && class_ < 128 && !s->start_varies; class_++) {
            if (transition(s, s->start, class_) == 0 && transition(s, search_start, class_) == 0)
                s->no_match[class_ >> 6] |= UINT64_C(1) << (class_ & 63);
        }
        return;
    }
    for (letter = 0; letter < 128 && !s->start_varies; letter++) {
        if ((transition(s, s->start, s->classes[letter]) & ~(uint32_t)ACCEPT) == 0)
            s->no_match[letter >> 6] |= UINT64_C(1) << (letter & 63);
    }
    if (!s->start_varies && !(s->flags & ON_BYTES)) {
        /* for bytes inside characters, so that with any file a skip ends between characters */
        s->no_match[2] = UINT64_MAX;
        s->no_match[3] = leads;
    }
    for (state = 1; state < s->state_count && s->state_count <= 64; state++) {
        uint32_t t = transition(s, state, s->classes['a']);
        if ((t & ~(uint32_t)ACCEPT) != state) continue;
        for (letter = 'b'; letter <= 'z' && transition(s, state, s->classes[letter]) == t; letter++)
            continue;
        if (letter <= 'z') continue;
        s->letter_loops |= UINT64_C(1) << state;
        if (t & ACCEPT) s->letter_accepts |= UINT64_C(1) << state;
    }
}

/* Checks a LabelTable of LABL, and sets it in its stage. */
static int check_label_table(tkx_stage *s, tkx_span section, const uint8_t *entry) {
    const uint32_t classes = entry[1], states = load_u16(entry + 2), offset = load_u32(entry + 4);
    const size_t count = (size_t)states * classes;
    size_t i;
    if (classes < 1 || classes > MAX_CLASSES || states < 1 || states > MAX_STATES ||
        !lies_within(section, offset, 4 * (uint64_t)count))
        return 0;
    s->labels = section.data + offset;
    s->label_class_count = (uint8_t)classes;
    for (i = 0; i < count; i++) {
        const uint32_t label = load_u32(s->labels + 4 * i);
        if ((label & 0xFF) >= s->class_count || label >> 8 >= states) return 0;
    }
    return 1;
}

/* Checks a Stage with a program, and sets *s, which is all zeros. `labels`: as in check_entry. */
static int check_stage(tkx_stage *s, tkx_span section, const uint8_t *entry, tkx_span all_labels,
                       const uint8_t *labels) {
    const uint32_t middle_count = load_u16(entry + 8), leaf_count = load_u16(entry + 10),
                   classes = load_u32(entry + 12), starts = load_u32(entry + 16),
                   transitions = load_u32(entry + 20);
    uint32_t bound, start_count;
    size_t rows;
    s->behavior = entry[0];
    s->flags = entry[1];
    s->class_count = entry[2];
    s->state_count = (uint16_t)load_u16(entry + 4);
    s->memo_count = (uint16_t)load_u16(entry + 6);
    s->row_shift = entry[3];
    if (s->behavior > CONTIGUOUS || load_u32(entry + 24) ||
        (s->flags & ~(INVERT | ON_BYTES | EMPTY_MATCHES | SEARCH_STARTS)) ||
        ((s->flags & EMPTY_MATCHES) && (s->flags & SEARCH_STARTS)) || s->class_count < 1 ||
        s->class_count > MAX_CLASSES || s->state_count < 1 || s->state_count > MAX_STATES ||
        s->memo_count >= s->state_count || s->row_shift > 8 || 1u << s->row_shift <= s->class_count)
        return 0;
    rows = (size_t)s->state_count << s->row_shift;
    start_count = (s->class_count + 1u) * (s->flags & SEARCH_STARTS ? 2u : 1u);
    if (!lies_within(section, classes,
                     s->flags & ON_BYTES ? 256 : class_table_size(middle_count, leaf_count)) ||
        !lies_within(section, starts, 2 * (uint64_t)start_count) ||
        !lies_within(section, transitions, 2 * (uint64_t)rows) ||
        (labels && !check_label_table(s, all_labels, labels)))
        return 0;
    s->classes = section.data + classes;
    s->starts = section.data + starts;
    s->transitions = section.data + transitions;
    bound = labels ? s->label_class_count : s->class_count;
    if (s->flags & ON_BYTES) {
        if (middle_count || leaf_count || !all_bytes_below(s->classes, 256, bound)) return 0;
    } else {
        s->middle = s->classes + ASCII_SIZE + TOP_SIZE;
        s->leaves = s->middle + 128 * (size_t)middle_count;
        if (!all_bytes_below(s->classes, ASCII_SIZE, bound) ||
            !all_u16_below(s->classes + ASCII_SIZE, TOP_SIZE / 2, 0xFFFF, middle_count) ||
            !all_u16_below(s->middle, 64 * (size_t)middle_count, 0xFFFF, leaf_count) ||
            !all_bytes_below(s->leaves, 64 * (size_t)leaf_count, bound))
            return 0;
    }
    if (!all_u16_below(s->starts, start_count, 0xFFFF, s->state_count) ||
        !all_u16_below(s->transitions, rows, ~(uint32_t)ACCEPT, s->state_count))
        return 0;
    study_stage(s, load_u64(entry + 28));
    return 1;
}

#ifndef TKX_NO_NORMALIZER
/* Checks a program outside SPLT, without labels. */
static int check_program(tkx_stage *s, tkx_span table) {
    return check_stage(s, table, table.data, (tkx_span){NULL, 0}, NULL);
}
#endif
/* ---- open_rewriting.c: rewriting operations (I18) -------------------------------------------- */
#ifndef TKX_NO_NORMALIZER
/* Units of the trie in a CHARSMAP (3.3); a node is an index into the array. */
#define TKX_DARTS_LEAF UINT32_C(0x100)
#define TKX_DARTS_LABEL UINT32_C(0x800000FF)
#define TKX_DARTS_VALUE UINT32_C(0x7FFFFFFF)

/* The unit at an index; after the end, one that no byte matches. */
static uint32_t charsmap_unit(const tkx_op *op, uint32_t place) {
    return place < load_u32(op->table.data)
               ? load_u32(op->table.data + CHARSMAP_HEADER + 4 * (size_t)place)
               : TKX_DARTS_LABEL;
}

static uint32_t charsmap_offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200) >> 6); }

static int is_text(tkx_span s) { return utf8_valid(s.data, s.size) == s.size; }

/* Checks a CHARSMAP, and finds the ASCII characters that it never changes: those that begin no
   sequence or, by cluster, are not a whole sequence. */
static int check_charsmap(tkx_op *op) {
    tkx_span table = op->table, program;
    uint32_t c, root;
    if (table.size < CHARSMAP_HEADER || table.size != charsmap_size(table) ||
        load_u32(table.data) == 0)
        return 0;
    program.size = load_u32(table.data + 12);
    program.data = table.data + (table.size - load_u32(table.data + 16) - program.size);
    if (op->flags & BY_CLUSTER) {
        if (program.size < STAGE_SIZE || load_u32(table.data + 4) ||
            !check_program(&op->program, program) || op->program.flags ||
            op->program.behavior != ISOLATED || op->program.memo_count ||
            load_u32(table.data + 20) > op->program.class_count)
            return 0;
    } else if (program.size || load_u32(table.data + 20)) {
        return 0;
    }
    memset(op->program.no_match, 0, sizeof op->program.no_match);
    root = charsmap_offset(charsmap_unit(op, 0));
    for (c = 1; c < 128; c++) {
        uint32_t unit = charsmap_unit(op, root ^ c);
        int stays =
            (unit & TKX_DARTS_LABEL) != c || ((op->flags & BY_CLUSTER) && !(unit & TKX_DARTS_LEAF));
        if (c == '\r' && (op->flags & BY_CLUSTER)) stays = 0; /* CR LF is one cluster */
        if (stays) op->program.no_match[c >> 6] |= UINT64_C(1) << (c & 63);
    }
    return 1;
}

/* Checks an operation of NORM (I18). */
static int check_op(tkx_op *op, tkx_span section, const uint8_t *entry) {
    const uint32_t table = load_u32(entry + 12), table_size = load_u32(entry + 16),
                   content = load_u32(entry + 20), content_size = load_u32(entry + 24);
    uint32_t flags = 0;
    if (!lies_within(section, table, table_size) || !lies_within(section, content, content_size))
        return 0;
    op->kind = entry[0];
    op->flags = entry[1];
    op->growth = load_u32(entry + 4);
    op->extra = load_u32(entry + 8);
    op->table = (tkx_span){section.data + table, table_size};
    op->content = (tkx_span){section.data + content, content_size};
    if (op->kind == AFFIX) flags = APPEND | UNLESS_PRESENT | ONLY_FIRST | FIRST_SOURCE;
    if (op->kind == CHARSMAP) flags = BY_CLUSTER;
    if (load_u16(entry + 2) || load_u32(entry + 28) || (op->flags & ~flags) ||
        content_size > MAX_CONTENT || !is_text(op->content) ||
        (content_size && op->kind != REPLACE && op->kind != AFFIX))
        return 0;
    switch (op->kind) {
        case FORM:
            return table_size >= FORM_HEADER && table_size == form_size(op->table) &&
                   load_u32(op->table.data) <= NFKD && !load_u64(op->table.data + 24);
        case MAP: return table_size >= MAP_HEADER && table_size == map_size(op->table);
        case REPLACE:
            return table_size >= STAGE_SIZE && check_program(&op->program, op->table) &&
                   (op->program.flags & ~EMPTY_MATCHES) == 0 && op->program.behavior == ISOLATED;
        case CHARSMAP: return check_charsmap(op);
        case AFFIX:
        case BYTES: return table_size == 0;
        default: return 0;
    }
}

static int check_ops(tkx *t) {
    uint32_t i;
    const uint8_t *data = t->normalizer.data;
    t->op_count = load_u32(data);
    t->normalizer_count = load_u32(data + 4);
    if (t->op_count > TKX_MAX_OPS || t->normalizer_count > t->op_count || load_u64(data + 8))
        return TKX_E_SPLITS;
    for (i = 0; i < t->op_count; i++) {
        if (!check_op(&t->ops[i], t->normalizer, data + REWRITE_HEADER + i * (size_t)OP_SIZE))
            return TKX_E_SPLITS;
        if (t->ops[i].flags & FIRST_SOURCE) t->follows_sources = 1;
        if (t->ops[i].kind == CHARSMAP || t->alignment.data) t->moves_spans = 1;
    }
#ifdef TKX_NO_OFFSETS
    if (t->follows_sources) return TKX_E_UNKNOWN;
#endif
    return TKX_OK;
}

/* A stage that rewrites has no program. */
static int check_rewriting_stage(const tkx *t, tkx_stage *s, const uint8_t *entry) {
    uint32_t first = entry[24], count = entry[25];
    size_t i;
    for (i = 0; i < STAGE_SIZE; i++) {
        if (i != 24 && i != 25 && entry[i] != (i == 1 ? REWRITE : 0)) return 0;
    }
    if (first > t->op_count || count > t->op_count - first) return 0;
    s->flags = REWRITE;
    s->first_op = (uint8_t)first;
    s->op_count = (uint8_t)count;
    return 1;
}
#endif
/* ---- lookup.c: lookups ----------------------------------------------------------------------- */
uint32_t tkx_id_count(const tkx *t) { return t ? t->id_count : 0; }

/* The first of `count` sorted entries of `size` bytes whose u32 is not below a key, or `count`. */
static size_t lower_bound(const uint8_t *entries, size_t size, size_t count, uint32_t key) {
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (load_u32(entries + size * middle) < key) low = middle + 1;
        else count = middle;
    }
    return low;
}

/* The index of a code point's value in the leaves of a three-level table: u16 top[272],
   middle[][64], leaves of 64 values. SIZE_MAX: an index in the table is out of range. */
static TKX_INLINE size_t find_leaf(const uint8_t *top, const uint8_t *middle, size_t middle_count,
                                   size_t leaf_count, uint32_t c) {
    size_t block = load_u16(top + 2 * (c >> 12));
    if (block >= middle_count) return SIZE_MAX;
    block = load_u16(middle + 2 * (64 * block + (c >> 6 & 63)));
    return block < leaf_count ? 64 * block + (c & 63) : SIZE_MAX;
}

/* The bytes of an entry of RECS or KEYS; 0 if they are outside BYTS (I19). */
static TKX_INLINE int read_bytes(const tkx *t, const uint8_t *entry, const uint8_t **bytes,
                                 uint32_t *length) {
    const uint32_t offset = load_u32(entry);
    *length = load_u16(entry + 4);
    if (offset > t->bytes.size || *length > t->bytes.size - offset) return 0;
    *bytes = t->bytes.data + offset;
    return 1;
}

/* The flags of an id below id_count. */
static TKX_INLINE uint32_t flags_of(const tkx *t, uint32_t id) {
    return load_u16(t->records.data + RECORD_SIZE * (size_t)id + 6);
}

/* The record of an id below id_count; 0 if it is damaged. */
static TKX_INLINE int read_record(const tkx *t, uint32_t id, const uint8_t **bytes,
                                  uint32_t *length, uint32_t *flags) {
    *flags = flags_of(t, id);
    return read_bytes(t, t->records.data + RECORD_SIZE * (size_t)id, bytes, length);
}

/* The record of an id, which must be a token. TKX_OK, TKX_E_ID or TKX_E_CORRUPT. */
static TKX_INLINE int read_token(const tkx *t, uint32_t id, const uint8_t **bytes, uint32_t *length,
                                 uint32_t *flags) {
    if (id >= t->id_count) return TKX_E_ID;
    if (!read_record(t, id, bytes, length, flags)) return TKX_E_CORRUPT;
    return (*flags & TKX_KIND_MASK) == TKX_KIND_HOLE ? TKX_E_ID : TKX_OK;
}

int tkx_token_bytes(const tkx *t, uint32_t id, const uint8_t **bytes, size_t *size) {
    uint32_t length = 0, flags;
    int code;
    if (!t || !bytes || !size) return TKX_E_ARGUMENT;
    code = read_token(t, id, bytes, &length, &flags);
    if (code != TKX_OK) *bytes = NULL;
    *size = code == TKX_OK ? length : 0;
    return code;
}

int tkx_token_flags(const tkx *t, uint32_t id, uint32_t *flags) {
    if (!t || !flags) return TKX_E_ARGUMENT;
    *flags = id < t->id_count ? flags_of(t, id) : 0;
    return id < t->id_count ? TKX_OK : TKX_E_ID;
}

static TKX_INLINE double load_double(const uint8_t *p) {
    const uint64_t bits = load_u64(p);
    double v;
    TKX_COPY(&v, &bits, 8);
    return v;
}

/* The score of an id below id_count, in a file with scores. */
static TKX_INLINE double score_of(const tkx *t, uint32_t id) {
    float score;
    uint32_t bits;
    if (t->double_scores.data) return load_double(t->double_scores.data + 8 * (size_t)id);
    bits = load_u32(t->scores.data + 4 * (size_t)id);
    TKX_COPY(&score, &bits, 4);
    return (double)score;
}

int tkx_token_score(const tkx *t, uint32_t id, float *score) {
    if (!t || !score) return TKX_E_ARGUMENT;
    *score = 0;
    if (id >= t->id_count) return TKX_E_ID;
    if (!t->scores.data && !t->double_scores.data) return TKX_E_NOT_FOUND;
    *score = (float)score_of(t, id);
    return TKX_OK;
}

/* The key of an id in TIDX, and the flags of its record. */
static TKX_INLINE int read_key(const tkx *t, uint32_t id, const uint8_t **bytes, uint32_t *length,
                               uint32_t *flags) {
    const uint8_t *entries = TKX_LIKELY(!t->keys.data) ? t->records.data : t->keys.data;
    *flags = flags_of(t, id);
    return read_bytes(t, entries + RECORD_SIZE * (size_t)id, bytes, length);
}

/* The addresses in TIDX of the displacement and the slot of a hash. */
static TKX_INLINE const uint8_t *token_displacement(const tkx *t, uint64_t h) {
    return t->token_index.data + 8 + 4 * (size_t)t->token_slots +
           2 * bucket_of(h, t->token_buckets);
}

static TKX_INLINE const uint8_t *token_slot(const tkx *t, uint64_t h) {
    return t->token_index.data + 8 +
           4 * slot_of(h, load_u16(token_displacement(t, h)), t->token_slots);
}

/* Whether a slot may belong to a key with this hash. */
static TKX_INLINE int slot_fits(uint32_t slot, uint64_t h) {
    return slot != TKX_NONE && slot >> 21 == (uint32_t)(h >> 53);
}

/* The token with these bytes in TIDX, given the slot of their hash: a code, *id and *flags.
   `has_word`: at least 8 bytes may be read at `bytes`. */
static TKX_INLINE int token_in_slot(const tkx *t, uint32_t slot, uint64_t h, const uint8_t *bytes,
                                    size_t size, int has_word, uint32_t *id, uint32_t *flags) {
    const uint8_t *content;
    uint32_t length;
    if (!slot_fits(slot, h)) return TKX_E_NOT_FOUND;
    *id = slot & MAX_IDS;
    if (*id >= t->id_count || !read_key(t, *id, &content, &length, flags)) return TKX_E_CORRUPT;
    has_word = has_word && t->bytes.size - (size_t)(content - t->bytes.data) >= 8;
    return length == size && same_bytes(content, bytes, size, has_word) ? TKX_OK : TKX_E_NOT_FOUND;
}

/* The token with these bytes in TIDX, like token_in_slot. */
static TKX_INLINE int find_token(const tkx *t, const uint8_t *bytes, size_t size, uint32_t *id,
                                 uint32_t *flags) {
    uint64_t h;
    if (size > t->max_token_bytes) return TKX_E_NOT_FOUND;
    h = hash_bytes(bytes, size);
    return token_in_slot(t, load_u32(token_slot(t, h)), h, bytes, size, size == 8, id, flags);
}

/* The only slot of PIDX for two ids, or SIZE_MAX if its row is out of range. A row is its first
   slot and, in the upper half, the first slot of the next row. */
static TKX_INLINE size_t pair_slot(const tkx *t, uint32_t left, uint32_t right) {
    const uint64_t h = hash_pair(left, right),
                   row = load_u64(t->pair_rows + 4 * (size_t)(left >> t->row_shift));
    const uint32_t start = (uint32_t)row, end = (uint32_t)(row >> 32);
    const uint8_t *displacement = t->pair_displacements + 2 * bucket_of(h, t->pair_buckets);
    const size_t slot = start + slot_of(h, load_u16(displacement), end - start);
    return start <= end && end < t->pair_slots ? slot : SIZE_MAX;
}

/* Whether looking up what a slot of TIDX or PIDX holds leads to that slot (I26). */
static int token_leads_back(const tkx *t, const uint8_t *slot) {
    const uint32_t id = load_u32(slot) & MAX_IDS;
    const uint8_t *key;
    uint32_t length, flags;
    uint64_t h;
    if (load_u32(slot) == TKX_NONE) return 1;
    if (id >= t->id_count || !read_key(t, id, &key, &length, &flags)) return 0;
    h = hash_bytes(key, length);
    return length <= t->max_token_bytes && slot_fits(load_u32(slot), h) && token_slot(t, h) == slot;
}

static int pair_leads_back(const tkx *t, size_t slot) {
    const uint64_t pair = load_u64(t->pair_index.data + PAIR_INDEX_HEADER + 8 * slot);
    const uint32_t left = (uint32_t)(pair >> 42), right = (uint32_t)(pair >> 21) & MAX_IDS,
                   ids = t->id_count;
    return !~pair || (left < ids && right < ids && (pair & MAX_IDS) < ids &&
                      pair_slot(t, left, right) == slot);
}

/* The unit of TRIE for a child, which exists if the label is the byte; above 256, it is damaged. */
static TKX_INLINE uint64_t trie_child(const tkx *t, uint32_t base, uint8_t byte) {
    uint32_t at = base + byte;
    return TKX_LIKELY(at < t->trie_units)
               ? load_u64(t->trie.data + TRIE_HEADER + UNIT_SIZE * (size_t)at)
               : UINT64_MAX;
}

static TKX_INLINE uint32_t label_of(uint64_t unit) {
    return (uint32_t)unit & ((1u << LABEL_BITS) - 1);
}

static TKX_INLINE uint32_t base_of(uint64_t unit) { return (uint32_t)(unit >> 32); }

/* MAX_IDS: no token ends there. */
static TKX_INLINE uint32_t id_of(uint64_t unit) { return (uint32_t)(unit >> LABEL_BITS) & MAX_IDS; }

/* The limit for reading TRIE from `from` on: a path longer than trie_depth is a cycle. */
static TKX_INLINE const uint8_t *trie_reach(const tkx *t, const uint8_t *from, const uint8_t *end) {
    return (size_t)(end - from) > t->trie_depth ? from + t->trie_depth + 1 : end;
}

/* The end of the longest token at `from` in TRIE, starting from a node's base; `from` if there is
   none. *code becomes TKX_E_CORRUPT if the trie is damaged, and is unchanged otherwise. */
static TKX_INLINE const uint8_t *longest_token(const tkx *t, uint32_t base, const uint8_t *from,
                                               const uint8_t *end, uint32_t *id, int *code) {
    const uint8_t *p = from, *last = from, *deepest = trie_reach(t, from, end);
    while (p < deepest) {
        uint64_t unit = trie_child(t, base, *p);
        if (label_of(unit) != *p) {
            if (label_of(unit) > 256) *code = TKX_E_CORRUPT;
            break;
        }
        p++;
        base = base_of(unit);
        if (id_of(unit) == MAX_IDS) continue;
        *id = id_of(unit);
        last = p;
    }
    if ((size_t)(p - from) > t->trie_depth || (last > from && *id >= t->id_count))
        *code = TKX_E_CORRUPT;
    return last;
}

/* The token with these bytes in TRIE. TKX_OK, TKX_E_NOT_FOUND or TKX_E_CORRUPT. */
static int token_in_trie(const tkx *t, const uint8_t *bytes, size_t size, uint32_t *id) {
    int code = TKX_OK;
    const uint8_t *last = longest_token(t, t->trie_root, bytes, bytes + size, id, &code);
    return code == TKX_OK && (size == 0 || last < bytes + size) ? TKX_E_NOT_FOUND : code;
}

/* Checks an id from the file, and sets it to TKX_NONE if it does not exist. */
static int known_id(const tkx *t, uint32_t *id) {
    if (*id < t->id_count) return TKX_OK;
    *id = TKX_NONE;
    return TKX_E_CORRUPT;
}

int tkx_token_id(const tkx *t, const void *bytes, size_t size, uint32_t *id) {
    const uint8_t *key = size ? (const uint8_t *)bytes : (const uint8_t *)"";
    uint32_t found, flags;
    int code;
    if (!t || !id || (!bytes && size)) return TKX_E_ARGUMENT;
    *id = TKX_NONE;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    code = t->model != MODEL_BPE ? token_in_trie(t, key, size, &found)
                                 : find_token(t, key, size, &found, &flags);
    if (code == TKX_OK) *id = found;
    return code;
}

int tkx_special_id(const tkx *t, int role, uint32_t *id) {
    if (!t || !id || role < TKX_BOS || role > TKX_UNK) return TKX_E_ARGUMENT;
    *id = t->special_ids.data ? load_u32(t->special_ids.data + 4 * (size_t)role) : TKX_NONE;
    return *id == TKX_NONE ? TKX_E_NOT_FOUND : known_id(t, id);
}

int tkx_stop_id(const tkx *t, uint32_t index, uint32_t *id) {
    if (!t || !id) return TKX_E_ARGUMENT;
    *id = TKX_NONE;
    if (index >= field(t->special_ids, 16)) return TKX_E_NOT_FOUND;
    *id = load_u32(t->special_ids.data + 20 + 4 * (size_t)index);
    return known_id(t, id);
}

int tkx_section(const tkx *t, const char tag[4], const uint8_t **data, size_t *size) {
    uint32_t i;
    if (!t || !tag || !data || !size) return TKX_E_ARGUMENT;
    for (i = 0; i < t->section_count && memcmp(section_entry(t, i), tag, 4) != 0; i++) continue;
    *data = i < t->section_count ? section_span(t, i).data : NULL;
    *size = i < t->section_count ? section_span(t, i).size : 0;
    return *data ? TKX_OK : TKX_E_NOT_FOUND;
}

uint32_t tkx_added_count(const tkx *t) { return t ? (uint32_t)field(t->added, 0) : 0; }

/* The starts of the parts of ADDT. */
static const uint8_t *added_tokens(const tkx *t) { return t->added.data + ADDED_HEADER; }

static const uint8_t *added_nodes(const tkx *t, int normalized) {
    const uint8_t *raw = added_tokens(t) + ADDED_SIZE * (size_t)field(t->added, 0);
    if (!normalized) return raw;
    return raw + NODE_SIZE * ((size_t)field(t->added, 4) + 1) + 4 * (size_t)field(t->added, 8);
}

int tkx_added_token(const tkx *t, uint32_t index, uint32_t *id, const uint8_t **content,
                    size_t *size, uint32_t *flags) {
    const uint8_t *token;
    uint32_t offset, length, text_size;
    if (!t || !id || !content || !size || !flags) return TKX_E_ARGUMENT;
    *id = TKX_NONE;
    *content = NULL;
    *size = *flags = 0;
    if (index >= tkx_added_count(t)) return TKX_E_NOT_FOUND;
    token = added_tokens(t) + ADDED_SIZE * (size_t)index;
    offset = load_u32(token + 4);
    length = load_u32(token + 8);
    text_size = (uint32_t)field(t->added, 20);
    if (load_u32(token) >= t->id_count || offset > text_size || length > text_size - offset)
        return TKX_E_CORRUPT;
    *id = load_u32(token);
    *content = t->added.data + (t->added.size - text_size) + offset;
    *size = length;
    *flags = load_u32(token + 12);
    return TKX_OK;
}

int tkx_template(const tkx *t, int pair, uint32_t index, uint32_t *kind, uint32_t *id,
                 uint32_t *type_id) {
    const uint8_t *item;
    if (!t || !kind || !id || !type_id) return TKX_E_ARGUMENT;
    *kind = *id = *type_id = 0;
    if (index >= field(t->post, pair ? 4 : 0)) return TKX_E_NOT_FOUND;
    item = t->post.data + 8 + ITEM_SIZE * ((pair ? (size_t)field(t->post, 0) : 0) + index);
    if (load_u32(item) > 2 || (load_u32(item) == 0 && load_u32(item + 4) >= t->id_count))
        return TKX_E_CORRUPT;
    *kind = load_u32(item);
    *id = load_u32(item + 4);
    *type_id = load_u32(item + 8);
    return TKX_OK;
}
/* ---- open.c: stages, added tokens, tkx_open, tkx_check --------------------------------------- */
/* Checks an entry of SPLT. `labels`: its LabelTable in LABL, or NULL. */
static int check_entry(tkx *t, tkx_stage *s, const uint8_t *entry, const uint8_t *labels) {
#ifndef TKX_NO_NORMALIZER
    if (entry[1] & REWRITE) return !labels && check_rewriting_stage(t, s, entry);
#endif
    return check_stage(s, t->splits, entry, t->labels, labels);
}

/* Whether to cache words of the first stage: other stages are costly, and depend on words only. */
static uint8_t finds_words_first(const tkx *t) {
    int has_work = 0;
    uint32_t i;
    if (t->stage_count < 2 || !is_simple(&t->stages[0]) || t->stages[0].memo_count) return 0;
    for (i = 1; i < t->stage_count; i++) has_work |= !is_simple(&t->stages[i]);
#ifndef TKX_NO_NORMALIZER
    for (i = t->normalizer_count; i < t->op_count; i++)
        has_work &= !(t->ops[i].flags & (ONLY_FIRST | FIRST_SOURCE));
#endif
    return has_work != 0;
}

static int check_splits(tkx *t) {
    /* models that read whole characters, and do not check for the end within one */
    const int of_characters = (t->characters.data && field(t->characters, 0) == UNIT_CHARACTER) ||
                              t->model == MODEL_UNIGRAM;
    uint32_t tables = (uint32_t)field(t->labels, 0), next = 0, work = 0, i;
    t->stage_count = load_u32(t->splits.data);
    if (t->stage_count > TKX_MAX_STAGES || load_u32(t->splits.data + 4) || field(t->labels, 4))
        return TKX_E_SPLITS;
    for (i = 0; i < t->stage_count; i++) {
        const uint8_t *entry = t->splits.data + 8 + i * (size_t)STAGE_SIZE, *labels = NULL;
        tkx_stage *s = &t->stages[i];
        if (next < tables && t->labels.data[LABELS_HEADER + LABEL_TABLE * (size_t)next] == i)
            labels = t->labels.data + LABELS_HEADER + LABEL_TABLE * (size_t)next++;
        if (!check_entry(t, s, entry, labels)) return TKX_E_SPLITS;
        /* after a stage on bytes, pre-tokens may begin and end within a character */
        if (s->flags & ON_BYTES ? of_characters : i && (s[-1].flags & ON_BYTES))
            return TKX_E_SPLITS;
        /* bits of work memory for 64 bytes of text: TKX_WORK_SIZE assumes 24 bytes for each byte */
        work += s->state_count + (s->labels ? 512u : 0u);
    }
    if (next != tables || work > 24 * 512) return TKX_E_SPLITS;
    t->words_first = finds_words_first(t);
    return TKX_OK;
}

/* Finds out whether a trie has tokens that need not be allowed. With more than 1,024 tokens, both
   tries are assumed to, so that tkx_open takes constant time; no id depends on that. */
static void study_added(tkx *t) {
    uint32_t count = (uint32_t)field(t->added, 0), i;
    if (count > 1024) t->plain_raw = t->plain_normalized = 1;
    for (i = 0; i < count && i < 1024; i++) {
        uint32_t flags = load_u32(t->added.data + ADDED_HEADER + ADDED_SIZE * (size_t)i + 12);
        if (flags & TKX_ADDED_SPECIAL) continue;
        if (flags & TKX_ADDED_NORMALIZED) t->plain_normalized = 1;
        else t->plain_raw = 1;
    }
}

#ifndef TKX_NO_CHARACTERS
/* The 128 symbols of ASCII in CHRS, in one row; NULL if a symbol depends on its place. */
static const uint8_t *find_ascii_symbols(const tkx *t) {
    const size_t middle_count = (size_t)field(t->characters, 8),
                 leaf_count = (size_t)field(t->characters, 12);
    const uint8_t *top, *middle;
    size_t leaf;
    if (!t->characters.data || field(t->characters, 0) != UNIT_CHARACTER || t->place_count != 1)
        return NULL;
    top = t->characters.data + CHARACTERS_HEADER;
    middle = top + TOP_SIZE;
    leaf = find_leaf(top, middle, middle_count, leaf_count, 0);
    if (leaf == SIZE_MAX || find_leaf(top, middle, middle_count, leaf_count, 64) != leaf + 64)
        return NULL;
    return middle + 128 * middle_count + 4 * leaf;
}
#endif

static void find_sections(tkx *t) {
    uint32_t i;
    for (i = 0; i < t->section_count; i++) {
        const size_t known = known_section(section_entry(t, i));
        const tkx_span span = section_span(t, i);
        if (known < KNOWN && SECTIONS[known].member != SIZE_MAX)
            memcpy((uint8_t *)t + SECTIONS[known].member, &span, sizeof span);
    }
    t->token_slots = (uint32_t)field(t->token_index, 0);
    t->token_buckets = (uint32_t)field(t->token_index, 4);
    t->pair_slots = (uint32_t)field(t->pair_index, 0);
    t->pair_buckets = (uint32_t)field(t->pair_index, 4);
    t->row_shift = (uint32_t)field(t->pair_index, 8);
    t->place_count = (uint32_t)field(t->characters, 4);
    t->crossing_shift = 64 - ((uint32_t)field(t->crossings, 4) & 63);
}

#ifndef TKX_NO_DECODER
/* Whether the values in EDIT (3.8) are within their ranges. */
static int check_edits(const tkx *t) {
    const uint8_t *table = t->edits.data, *edit = table + EDITS_HEADER + 256;
    const uint32_t states = load_u16(table), classes = load_u16(table + 2),
                   flags = load_u32(table + 4), text = load_u32(table + 8),
                   bytes = classes - (flags & READS_TOKENS);
    size_t left = (size_t)states * (classes + 1);
    if (!states || !classes || flags > READS_TOKENS || load_u32(table + 12) ||
        (flags && field(t->decoder, 0) != BYTE_FALLBACK) || field(t->decoder, 4) || bytes < 1 ||
        bytes > 256 || !all_bytes_below(edit - 256, 256, bytes))
        return 0;
    for (; left; left--, edit += EDIT_SIZE) {
        if (load_u16(edit) >= states ||
            (load_u16(edit + 2) & ~(uint32_t)EDIT_KEEPS) + (uint64_t)load_u32(edit + 4) > text)
            return 0;
    }
    return 1;
}
#endif

int tkx_open(tkx *t, const void *data, size_t size) {
    int code;
    if (!t || (!data && size)) return TKX_E_ARGUMENT;
    memset(t, 0, sizeof *t);
    code = check_magic((const uint8_t *)data, size);
    if (code != TKX_OK) return code;
    t->data = (const uint8_t *)data;
    t->size = size;
    code = check_header(t, t->data, size);
    if (code == TKX_OK) code = check_sections(t);
    if (code != TKX_OK) return code;
    find_sections(t);
    read_trie_header(t);
    code = check_present(t);
    if (code == TKX_OK) code = check_sizes(t);
#ifndef TKX_NO_NORMALIZER
    if (code == TKX_OK && t->normalizer.data) code = check_ops(t);
#endif
    if (code == TKX_OK && t->splits.data) code = check_splits(t);
#ifndef TKX_NO_DECODER
    if (code == TKX_OK && t->edits.data && !check_edits(t)) code = TKX_E_CORRUPT;
#endif
    if (code != TKX_OK) return code;
    study_added(t);
    /* XPRS with the rule BYTES applies without CHRS, otherwise to the characters of CHRS. */
    t->cuts_bytes = field(t->crossings, 0) == CROSSED_BYTES;
    if (t->model != MODEL_BPE || !t->cuts_bytes != (t->characters.data != NULL) ||
        field(t->characters, 0) == UNIT_BYTE)
        memset(&t->crossings, 0, sizeof t->crossings), t->cuts_bytes = 0;
    if (t->pair_index.data) {
        t->pair_rows = t->pair_index.data + PAIR_INDEX_HEADER + 8 * (size_t)t->pair_slots;
        t->pair_displacements = t->pair_rows + 4 * (size_t)((t->id_count - 1) >> t->row_shift) + 8;
    }
#ifndef TKX_NO_CHARACTERS
    t->ascii_symbols = find_ascii_symbols(t);
#endif
    return TKX_OK;
}

int tkx_check(const tkx *t) {
    uint32_t tables[4][256], i;
    const uint8_t *end;
    if (!t || !t->data) return TKX_E_ARGUMENT;
    crc_tables(tables);
    end = section_entry(t, t->section_count);
    for (i = 0; i < t->section_count; i++) {
        const tkx_span s = section_span(t, i);
        if (crc_large(tables, s.data, s.size) != load_u32(section_entry(t, i) + 24))
            return TKX_E_CRC;
        for (; end < s.data; end++) {
            if (*end) return TKX_E_PADDING;
        }
        end = s.data + s.size;
    }
    for (i = 0; i < t->token_slots; i++) {
        if (!token_leads_back(t, t->token_index.data + 8 + 4 * (size_t)i)) return TKX_E_CORRUPT;
    }
    for (i = 0; i < t->pair_slots; i++) {
        if (!pair_leads_back(t, i)) return TKX_E_CORRUPT;
    }
    return TKX_OK;
}

const char *tkx_error(int code) {
    switch (code) {
        case TKX_OK: return "No error.";
        case TKX_E_ARGUMENT: return "A required pointer is NULL, or a size exceeds the limit.";
        case TKX_E_ID: return "There is no such id: it is out of range, or a hole.";
        case TKX_E_NOT_FOUND: return "There is no such token, section, role or score in the file.";
        case TKX_E_UTF8: return "The text is not UTF-8.";
        case TKX_E_IDS: return "The array of ids is too small.";
        case TKX_E_BYTES: return "The output buffer is too small.";
        case TKX_E_WORK: return "The work memory is too small.";
        case TKX_E_WINDOW: return "The stream's window is full and cannot be cut.";
        case TKX_E_STATE: return "The stream is already finished.";
        case TKX_E_NO_ENCODER: return "The file is decode-only: it has no encoder sections.";
        case TKX_E_SELF_TEST: return "A self test produced other ids than the reference.";
        case TKX_E_UNKNOWN_TEXT:
            return "A part of the text is not in the vocabulary, and there is no unknown token.";
        case TKX_E_ROLE: return "A message has a role that is not allowed at its position.";
        case TKX_E_MESSAGE: return "The chat frame does not support a message with this text.";
        case TKX_E_NO_SPANS: return "The file cannot produce the offsets of the reference.";
        case TKX_E_EMPTY: return "The file is empty.";
        case TKX_E_MAGIC: return "This is not a tokexport file.";
        case TKX_E_MANGLED:
            return "The file was changed by a transfer in text mode: transfer it as binary.";
        case TKX_E_VERSION: return "The file was made by another major version of the format.";
        case TKX_E_TRUNCATED: return "The file is shorter than its header says.";
        case TKX_E_TRAILING: return "The file is longer than its header says.";
        case TKX_E_HEADER_CRC:
            return "The header or the section table has changed: its checksum is wrong.";
        case TKX_E_HEADER: return "A field of the header is out of range.";
        case TKX_E_MODEL: return "The file has a model type that this runtime does not support.";
        case TKX_E_SECTION: return "A section is misplaced.";
        case TKX_E_DUPLICATE: return "Two sections have the same tag.";
        case TKX_E_UNKNOWN: return "The file requires a section that this runtime does not know.";
        case TKX_E_MISSING: return "A section that others need is missing.";
        case TKX_E_SECTION_SIZE: return "A section's size does not fit its contents.";
        case TKX_E_SPLITS: return "A pre-tokenizer or normalizer table has a value out of range.";
        case TKX_E_CRC: return "A section has changed: its checksum is wrong.";
        case TKX_E_PADDING: return "A padding byte is not zero.";
        case TKX_E_CORRUPT: return "A table in the file has a value out of range.";
        default: return "Unknown error code.";
    }
}
/* ---- decode_bytes.c: the output of decoding (3.8) -------------------------------------------- */
/* The caller's buffer. Bytes that do not fit are counted: `used` then exceeds `capacity`. */
typedef struct tkx_out_buf {
    uint8_t *out;
    size_t capacity, used;
} tkx_out_buf;

static TKX_INLINE void put(tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    if (size && s->used <= s->capacity && size <= s->capacity - s->used)
        memcpy(s->out + s->used, bytes, size);
    s->used = size > SIZE_MAX - s->used ? SIZE_MAX : s->used + size;
}

/* The same for the bytes of a token in BYTS, which ends at `end`. Most tokens are short, and
   copying 16 bytes is twice as fast as a call of memcpy. */
static TKX_INLINE void put_short(tkx_out_buf *s, const uint8_t *bytes, size_t size,
                                 const uint8_t *end) {
    if (TKX_LIKELY(size <= 16 && s->used <= s->capacity && s->capacity - s->used >= 16 &&
                   end - bytes >= 16)) {
        TKX_COPY(s->out + s->used, bytes, 16);
        s->used += size;
    } else {
        put(s, bytes, size);
    }
}

#ifndef TKX_NO_DECODER
/* The entry of EDIT for the state and a class; with TKX_NONE, for the end of the text. */
static const uint8_t *find_edit(const tkx_decoder *d, uint32_t class_) {
    const uint8_t *table = d->t->edits.data, *edits = table + EDITS_HEADER + 256;
    const size_t states = load_u16(table), classes = load_u16(table + 2);
    return edits + EDIT_SIZE * (class_ < classes ? d->edit_state * classes + class_
                                                 : states * classes + d->edit_state);
}

/* Writes the text of an entry of EDIT. */
static void put_edit(const tkx_decoder *d, tkx_out_buf *s, const uint8_t *edit) {
    const tkx_span table = d->t->edits;
    const uint8_t *text = table.data + (table.size - load_u32(table.data + 8));
    put(s, text + load_u32(edit + 4), load_u16(edit + 2) & ~(uint32_t)EDIT_KEEPS);
}

/* Writes bytes of the text as EDIT rewrites them. */
static void put_edited(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    const uint8_t *classes = d->t->edits.data + EDITS_HEADER;
    size_t i, from = 0; /* the first unchanged byte that is not written yet */
    for (i = 0; i < size; i++) {
        const uint8_t *edit = find_edit(d, classes[bytes[i]]);
        const uint32_t length = load_u16(edit + 2);
        d->edit_state = (uint16_t)load_u16(edit);
        if (length == EDIT_KEEPS) continue;
        put(s, bytes + from, i - from);
        put_edit(d, s, edit);
        from = length & EDIT_KEEPS ? i : i + 1;
    }
    put(s, bytes + from, size - from);
}
#endif

/* Writes bytes of the text, rewritten by EDIT, or without the byte to strip at its start. */
static void put_inner(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t skip = size && d->strip && *bytes == d->strip;
    if (size) d->strip = 0;
#ifndef TKX_NO_DECODER
    if (d->t->edits.data) put_edited(d, s, bytes, size);
    else
#endif
        put(s, bytes + skip, size - skip);
}

/* Writes U+FFFD `count` times. */
static void put_bad(tkx_decoder *d, tkx_out_buf *s, size_t count) {
    for (; count; count--) put_inner(d, s, (const uint8_t *)"\xEF\xBF\xBD", 3);
}

/* Writes the replacement of `count` bytes that are not UTF-8. */
static void put_replacement(tkx_decoder *d, tkx_out_buf *s, size_t count) {
    put_bad(d, s, d->rules & BY_CHARACTER ? count : count != 0);
}

/* Writes U+FFFD for a character that remains incomplete. */
static void end_held(tkx_decoder *d, tkx_out_buf *s) {
    put_replacement(d, s, d->held_size);
    d->held_size = 0;
}

/* Writes bytes unchanged (as_bytes), or as text, holding back an incomplete character. */
static void put_bytes(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, size_t size) {
    size_t i = 0, looked;
    if (d->as_bytes) put_inner(d, s, bytes, size);
    while (i < size && !d->as_bytes) {
        int look;
        if (d->held_size) {
            d->held[d->held_size] = bytes[i];
            look = utf8_look(d->held, d->held_size + (size_t)1, &looked);
            if (look == UTF8_BAD) {
                end_held(d, s);
                continue;
            }
            d->held_size++;
            i++;
            if (look == UTF8_CUT) continue;
            put_inner(d, s, d->held, d->held_size);
            d->held_size = 0;
        }
        looked = utf8_valid(bytes + i, size - i);
        put_inner(d, s, bytes + i, looked);
        i += looked;
        if (i == size) break;
        look = utf8_look(bytes + i, size - i, &looked);
        if (look == UTF8_CUT) {
            memcpy(d->held, bytes + i, looked);
            d->held_size = (uint8_t)looked;
        } else {
            put_replacement(d, s, looked);
        }
        i += looked;
    }
}
/* ---- decode_rules.c: decoding by rules (3.8, DECO) ------------------------------------------- */
#ifndef TKX_NO_DECODER
enum { FIRST = 1, LAST = 2 }; /* the place of a token: one, both or neither */

/* A run of FALLBACK tokens: text if it is UTF-8 as a whole, otherwise U+FFFD for each byte.

   RUN_NONE ---- look_at_run, if all ids are known ----+---> RUN_GOOD: written
      |                                                +---> RUN_BAD: U+FFFD for each byte
      +---- in a stream ----> RUN_HELD: held back ---- a bad byte ----^
                              (at TKX_MAX_RUN its whole characters are written) */
enum { RUN_NONE, RUN_HELD, RUN_GOOD, RUN_BAD };

/* Replaces the bytes of a token by its surface form at a place; 0 if it is outside BYTS (I19). */
static int form_at(const tkx *t, uint32_t flags, unsigned place, const uint8_t **bytes,
                   uint32_t *length) {
    const size_t before = (size_t)(*bytes - t->bytes.data);
    if (place & FIRST) {
        uint32_t skip = (flags & TKX_FIRST_SKIP) >> FIRST_SKIP_SHIFT,
                 more = (flags & TKX_FIRST_MORE) >> FIRST_MORE_SHIFT;
        if (skip > *length || more > before) return 0;
        *bytes = *bytes + skip - more;
        *length = *length - skip + more;
    }
    if (place & LAST) {
        uint32_t skip = (flags & TKX_LAST_SKIP) >> LAST_SKIP_SHIFT;
        if (skip > *length) return 0;
        *length -= skip;
    }
    return 1;
}

/* Holds back a byte of a run until it is known whether the run is UTF-8. */
static void hold_byte(tkx_decoder *d, tkx_out_buf *s, uint8_t byte) {
    size_t looked;
    int look;
    d->run[d->run_size++] = byte;
    look = utf8_look(d->run + d->run_good, (size_t)(d->run_size - d->run_good), &looked);
    if (look == UTF8_GOOD) d->run_good = d->run_size;
    if (look == UTF8_BAD) {
        put_bad(d, s, d->run_size);
        d->run_size = d->run_good = 0;
        d->run_state = RUN_BAD;
    } else if (d->run_size == TKX_MAX_RUN) {
        put_inner(d, s, d->run, d->run_good);
        d->run_size = (uint16_t)(d->run_size - d->run_good);
        memmove(d->run, d->run + d->run_good, d->run_size);
        d->run_good = 0;
    }
}

/* Writes bytes of FALLBACK tokens. */
static void put_run(tkx_decoder *d, tkx_out_buf *s, const uint8_t *bytes, uint32_t length) {
    const int is_text = d->as_bytes || (d->rules & BY_CHARACTER) || d->run_state == RUN_GOOD;
    uint32_t i;
    if (is_text) put_bytes(d, s, bytes, length);
    else if (d->run_state == RUN_NONE && length) d->run_state = RUN_HELD;
    for (i = 0; i < length && !is_text; i++) {
        if (d->run_state == RUN_BAD) put_bad(d, s, 1);
        else hold_byte(d, s, bytes[i]);
    }
}

/* Ends a run, before a token that is not FALLBACK. */
static void end_run(tkx_decoder *d, tkx_out_buf *s) {
    if (!(d->rules & BYTE_FALLBACK)) return;
    if (d->run_good < d->run_size) put_bad(d, s, d->run_size);
    else put_inner(d, s, d->run, d->run_size);
    d->run_size = d->run_good = 0;
    d->run_state = RUN_NONE;
    end_held(d, s);
}

/* Whether the run of FALLBACK tokens that begins at ids[0] is UTF-8 as a whole. */
static int look_at_run(const tkx *t, const uint32_t *ids, size_t count) {
    uint8_t held[4];
    size_t held_size = 0, looked, i;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags, j;
        if (read_token(t, ids[i], &bytes, &length, &flags) != TKX_OK || !(flags & TKX_FALLBACK))
            break;
        for (j = 0; j < length; j++) {
            int look;
            held[held_size++] = bytes[j];
            look = utf8_look(held, held_size, &looked);
            if (look == UTF8_BAD) return RUN_BAD;
            if (look == UTF8_GOOD) held_size = 0;
        }
    }
    return held_size ? RUN_BAD : RUN_GOOD;
}

/* The index of the last id that is emitted, or `count`. */
static size_t last_of(const tkx *t, uint32_t rules, const uint32_t *ids, size_t count) {
    const uint8_t *bytes;
    uint32_t length, flags;
    size_t i;
    for (i = count; i-- > 0;) {
        if ((rules & FIRST_BY_CONTENT) &&
            read_token(t, ids[i], &bytes, &length, &flags) == TKX_OK && length == 0)
            continue;
        return i;
    }
    return count;
}

/* Passes the start of a token to EDIT, if it reads these. */
static void put_token_edge(tkx_decoder *d, tkx_out_buf *s) {
    const tkx_span table = d->t->edits;
    if (field(table, 4) & READS_TOKENS) {
        const uint8_t *edit = find_edit(d, load_u16(table.data + 2) - 1);
        put_edit(d, s, edit);
        d->edit_state = (uint16_t)load_u16(edit);
    }
}

/* Whether a token with these flags belongs to a run. */
static int is_in_run(const tkx_decoder *d, uint32_t flags) {
    return (flags & TKX_FALLBACK) && (d->rules & BYTE_FALLBACK);
}

/* Writes an id; `last`: LAST or 0. On TKX_E_CORRUPT nothing is changed. */
static int put_token(tkx_decoder *d, tkx_out_buf *s, uint32_t id, unsigned last) {
    const unsigned place = (d->is_first ? FIRST : 0u) | last;
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK) return code;
    if (is_in_run(d, flags)) {
        put_run(d, s, bytes, length);
    } else {
        if (!form_at(d->t, flags, place, &bytes, &length)) return TKX_E_CORRUPT;
        end_run(d, s);
        put_token_edge(d, s);
        put_bytes(d, s, bytes, length);
        if (d->rules & BYTE_FALLBACK) end_held(d, s);
    }
    if (length || !(d->rules & FIRST_BY_TEXT)) d->is_first = 0;
    return TKX_OK;
}

/* Whether the rules and skip_special let an id be emitted. */
static int is_emitted(tkx_decoder *d, tkx_out_buf *s, uint32_t length, uint32_t flags) {
    if (d->skip_special && (flags & TKX_SPECIAL)) return 0;
    if (length || !(d->rules & FIRST_BY_CONTENT)) return 1;
    if (!(flags & TKX_FALLBACK)) end_run(d, s);
    return 0;
}

/* Adds an id to a stream. An id with LAST_SKIP is pending until the next one, or the end. */
static int add_id(tkx_decoder *d, tkx_out_buf *s, uint32_t id) {
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code != TKX_OK || !is_emitted(d, s, length, flags)) return code;
    if (d->pending != TKX_NONE) code = put_token(d, s, d->pending, 0);
    d->pending = TKX_NONE;
    if (code != TKX_OK) return code;
    if (!(flags & TKX_LAST_SKIP) || is_in_run(d, flags)) return put_token(d, s, id, 0);
    d->pending = id;
    return TKX_OK;
}

/* Writes what is held back, as the end of the text. */
static int end_text(tkx_decoder *d, tkx_out_buf *s) {
    int code = TKX_OK;
    if (d->pending != TKX_NONE) code = put_token(d, s, d->pending, LAST);
    if (code != TKX_OK) return code;
    end_run(d, s);
    end_held(d, s);
    if (d->t->edits.data) put_edit(d, s, find_edit(d, TKX_NONE));
    return TKX_OK;
}

/* Reads DECO; 0 if a value is out of its range (I19). */
static int read_rules(tkx_decoder *d) {
    const uint8_t *rules = d->t->decoder.data;
    d->is_first = 1;
    d->pending = TKX_NONE;
    if (!rules) return 1;
    if (load_u32(rules) & ~(uint32_t)DECODER_FLAGS || load_u32(rules + 4) > 127) return 0;
    d->rules = (uint8_t)load_u32(rules);
    d->strip = (uint8_t)load_u32(rules + 4);
    if ((d->rules & BY_CHARACTER) && !(d->rules & BYTE_FALLBACK)) return 0;
    return !(d->rules & FIRST_BY_CONTENT) || !(d->rules & FIRST_BY_TEXT);
}

/* Whether a token, neither the last nor FALLBACK, is written unchanged. BYTS ends at `end`. */
static TKX_INLINE int is_plain(const tkx_decoder *d, const uint8_t *bytes, uint32_t length,
                               const uint8_t *end) {
    if (d->is_first | d->strip | d->held_size | d->run_state || d->t->edits.data) return 0;
    if (d->as_bytes ||
        (length - 1 < 8 && end - bytes >= 8 && !(load_u64(bytes) & HIGH_BITS >> (64 - 8 * length))))
        return 1;
    return utf8_valid(bytes, length) == length;
}

/* Decodes all ids at once, so that a run and the last id are known beforehand. */
static int decode_by_rules(tkx_decoder *d, const uint32_t *ids, size_t count, tkx_out_buf *s,
                           size_t *size, size_t *ends) {
    const tkx *t = d->t;
    const uint8_t *end = t->bytes.data + t->bytes.size;
    size_t last = last_of(t, d->rules, ids, count), i;
    int code;
    for (i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t length, flags;
        code = read_token(t, ids[i], &bytes, &length, &flags);
        if (code == TKX_OK && !(flags & TKX_FALLBACK) && i != last &&
            is_plain(d, bytes, length, end)) {
            put_short(s, bytes, length, end);
        } else if (code == TKX_OK && is_emitted(d, s, length, flags)) {
            if ((flags & TKX_FALLBACK) && d->run_state == RUN_NONE && !d->as_bytes)
                d->run_state = (uint8_t)look_at_run(t, ids + i, count - i);
            code = put_token(d, s, ids[i], i == last ? LAST : 0);
        }
        if (code == TKX_E_ID) *size = i;
        if (code != TKX_OK) return code;
        if (ends) ends[i] = s->used;
    }
    code = end_text(d, s);
    if (ends && count) ends[count - 1] = s->used;
    return code;
}
#endif
/* ---- decode.c: decoding ---------------------------------------------------------------------- */
/* Starts a text. Returns TKX_OK or TKX_E_CORRUPT. */
static int start(tkx_decoder *d, const tkx *t, int skip_special) {
    memset(d, 0, sizeof *d);
    d->t = t;
    d->skip_special = skip_special != 0;
#ifndef TKX_NO_DECODER
    if (!read_rules(d)) d->t = NULL;
#endif
    return d->t ? TKX_OK : TKX_E_CORRUPT;
}

/* Returns TKX_E_BYTES if the output did not fit. */
static int give_size(const tkx_out_buf *s, size_t *size) {
    *size = s->used;
    return s->used <= s->capacity ? TKX_OK : TKX_E_BYTES;
}

/* Adds an id to a text, for a file without decoder rules. */
static int add_plainly(tkx_decoder *d, tkx_out_buf *s, uint32_t id) {
    const uint8_t *bytes;
    uint32_t length, flags;
    int code = read_token(d->t, id, &bytes, &length, &flags);
    if (code == TKX_OK && !(d->skip_special && (flags & TKX_SPECIAL)))
        put_bytes(d, s, bytes, length);
    return code;
}

static int decode(const tkx *t, int as_bytes, const uint32_t *ids, size_t count, uint8_t *out,
                  size_t capacity, size_t *size, size_t *ends) {
    tkx_decoder d;
    tkx_out_buf s = {out, capacity, 0};
    size_t i;
    int code;
    if (!t || !size || (!ids && count) || (!out && capacity)) return TKX_E_ARGUMENT;
    *size = 0;
    code = start(&d, t, 0);
    d.as_bytes = (uint8_t)as_bytes;
#ifndef TKX_NO_DECODER
    if (code == TKX_OK && t->decoder.data) {
        code = decode_by_rules(&d, ids, count, &s, size, ends);
        return code == TKX_OK ? give_size(&s, size) : code;
    }
#endif
    for (i = 0; i < count && code == TKX_OK; i++) {
        code = add_plainly(&d, &s, ids[i]);
        if (code == TKX_E_ID) *size = i;
        if (ends) ends[i] = s.used;
    }
    if (code != TKX_OK) return code;
    end_held(&d, &s);
    return give_size(&s, size);
}

int tkx_decode_text(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
                    size_t *size) {
    return decode(t, 0, ids, count, out, capacity, size, NULL);
}

int tkx_decode_ends(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
                    size_t *size, size_t *ends) {
    if (!ends && count) return TKX_E_ARGUMENT;
    return decode(t, 1, ids, count, out, capacity, size, ends);
}

int tkx_decode(const tkx *t, const uint32_t *ids, size_t count, uint8_t *out, size_t capacity,
               size_t *size) {
    const uint8_t *bytes, *end;
    uint32_t length, flags;
    tkx_out_buf s = {out, capacity, 0};
    size_t i;
    if (!t || !size || (!ids && count) || (!out && capacity) || t->decoder.data)
        return decode(t, 1, ids, count, out, capacity, size, NULL);
    *size = 0;
    end = t->bytes.data + t->bytes.size;
    for (i = 0; i < count; i++) {
        const int code = read_token(t, ids[i], &bytes, &length, &flags);
        if (code == TKX_E_ID) *size = i;
        if (code != TKX_OK) return code;
        put_short(&s, bytes, length, end);
    }
    return give_size(&s, size);
}

int tkx_decoder_init(tkx_decoder *d, const tkx *t, int skip_special) {
    if (!d || !t) return TKX_E_ARGUMENT;
    return start(d, t, skip_special);
}

/* Adds an id to a stream, or ends its text if `id` is NULL. */
static int advance(tkx_decoder *d, const uint32_t *id, uint8_t *out, size_t capacity,
                   size_t *size) {
    tkx_decoder after;
    tkx_out_buf s = {out, capacity, 0};
    int code = TKX_OK;
    if (!d || !d->t || !size || (!out && capacity)) return TKX_E_ARGUMENT;
    *size = 0;
    after = *d;
#ifndef TKX_NO_DECODER
    if (d->t->decoder.data) code = id ? add_id(&after, &s, *id) : end_text(&after, &s);
    else
#endif
        if (id)
        code = add_plainly(&after, &s, *id);
    else end_held(&after, &s);
    if (code == TKX_OK) code = give_size(&s, size);
    if (code != TKX_OK) return code;
    *d = after;
    return id ? TKX_OK : start(d, after.t, after.skip_special);
}

int tkx_decoder_step(tkx_decoder *d, uint32_t id, uint8_t *out, size_t capacity, size_t *size) {
    return advance(d, &id, out, capacity, size);
}

int tkx_decoder_flush(tkx_decoder *d, uint8_t *out, size_t capacity, size_t *size) {
    return advance(d, NULL, out, capacity, size);
}
/* ---- context.h: a call and its memory -------------------------------------------------------- */
/* A pre-token that is to be encoded. */
typedef struct tkx_pending {
    const uint8_t *p;
    size_t size;
    uint8_t *set;    /* its set in the word cache, or NULL */
    uint64_t key[4]; /* of the word cache */
    uint64_t hash;   /* of the bytes, if `set` is NULL or `has_slot` is 1 */
    uint32_t slot;   /* in TIDX, if `has_slot` is 1 */
    uint8_t has_slot;
    uint8_t is_part;  /* a part of a pre-token, cut where no merge crosses */
    uint8_t has_word; /* 8 bytes may be read at p */
} tkx_pending;

/* Pre-tokens in a batch. English prose: 1.4 times as fast; 16 or 64 are no better. */
enum { BATCH = 32 };

/* The current text: a part of the input, or a rewritten part. */
typedef struct tkx_text {
    const uint8_t *limit; /* the end of the bytes that may be read */
    const uint8_t *begin; /* where the input begins in it */
    const uint8_t *base;  /* its first byte */
    /* for each byte from `base` on, the start and end of its source in the input, as two u32; NULL
       if the text is the input, which begins at `base` */
    const uint8_t *alignment;
} tkx_text;

/* A position in the input. */
typedef struct tkx_position {
    size_t byte, character;
} tkx_position;

/* The additional state of tkx_encode_spans. */
typedef struct tkx_locator {
    uint32_t *spans; /* two numbers for each id; NULL: no spans */
    int unit;
    const uint8_t *input;
    size_t input_size;
    tkx_position start, end, furthest; /* where counting of characters stopped */
} tkx_locator;

/* A part of the text that was merged: its offset in the text, and the index of its first id. */
typedef struct tkx_merged {
    uint32_t text, ids;
    uint8_t size, count;
} tkx_merged;

/* Sizes of the caches that live for one call. Merged words recur in most texts: 1.1 times as fast
   in many scripts. Characters do, too: 1.2 times as fast in Chinese and Japanese. */
enum { RECENT_PARTS = 128, RECENT_CHARACTERS = 128 };

/* One call of encode. `code` is the first error: callers return as soon as it is not 0. */
typedef struct tkx_context {
    const tkx *t;
    const uint8_t *allowed; /* bits of special tokens, or NULL; see `special` */
    size_t allowed_size;
    const uint8_t *input; /* the whole text */
    /* which special tokens are found. 0: none, 1: all, 2: those in `allowed`, 3: those that begin
       at a byte of `input` whose bit is set in `allowed` */
    int special;
    int code;
    uint32_t *ids;
    size_t capacity, count;
    const uint8_t *recent; /* the `base` of the text that `parts` refer to, or NULL */
    double carry;          /* of the text so far; see tkx_encoder */
    uint8_t *memory, no_memory[1];
    size_t memory_size, memory_used;
    uint64_t memory_needed; /* more than `memory_size`, or 0 */
    uint8_t *cache;
    unsigned cache_shift; /* a hash shifted right by this is the number of a set */
#ifdef TKX_BULK
    struct tkx_bulk *bulk;
#endif
    tkx_text text;
    tkx_locator where;
    size_t pending_count;
    tkx_pending batch[BATCH];
    /* indexed by the hash of a part; by code point: it, and the symbol that its bytes merge to */
    tkx_merged parts[RECENT_PARTS];
    uint32_t characters[RECENT_CHARACTERS][2];
} tkx_context;

/* Whether the ids of a text depend on the carry of the text before it. */
static int has_carry(const tkx *t) {
    return (t->trie_flags & SINGLE_PRECISION) ||
           (t->model == MODEL_WORDLEVEL && (t->flags & FUSE_UNKNOWN));
}

static int fail(tkx_context *ctx, int code) {
    if (ctx->code == TKX_OK) ctx->code = code;
    return ctx->code;
}

static void emit(tkx_context *ctx, uint32_t id) {
    if (ctx->count < ctx->capacity) ctx->ids[ctx->count] = id;
    ctx->count++;
}

/* Records that a part of the text needs more work memory than there is. Where possible, the call
   continues, to learn the needs of other parts. */
static void need_memory(tkx_context *ctx, uint64_t size) {
    if (size > ctx->memory_needed) ctx->memory_needed = size;
}

/* Allocates work memory above the part in use. NULL: too little, which is recorded. */
static uint8_t *work_alloc(tkx_context *ctx, uint64_t size) {
    uint8_t *memory = ctx->memory + ctx->memory_used;
    if (size > ctx->memory_size - ctx->memory_used) {
        need_memory(ctx, ctx->memory_used + size);
        return NULL;
    }
    ctx->memory_used += (size_t)size;
    return memory;
}

/* Bytes of work memory for each byte of a long pre-token: BPE needs MERGE_BYTES, and LENGTH_BYTES
   more for spans; Unigram needs PATH. Spans need SOURCE_BYTES for each byte of rewritten text. */
enum { MERGE_BYTES = 40, LENGTH_BYTES = 4, SOURCE_BYTES = 8, PATH = 16 };

/* Bytes of rewritten pre-tokens retained in work memory, so that encode_batch has full batches. */
enum { MAX_RETAINED = 4096 };

/* Bytes of text for each row of a memo (match.c), and the size of all rows. */
enum { MEMO_STEP = 64 };

static uint64_t memo_bytes(uint32_t states, uint64_t bytes) {
    return ((bytes + MEMO_STEP - 1) / MEMO_STEP * states + 7) / 8;
}

/* A bound on the work memory of a call, while it is computed. */
typedef struct tkx_bound {
    uint64_t input, size; /* bytes of the whole text, and of the current text */
    uint64_t held;        /* bytes in use while the current text is read */
    uint64_t most;        /* bytes in use at any time */
    int has_spans;
} tkx_bound;

static void bound_use(tkx_bound *b, uint64_t more) {
    if (b->held + more > b->most) b->most = b->held + more;
}

#ifndef TKX_NO_NORMALIZER
/* Adds the memory of `count` operations, each with the result of the previous one. */
static void bound_ops(tkx_bound *b, const tkx_op *op, uint32_t count, uint32_t source) {
    const uint64_t before = b->held;
    for (; count; count--, op++) {
        uint64_t grown = b->input * op->growth + op->extra, more = 0;
        if (grown >> 40) grown = UINT64_C(1) << 40;
        if (op->kind == FORM) more = 3 * grown + 32; /* 8 for each mark of at least 2 bytes */
        if (op->program.classes) more = memo_bytes(op->program.state_count, b->size + 1);
        bound_use(b, (1 + source) * grown + more);
        b->held = before + (1 + source) * grown;
        b->size = grown;
    }
}

/* Bytes for the source of each byte that a stage or the normalizer writes (with ALGN, 0). */
static uint32_t source_bytes(const tkx *t, int has_spans, int in_stage) {
    if (t->alignment.data && !in_stage) return 0;
    return has_spans || t->follows_sources ? SOURCE_BYTES : 0;
}
#endif

/* Later stages work on one pre-token at a time, and some of their output is retained. */
static void bound_stage(tkx_bound *b, const tkx *t, uint32_t i) {
    const tkx_stage *s = &t->stages[i];
#ifndef TKX_NO_NORMALIZER
    if (s->flags & REWRITE)
        bound_ops(b, t->ops + s->first_op, s->op_count, source_bytes(t, b->has_spans, 1));
#endif
    b->held += memo_bytes(s->state_count, b->size + 1) + (s->labels ? b->size : 0);
    if (i && t->op_count) b->held += MAX_RETAINED;
    bound_use(b, 0);
}

/* The work memory that is enough for any text of `size` bytes. */
static size_t work_size(const tkx *t, size_t size, int has_spans) {
    tkx_bound b = {smaller(size, MAX_TEXT), smaller(size, MAX_TEXT), 0, 0, has_spans};
    uint32_t i;
#ifndef TKX_NO_NORMALIZER
    bound_ops(&b, t->ops, t->normalizer_count, source_bytes(t, has_spans, 0));
#endif
    if (has_spans && t->alignment.data) b.held += SOURCE_BYTES * b.size;
    for (i = 0; i < t->stage_count; i++) bound_stage(&b, t, i);
    if (t->model == MODEL_BPE)
        bound_use(&b, (MERGE_BYTES + (has_spans ? LENGTH_BYTES : 0u)) * b.size);
    if (t->model == MODEL_UNIGRAM) bound_use(&b, PATH * (b.size + 1));
    bound_use(&b, 0);
    return b.most < SIZE_MAX ? (size_t)b.most : SIZE_MAX;
}

size_t tkx_work_size(const tkx *t, size_t size) { return t ? work_size(t, size, 0) : 0; }

#ifndef TKX_NO_OFFSETS
size_t tkx_spans_work_size(const tkx *t, size_t size) { return t ? work_size(t, size, 1) : 0; }
#endif
/* ---- offsets.c: spans (annex A) -------------------------------------------------------------- */
#if !defined(TKX_NO_OFFSETS) || !defined(TKX_NO_NORMALIZER)
/* The source in the input of bytes of the current text, extended to whole characters. */
static void find_source(const tkx_context *ctx, const uint8_t *from, const uint8_t *to,
                        size_t *first, size_t *after) {
    const tkx_text *v = &ctx->text;
    if (v->alignment) {
        *first = get_u32(v->alignment + 8 * (size_t)(from - v->base));
        *after = get_u32(v->alignment + 8 * (size_t)(to - 1 - v->base) + 4);
    } else {
        while (from > v->base && utf8_inside(*from)) from--;
        while (to < v->limit && utf8_inside(*to)) to++;
        *first = (size_t)(from - v->base);
        *after = (size_t)(to - v->base);
    }
}
#endif

#ifndef TKX_NO_OFFSETS
static int wants_spans(const tkx_context *ctx) { return ctx->where.spans != NULL; }

/* Moves a position to a byte, and returns the index of the character that the byte belongs to. */
static size_t count_to(const tkx_locator *w, tkx_position *at, size_t byte) {
    for (; at->byte < byte; at->byte++) at->character += !utf8_inside(w->input[at->byte]);
    for (; at->byte > byte; at->byte--) at->character -= !utf8_inside(w->input[at->byte - 1]);
    return at->character - (byte < w->input_size && utf8_inside(w->input[byte]) ? 1u : 0u);
}

/* Converts a span from bytes to characters. Counts from the previous span, in linear time. */
static void to_characters(tkx_locator *w, size_t *from, size_t *to) {
    *from = count_to(w, &w->start, *from);
    *to = count_to(w, *to >= w->furthest.byte ? &w->furthest : &w->end, *to);
}

/* The number of spaces at both ends of a model token, from TRIM or else from its bytes. */
static void count_spaces(tkx_context *ctx, uint32_t id, size_t *leading, size_t *trailing) {
    const tkx *t = ctx->t;
    const uint8_t *bytes, *entries = t->trims.data + TRIM_HEADER;
    const size_t count = (size_t)field(t->trims, 4),
                 at = lower_bound(entries, TRIM_SIZE, count, id);
    uint32_t length, flags, i;
    if (at < count && load_u32(entries + TRIM_SIZE * at) == id) {
        *leading = load_u16(entries + TRIM_SIZE * at + 4);
        *trailing = load_u16(entries + TRIM_SIZE * at + 6);
    } else if (read_record(t, id, &bytes, &length, &flags)) {
        for (i = 0; i < length && bytes[i] == ' '; i++) ++*leading;
        for (i = length; i > 0 && bytes[i - 1] == ' '; i--) ++*trailing;
    } else {
        fail(ctx, TKX_E_CORRUPT);
    }
}

/* Trims the white space of a token from its span, as often as the file says. */
static void trim(const tkx_context *ctx, size_t leading, size_t trailing, size_t *from,
                 size_t *to) {
    uint32_t passes = (uint32_t)field(ctx->t->trims, 0);
    for (; (passes & 3) != TRIM_END; passes >>= 2) {
        const int keeps =
            (passes & 3) == TRIM_KEEP_FIRST && leading == 1 && (ctx->count == 0 || *from == 0);
        if (leading && !keeps) *from = smaller(*from + leading, *to);
        if (trailing && *to >= trailing) *to = *to - trailing > *from ? *to - trailing : *from;
    }
}

/* Writes the span of the next id to be emitted. */
static void put_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to, size_t leading,
                     size_t trailing) {
    size_t first, after;
    find_source(ctx, from, to, &first, &after);
    /* `tokenizers` does not convert a span that begins at the end of the input */
    if (ctx->where.unit == TKX_CHARACTERS &&
        (first < ctx->where.input_size || ctx->t->alignment.data))
        to_characters(&ctx->where, &first, &after);
    if (leading || trailing) trim(ctx, leading, trailing, &first, &after);
    if (ctx->count < ctx->capacity) {
        ctx->where.spans[2 * ctx->count] = (uint32_t)first;
        ctx->where.spans[2 * ctx->count + 1] = (uint32_t)after;
    }
}

#ifndef TKX_NO_WORDLEVEL
/* Extends the span of the last id up to `to`. */
static void extend_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    size_t first, after;
    find_source(ctx, from, to, &first, &after);
    if (ctx->where.unit == TKX_CHARACTERS) to_characters(&ctx->where, &first, &after);
    if (ctx->count <= ctx->capacity) ctx->where.spans[2 * ctx->count - 1] = (uint32_t)after;
}
#endif

static TKX_NOINLINE void put_token_span(tkx_context *ctx, uint32_t id, const uint8_t *from,
                                        const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    if (field(ctx->t->trims, 0)) count_spaces(ctx, id, &leading, &trailing);
    put_span(ctx, from, to, leading, trailing);
}
#else
static int wants_spans(const tkx_context *ctx) { return (void)ctx, 0; }
#endif

/* Emits an id of the model that covers at least one byte of the current text. */
static TKX_INLINE void emit_token(tkx_context *ctx, uint32_t id, const uint8_t *from,
                                  const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (!TKX_LIKELY(!wants_spans(ctx))) put_token_span(ctx, id, from, to);
#endif
    (void)from, (void)to;
    emit(ctx, id);
}
/* ---- added.c: added tokens (3.2) ------------------------------------------------------------- */
/* A result of a scanner: a segment of plain text, or an added token with the text it covers. */
typedef struct tkx_segment {
    size_t from, to;
    uint32_t id; /* TKX_NONE: a segment */
} tkx_segment;

/* A scan of one text for the contents in one trie. */
typedef struct tkx_scanner {
    tkx_context *ctx;
    const uint8_t *starts, *nodes, *edges;
    uint32_t node_count, edge_count;
    uint32_t only_start; /* the first byte of every content, if it is the same; else TKX_NONE */
    const uint8_t *text;
    size_t size;
    size_t at;           /* where the scan continues */
    size_t done;         /* everything before it has been returned */
    size_t edge;         /* SINGLE_WORD does not look further back; 0 without SEARCH_ANEW */
    tkx_segment pending; /* a token to return next, after the segment before it */
    /* the white space that RSTRIP scanned last, so that runs of RSTRIP tokens take linear time */
    size_t spaces, spaces_end;
} tkx_scanner;

/* The flags in ACLS of the character at p; 0 without ACLS. */
static uint32_t added_class(tkx_context *ctx, const uint8_t *p) {
    tkx_span s = ctx->t->added_classes;
    const uint8_t *top, *middle;
    uint32_t c = utf8_decode(p), middle_count;
    size_t leaf;
    if (!s.data) return 0;
    if (c < 128) return s.data[8 + c];
    top = s.data + 8 + ASCII_SIZE;
    middle = top + TOP_SIZE;
    middle_count = load_u16(s.data);
    leaf = find_leaf(top, middle, middle_count, load_u16(s.data + 2), c);
    if (leaf == SIZE_MAX) return fail(ctx, TKX_E_CORRUPT), 0;
    return middle[128 * (size_t)middle_count + leaf];
}

/* The start of the character before p. */
static const uint8_t *before(const uint8_t *p) {
    do p--;
    while (utf8_inside(*p));
    return p;
}

/* The only member of a set of bytes, or TKX_NONE if it has none or several. */
static uint32_t only_byte(const uint8_t *bits) {
    uint32_t found = TKX_NONE, i;
    for (i = 0; i < 256; i += 64) {
        uint64_t word = load_u64(bits + i / 8);
        if (word == 0) continue;
        if (found != TKX_NONE || (word & (word - 1))) return TKX_NONE;
        found = i + lowest_bit(word);
    }
    return found;
}

/* Starts a scan of a text with a trie but no tokens. `counts`: the number of nodes and of edges. */
static void scanner_init(tkx_scanner *f, tkx_context *ctx, const uint8_t *nodes,
                         const uint8_t *counts, const uint8_t *text, const uint8_t *end) {
    *f = (tkx_scanner){.ctx = ctx, .nodes = nodes, .text = text, .size = (size_t)(end - text)};
    f->node_count = load_u32(counts);
    f->edge_count = load_u32(counts + 4);
    f->edges = nodes + NODE_SIZE * ((size_t)f->node_count + 1);
}

static void scanner_start(tkx_scanner *f, tkx_context *ctx, int normalized, const uint8_t *text,
                          size_t size) {
    const tkx *t = ctx->t;
    scanner_init(f, ctx, added_nodes(t, normalized), t->added.data + (normalized ? 12 : 4), text,
                 text + size);
    f->starts = t->added.data + (normalized ? 64 : 32);
    f->pending.id = TKX_NONE;
    f->only_start = only_byte(f->starts);
}

/* Whether this call can find any token of a trie. */
static int has_tokens(const tkx_context *ctx, int normalized) {
    const tkx *t = ctx->t;
    if (!t->added.data || field(t->added, normalized ? 12 : 4) == 0) return 0;
    return ctx->special || (normalized ? t->plain_normalized : t->plain_raw);
}

/* The child of a node for a byte, or 0: no edge leads to the root. */
static uint32_t find_child(tkx_scanner *f, uint32_t node, uint8_t byte) {
    const uint8_t *edges = f->edges;
    uint32_t first = load_u32(f->nodes + NODE_SIZE * (size_t)node),
             end = load_u32(f->nodes + NODE_SIZE * ((size_t)node + 1)), edge;
    size_t at;
    if (first > end || end > f->edge_count) return fail(f->ctx, TKX_E_CORRUPT), 0;
    edges += 4 * (size_t)first;
    at = lower_bound(edges, 4, end - first, (uint32_t)byte << 24);
    if (at == end - first) return 0;
    edge = load_u32(edges + 4 * at);
    if (edge >> 24 != byte) return 0;
    if ((edge & 0xFFFFFF) < f->node_count) return edge & 0xFFFFFF;
    return fail(f->ctx, TKX_E_CORRUPT), 0;
}

/* The length of the longest content at `at`, and its token; 0 if there is none. */
static size_t longest_content(tkx_scanner *f, size_t at, uint32_t *token) {
    uint32_t node = 0;
    size_t i, length = 0;
    for (i = at; i < f->size && f->node_count; i++) {
        node = find_child(f, node, f->text[i]);
        if (node == 0) break;
        /* no path is longer than the trie */
        if (i - at >= f->node_count) return fail(f->ctx, TKX_E_CORRUPT), 0;
        if (load_u32(f->nodes + NODE_SIZE * (size_t)node + 4) == TKX_NONE) continue;
        *token = load_u32(f->nodes + NODE_SIZE * (size_t)node + 4);
        length = i + 1 - at;
    }
    return length;
}

/* The Python extension skips bytes here that begin no content, and finds runs of one byte. */
#ifndef TKX_SKIP_TO_START
#define TKX_SKIP_TO_START(f, p, end) (p)
#define TKX_FIND_RUN(f, at, token, length) 0
#endif

/* The first position at or after `at` where a content may begin. Most files have one such byte. */
static size_t next_start(const tkx_scanner *f, size_t at) {
    const uint8_t *end = f->text + f->size, *p = TKX_SKIP_TO_START(f, f->text + at, end);
    if (f->only_start != TKX_NONE) {
        const uint64_t pattern = f->only_start * LOW_BITS;
        for (; end - p >= 8; p += 8) {
            uint64_t word = load_u64(p) ^ pattern; /* a zero byte marks a start */
            uint64_t zeros = (word - LOW_BITS) & ~word & HIGH_BITS;
            if (zeros) return (size_t)(p - f->text) + (lowest_bit(zeros) >> 3);
        }
    }
    while (p < end && !bit_of(f->starts, *p)) p++;
    return (size_t)(p - f->text);
}

static int is_allowed(const tkx_context *ctx, uint32_t token, const uint8_t *at) {
    /* in a rewritten text, the difference is out of range, or negative and thus very large */
    const size_t bit = ctx->special == 3 ? (size_t)((uintptr_t)at - (uintptr_t)ctx->input) : token;
    if (ctx->special < 2) return ctx->special;
    return bit / 8 < ctx->allowed_size && bit_of(ctx->allowed, bit);
}

/* The end of the white space after a token. */
static size_t spaces_after(tkx_scanner *f, size_t stop) {
    size_t i = stop;
    if (stop >= f->spaces && stop <= f->spaces_end) return f->spaces_end;
    while (i < f->size && (added_class(f->ctx, f->text + i) & CLASS_SPACE))
        i += utf8_length(f->text[i]);
    f->spaces = stop;
    f->spaces_end = i;
    return i;
}

/* The start of the white space before a token, but not of text that has been returned. */
static size_t spaces_before(tkx_scanner *f, size_t start) {
    while (start > f->done) {
        const uint8_t *p = before(f->text + start);
        if (!(added_class(f->ctx, p) & CLASS_SPACE)) break;
        start = (size_t)(p - f->text);
    }
    return start < f->done ? f->done : start;
}

static int touches_word(tkx_scanner *f, size_t start, size_t stop) {
    if (start > f->edge && (added_class(f->ctx, before(f->text + start)) & CLASS_WORD)) return 1;
    return stop < f->size && (added_class(f->ctx, f->text + stop) & CLASS_WORD);
}

/* Continues the scan at `at`; with SEARCH_ANEW, in a text that begins at `anew`. */
static void go_on(tkx_scanner *f, size_t at, size_t anew) {
    f->at = at;
    if (f->ctx->t->flags & SEARCH_ANEW) f->at = f->edge = anew;
}

/* Writes the next segment or token to *item; returns 0 at the end and on an error. */
static int scanner_next(tkx_scanner *f, tkx_segment *item) {
    tkx_context *ctx = f->ctx;
    *item = f->pending;
    f->pending.id = TKX_NONE;
    if (item->id != TKX_NONE) return 1;
    while (f->at < f->size) {
        size_t start = f->at = next_start(f, f->at), length, stop;
        const uint8_t *entry;
        uint32_t token = TKX_NONE, flags;
        f->at++;
        if (!TKX_FIND_RUN(f, start, &token, &length)) length = longest_content(f, start, &token);
        if (ctx->code != TKX_OK) return 0;
        if (!length) continue;
        stop = start + length;
        if (token >= tkx_added_count(ctx->t)) return fail(ctx, TKX_E_CORRUPT), 0;
        entry = added_tokens(ctx->t) + ADDED_SIZE * (size_t)token;
        if (load_u32(entry) >= ctx->t->id_count || utf8_inside(f->text[start]) ||
            (stop < f->size && utf8_inside(f->text[stop])))
            return fail(ctx, TKX_E_CORRUPT), 0;
        flags = load_u32(entry + 12);
        if ((flags & TKX_ADDED_SPECIAL) && !is_allowed(ctx, token, f->text + start)) {
            go_on(f, ctx->t->flags & RESCAN_SPECIAL ? start + 1 : stop, stop);
            continue;
        }
        if ((flags & TKX_ADDED_SINGLE_WORD) && touches_word(f, start, stop)) {
            go_on(f, stop, start + 1);
            continue;
        }
        f->at = stop;
        if (flags & TKX_ADDED_LSTRIP) start = spaces_before(f, start);
        if (flags & TKX_ADDED_RSTRIP) stop = spaces_after(f, stop);
        if (ctx->code != TKX_OK) return 0;
        go_on(f, f->at, stop);
        /* a token of white space that RSTRIP of the previous token covers */
        if (start >= stop) continue;
        item->from = start;
        item->to = stop;
        item->id = load_u32(entry);
        if (f->done < start) {
            f->pending = *item;
            item->from = f->done;
            item->to = start;
            item->id = TKX_NONE;
        }
        f->done = stop;
        return 1;
    }
    item->from = f->done;
    item->to = f->size;
    f->done = f->size;
    return item->from < item->to;
}

#ifndef TKX_NO_OFFSETS
/* Whether trimming removes a character: white space, and U+0120, the space of GPT-2's alphabet. */
static int is_trimmed(tkx_context *ctx, const uint8_t *p) {
    return (added_class(ctx, p) & CLASS_SPACE) || utf8_decode(p) == 0x120;
}

static void put_added_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    const uint8_t *p;
    if (field(ctx->t->trims, 0)) {
        for (p = from; p < to && is_trimmed(ctx, p); p += utf8_length(*p)) leading++;
        for (p = to; p > from && is_trimmed(ctx, before(p)); p = before(p)) trailing++;
    }
    put_span(ctx, from, to, leading, trailing);
}
#endif

/* Emits an added token that covers these bytes of the current text. */
static void emit_added(tkx_context *ctx, uint32_t id, const uint8_t *from, const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (wants_spans(ctx)) put_added_span(ctx, from, to);
#endif
    (void)from, (void)to;
    ctx->carry = 0;
    emit(ctx, id);
}
/* ---- normalize.c: normal forms (3.3) --------------------------------------------------------- */
#ifndef TKX_NO_NORMALIZER
/* A three-level table; its leaves are u16 indexes of entries of 8 bytes. */
typedef struct tkx_entries {
    const uint8_t *top, *middle, *leaves, *entries;
    uint32_t middle_count, leaf_count, count;
} tkx_entries;

/* `counts`: the numbers of middle blocks, leaves and entries, as in the file. */
static tkx_entries entries_at(const uint8_t *top, const uint8_t *counts) {
    tkx_entries e = {.top = top, .middle = top + TOP_SIZE, .count = load_u32(counts + 8)};
    e.middle_count = load_u32(counts);
    e.leaf_count = load_u32(counts + 4);
    e.leaves = e.middle + 128 * (size_t)e.middle_count;
    e.entries = e.leaves + 128 * (size_t)e.leaf_count;
    return e;
}

/* The entry of a code point; NULL if an index is out of range (ctx->code is set). */
static TKX_INLINE const uint8_t *find_entry(tkx_context *ctx, const tkx_entries *e, uint32_t c) {
    const size_t leaf = find_leaf(e->top, e->middle, e->middle_count, e->leaf_count, c);
    const uint32_t entry = leaf < SIZE_MAX ? load_u16(e->leaves + 2 * leaf) : TKX_NONE;
    return entry < e->count ? e->entries + 8 * (size_t)entry : (fail(ctx, TKX_E_CORRUPT), NULL);
}

/* Writes the source of the byte at p for `count` bytes; returns where the alignment continues. */
static uint8_t *put_sources(const tkx_context *ctx, uint8_t *alignment, size_t count,
                            const uint8_t *p) {
    size_t from, to;
    find_source(ctx, p, p + 1, &from, &to);
    for (; count; count--, alignment += 8) {
        put_u32(alignment, (uint32_t)from);
        put_u32(alignment + 4, (uint32_t)to);
    }
    return alignment;
}

static int is_hangul(uint32_t c) { return c - 0xAC00 < 11172; }

/* The i-th jamo of a Hangul syllable; 0 if it has only two. */
static uint32_t hangul_letter(uint32_t c, int i) {
    c -= 0xAC00;
    if (i < 2) return i ? 0x1161 + c % 588 / 28 : 0x1100 + c / 588;
    return c % 28 ? 0x11A7 + c % 28 : 0;
}

/* The normalized text grows up from the bottom of the free work memory. Code points not yet written
   grow down from its top: the `marks` after `starter`, of combining class > 0, each with its class
   in the upper 8 bits; and below them the same room again, to sort them.

   For alignment, the first code point of each character's decomposition has a bit, TAKES; a
   composite counts the bits of its parts. A code point with n bits takes n characters of the
   source, in order, and its source is the first of them; with no bits, it is the last one taken. */
typedef struct tkx_normalizer {
    tkx_context *ctx;
    const tkx_op *op;
    tkx_entries table;
    int composes; /* NFC or NFKC */
    uint32_t point_count, composition_count;
    const uint8_t *points, *compositions;
    uint8_t *out;
    size_t used, room;
    uint32_t starter; /* TKX_NONE: none yet */
    uint32_t firsts;  /* the number of bits TAKES of the starter */
    size_t marks;
    /* where the sources of the next bytes are written, or NULL */
    uint8_t *alignment;
    const uint8_t *source, *source_end; /* the characters not yet taken */
    const uint8_t *taken;               /* the character taken last */
} tkx_normalizer;

enum { TAKES = 1 << 21, POINT_MASK = TAKES - 1 };

static void normalizer_start(tkx_normalizer *n, tkx_context *ctx, const tkx_op *op, uint8_t *out,
                             size_t room) {
    const uint8_t *data = op->table.data;
    *n = (tkx_normalizer){.ctx = ctx, .op = op, .out = out, .room = room, .starter = TKX_NONE};
    n->composes = load_u32(data) == NFC || load_u32(data) == NFKC;
    n->table = entries_at(data + FORM_HEADER, data + 4);
    n->point_count = load_u32(data + 16);
    n->composition_count = load_u32(data + 20);
    n->points = n->table.entries + 8 * (size_t)n->table.count;
    n->compositions = n->points + 4 * (size_t)n->point_count;
}

static uint8_t *mark_at(const tkx_normalizer *n, size_t i) {
    return n->out + n->room - 4 * (i + 1);
}

/* Whether there is room for `bytes` more of text and `marks` more code points. */
static int has_room(tkx_normalizer *n, size_t bytes, size_t marks) {
    size_t free = n->room - n->used;
    if (free / 8 > n->marks + marks && free - 8 * (n->marks + marks) >= bytes) return 1;
    return fail(n->ctx, TKX_E_WORK), 0;
}

/* Writes the source of a code point of `size` bytes that has `firsts` bits TAKES. */
static TKX_INLINE void align_point(tkx_normalizer *n, size_t size, uint32_t firsts) {
    if (TKX_LIKELY(n->alignment == NULL)) return;
    if (firsts) n->taken = n->source;
    n->alignment = put_sources(n->ctx, n->alignment, size, n->taken);
    for (; firsts && n->source < n->source_end; firsts--) {
        n->taken = n->source;
        n->source += utf8_length(*n->source);
    }
}

static void write_point(tkx_normalizer *n, uint32_t c, uint32_t firsts) {
    size_t size;
    if (!has_room(n, 4, 0)) return;
    size = utf8_encode(n->out + n->used, c);
    n->used += size;
    align_point(n, size, firsts);
}

/* Sorts the marks by class; stable, and in linear time, since a text may be a million marks. */
static void sort_marks(tkx_normalizer *n) {
    size_t i, j;
    if (n->marks <= 16) {
        for (i = 1; i < n->marks; i++) {
            uint32_t mark = get_u32(mark_at(n, i));
            for (j = i; j > 0 && get_u32(mark_at(n, j - 1)) >> 24 > mark >> 24; j--)
                put_u32(mark_at(n, j), get_u32(mark_at(n, j - 1)));
            put_u32(mark_at(n, j), mark);
        }
    } else {
        size_t first[256] = {0}, sum = 0;
        for (i = 0; i < n->marks; i++) first[get_u32(mark_at(n, i)) >> 24]++;
        for (i = 0; i < 256; i++) {
            size_t count = first[i];
            first[i] = sum;
            sum += count;
        }
        for (i = 0; i < n->marks; i++) {
            uint32_t mark = get_u32(mark_at(n, i));
            put_u32(mark_at(n, n->marks + first[mark >> 24]++), mark);
        }
        memmove(mark_at(n, n->marks - 1), mark_at(n, 2 * n->marks - 1), 4 * n->marks);
    }
}

/* Whether a number is a Unicode scalar value. */
static int is_scalar(uint32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

/* The composite of two code points, or TKX_NONE. */
static uint32_t composed(tkx_normalizer *n, uint32_t a, uint32_t b) {
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t low = 0, high = n->composition_count;
    if (a - 0x1100 < 19 && b - 0x1161 < 21) return 0xAC00 + ((a - 0x1100) * 21 + (b - 0x1161)) * 28;
    if (is_hangul(a) && (a - 0xAC00) % 28 == 0 && b - 0x11A8 < 27) return a + (b - 0x11A7);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *entry = n->compositions + 12 * (size_t)middle;
        uint64_t found = (uint64_t)load_u32(entry) << 32 | load_u32(entry + 4);
        if (found == key) {
            uint32_t c = load_u32(entry + 8);
            return is_scalar(c) ? c : (fail(n->ctx, TKX_E_CORRUPT), TKX_NONE);
        }
        if (found < key) low = middle + 1;
        else high = middle;
    }
    return TKX_NONE;
}

/* Sorts the marks, and composes the starter with all possible ones; the others remain. */
static void close_marks(tkx_normalizer *n) {
    size_t kept = 0, i;
    uint32_t last_class = 0;
    if (n->marks > 1) sort_marks(n);
    if (!n->composes || n->starter == TKX_NONE) return;
    for (i = 0; i < n->marks; i++) {
        uint32_t mark = get_u32(mark_at(n, i)), c = TKX_NONE;
        if (last_class < mark >> 24) c = composed(n, n->starter, mark & POINT_MASK);
        if (c != TKX_NONE) {
            n->starter = c;
            n->firsts += (mark & TAKES) != 0;
        } else {
            put_u32(mark_at(n, kept++), mark);
            last_class = mark >> 24;
        }
    }
    n->marks = kept;
}

/* Writes the starter and its marks, after close_marks. */
static void write_closed(tkx_normalizer *n) {
    size_t i, count = n->marks;
    if (n->starter != TKX_NONE) write_point(n, n->starter, n->firsts);
    /* the two ends cannot meet: each mark has 8 bytes of room, 4 of them unused, and needs at most
       4 */
    for (i = 0; i < count && n->ctx->code == TKX_OK; i++) {
        const uint32_t mark = get_u32(mark_at(n, i));
        const size_t size = utf8_encode(n->out + n->used, mark & POINT_MASK);
        n->used += size;
        align_point(n, size, (mark & TAKES) != 0);
    }
    n->starter = TKX_NONE;
    n->marks = 0;
}

/* Adds a code point of the decomposed text; `first`: TAKES or 0. */
static void add_point(tkx_normalizer *n, uint32_t c, uint32_t class_, uint32_t first) {
    uint32_t composite = TKX_NONE;
    if (class_ != 0) {
        if (has_room(n, 4, 1)) put_u32(mark_at(n, n->marks++), class_ << 24 | first | c);
        return;
    }
    close_marks(n);
    if (n->marks == 0 && n->starter != TKX_NONE && n->composes)
        composite = composed(n, n->starter, c);
    if (composite == TKX_NONE) {
        write_closed(n);
        composite = c;
        n->firsts = 0;
    }
    n->starter = composite;
    n->firsts += first != 0;
}

static void add_decomposed(tkx_normalizer *n, uint32_t c) {
    const uint8_t *entry = find_entry(n->ctx, &n->table, c);
    uint32_t start, length, i;
    if (is_hangul(c)) {
        add_point(n, hangul_letter(c, 0), 0, TAKES);
        add_point(n, hangul_letter(c, 1), 0, 0);
        if (hangul_letter(c, 2)) add_point(n, hangul_letter(c, 2), 0, 0);
        return;
    }
    if (!entry) return;
    start = load_u32(entry);
    length = entry[4];
    if (length == 0) add_point(n, c, entry[5], TAKES);
    else if (start > n->point_count || length > n->point_count - start) fail(n->ctx, TKX_E_CORRUPT);
    for (i = 0; i < length && n->ctx->code == TKX_OK; i++) {
        c = load_u32(n->points + 4 * ((size_t)start + i));
        entry = is_scalar(c) ? find_entry(n->ctx, &n->table, c) : NULL;
        if (entry) add_point(n, c, entry[5], i ? 0 : TAKES);
        else fail(n->ctx, TKX_E_CORRUPT);
    }
}

/* Skips stable code points: ASCII, and in the Python extension more. */
#ifndef TKX_SKIP_STABLE
#define TKX_SKIP_STABLE(n, p, end) skip_ascii(p, end)
#endif

/* Whether a code point is stable (check 0 and class 0), so that a text may be cut before it. */
static TKX_INLINE int is_stable(tkx_normalizer *n, uint32_t c) {
    const uint8_t *entry = find_entry(n->ctx, &n->table, c);
    return entry && !(entry[5] | entry[6]) && (n->composes || !is_hangul(c));
}

/* Whether the code point at p, not stable, is certainly unchanged if those before it are. */
static int stays(tkx_normalizer *n, const uint8_t *text, const uint8_t *p) {
    const uint32_t c = utf8_decode(p), left = p > text ? utf8_decode(before(p)) : 0;
    const uint8_t *entry = find_entry(n->ctx, &n->table, c),
                  *last = find_entry(n->ctx, &n->table, left);
    if (!entry || !last || entry[4] || is_hangul(c) || (entry[5] && entry[5] < last[5])) return 0;
    return !entry[6] || !(last[4] | last[5] || composed(n, left, c) != TKX_NONE);
}

/* Quick check from a stable code point on: `end`, or the last stable one before any change. */
static const uint8_t *skip_normalized(tkx_normalizer *n, const uint8_t *text, const uint8_t *end) {
    const uint8_t *p = text;
    while ((p = TKX_SKIP_STABLE(n, p, end)) < end) {
        if (!is_stable(n, utf8_decode(p)) && !stays(n, text, p)) break;
        p += utf8_length(*p);
    }
    while (p > text && p < end && !is_stable(n, utf8_decode(p))) p = before(p);
    return p;
}

/* Normalizes a text, whose part before p is unchanged; p comes from skip_normalized. */
static void normalize(tkx_normalizer *n, const uint8_t *text, const uint8_t *p,
                      const uint8_t *end) {
    n->source = n->taken = text;
    n->source_end = end;
    while (n->ctx->code == TKX_OK) {
        if (p > text && !has_room(n, (size_t)(p - text), 0)) return;
        memcpy(n->out + n->used, text, (size_t)(p - text));
        n->used += (size_t)(p - text);
        for (; n->alignment && text < p; text += utf8_length(*text))
            align_point(n, utf8_length(*text), 1);
        if (p == end) return;
        do {
            add_decomposed(n, utf8_decode(p));
            p += utf8_length(*p);
        } while (p < end && !is_stable(n, utf8_decode(p)));
        close_marks(n);
        write_closed(n);
        text = p;
        p = skip_normalized(n, p, end);
    }
}
#endif
/* ---- match.c: the end of a match (3.4) ------------------------------------------------------- */
/* The class of a non-ASCII character, directly from the payload bits of its bytes. */
static TKX_INLINE uint32_t class_of(const tkx_stage *s, const uint8_t *p, size_t *length) {
    size_t top = 0, middle, leaf;
    if (p[0] < 0xE0) {
        middle = p[0] & 31u;
        leaf = p[1] & 63u;
        *length = 2;
    } else if (p[0] < 0xF0) {
        top = p[0] & 15u;
        middle = p[1] & 63u;
        leaf = p[2] & 63u;
        *length = 3;
    } else {
        top = (p[0] & 7u) << 6 | (p[1] & 63u);
        middle = p[2] & 63u;
        leaf = p[3] & 63u;
        *length = 4;
    }
    top = load_u16(s->classes + ASCII_SIZE + 2 * top);
    middle = load_u16(s->middle + 2 * (64 * top + middle));
    return s->leaves[64 * middle + leaf];
}

/* The class of a symbol, and its length. */
static TKX_INLINE uint32_t symbol_class(const tkx_stage *s, const uint8_t *p, size_t *length) {
    *length = 1;
    return *p < 128 || (s->flags & ON_BYTES) ? s->classes[*p] : class_of(s, p, length);
}

/* The start state at `at`, which depends on the symbol before it. */
static uint32_t start_state(const tkx_stage *s, const uint8_t *begin, const uint8_t *at) {
    uint32_t class_ = s->class_count;
    size_t length;
    if (at > begin) class_ = symbol_class(s, s->flags & ON_BYTES ? at - 1 : before(at), &length);
    return load_u16(s->starts + 2 * class_);
}

/* The number of lower-case ASCII letters at the start of the 8 bytes at p. */
static TKX_INLINE unsigned leading_letters(const uint8_t *p) {
    uint64_t word = load_u64(p), low = word & ~HIGH_BITS;
    uint64_t letters =
        (low + (0x80 - 'a') * LOW_BITS) & ~(low + (0x7F - 'z') * LOW_BITS) & ~word & HIGH_BITS;
    return letters == HIGH_BITS ? 8 : lowest_bit(letters ^ HIGH_BITS) >> 3;
}

/* The end of the match at `at`; `at` if there is none. *stopped: where the automaton reached its
   dead state. Encoding prose spends half of its time here. */
static TKX_INLINE const uint8_t *find_end(const tkx_stage *s, const uint8_t *at, const uint8_t *end,
                                          uint32_t state, const uint8_t **stopped) {
    const uint8_t *p = at, *last = at, *classes = s->classes, *transitions = s->transitions;
    const uint32_t direct = s->flags & ON_BYTES ? 256 : 128;
    const unsigned shift = s->row_shift;
    const uint64_t loops = s->letter_loops;
    for (;;) {
        size_t length = 1;
        uint32_t t, class_;
        if (p == end) {
            if (load_u16(transitions + 2 * (((size_t)state << shift) + s->class_count)) & ACCEPT)
                last = p;
            break;
        }
        class_ = TKX_LIKELY(*p < direct) ? classes[*p] : class_of(s, p, &length);
        t = load_u16(transitions + 2 * (((size_t)state << shift) + class_));
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (state == 0) break;
        p += length;
        /* Eight letters that loop on one state cost as much as two steps. */
        if ((loops >> (state & 63) & 1) && end - p >= 8) {
            unsigned letters = leading_letters(p);
            if (letters && (s->letter_accepts >> state & 1)) last = p + letters - 1;
            p += letters;
        }
    }
    *stopped = p;
    return last;
}

/* The pairs (position, state) of 3.4 from which no match end is reached; prose never needs them.
   They are at the top of the work memory: a row for each MEMO_STEP bytes from `base` to `limit`,
   about the first symbol that begins there, with a bit for each of the states 1 to `states`. */
typedef struct tkx_memo {
    const uint8_t *base, *limit;
    size_t mark;     /* where the rows begin in the work memory */
    size_t room;     /* bytes reserved for them; 0: they grow above the memory in use */
    size_t budget;   /* bytes that may be read in vain until all states are memoized */
    uint32_t states; /* memo_count, or all */
    /* the start of the pre-token, and its labels, one per byte; NULL: the stage reads classes */
    const uint8_t *begin, *labels;
} tkx_memo;

/* How far an automaton may read past a match end before this is memoized, and how often it may read
   each byte in vain before all states are memoized, so that no file takes quadratic time. */
enum { FREE_READS = 32, VAIN_READS = 8 };

static void memo_start(tkx_memo *m, const tkx_stage *s, const uint8_t *begin, const uint8_t *end,
                       size_t mark) {
    *m = (tkx_memo){.base = begin, .limit = begin, .mark = mark, .begin = begin};
    m->budget = VAIN_READS * (size_t)(end - begin);
    m->states = s->memo_count;
}

/* The size of the rows up to a position. */
static uint64_t memo_size(const tkx_memo *m, const uint8_t *limit) {
    return memo_bytes(m->states, (uint64_t)(limit - m->base));
}

/* Whether a position has a row, after a symbol of `length` bytes. */
static int has_row(const tkx_memo *m, const uint8_t *p, size_t length, uint32_t state) {
    return (size_t)(p - m->base) % MEMO_STEP < length && state <= m->states;
}

static size_t memo_bit(const tkx_memo *m, const uint8_t *p, uint32_t state) {
    return (size_t)(p - m->base) / MEMO_STEP * m->states + (state - 1);
}

/* The transition of a state on the symbol at p. */
static uint32_t step(const tkx_stage *s, const tkx_memo *m, const uint8_t *p, const uint8_t *end,
                     uint32_t state, size_t *length) {
    uint32_t class_ = s->class_count;
    *length = 1;
    if (p < end) class_ = symbol_class(s, p, length);
    if (p < end && m->labels) class_ = m->labels[p - m->begin];
    return transition(s, state, class_);
}

static void encode_batch(tkx_context *ctx);

/* Frees the memory above `mark`, after encoding the pending pre-tokens, which may be in it. */
static void work_release(tkx_context *ctx, size_t mark) {
    if (ctx->memory_used == mark) return;
    encode_batch(ctx);
    ctx->memory_used = mark;
}

/* Like find_end, but stops where the memo knows that no match end follows. */
static TKX_NOINLINE const uint8_t *find_end_memo(tkx_context *ctx, const tkx_stage *s,
                                                 const tkx_memo *m, const uint8_t *at,
                                                 const uint8_t *end, uint32_t state,
                                                 const uint8_t **stopped) {
    const uint8_t *p = at, *last = at;
    size_t length = 0;
    while (state && !(p < m->limit && has_row(m, p, length, state) &&
                      bit_of(ctx->memory + m->mark, memo_bit(m, p, state)))) {
        uint32_t t = step(s, m, p, end, state, &length);
        if (t & ACCEPT) last = p;
        state = t & ~(uint32_t)ACCEPT;
        if (p == end) break;
        if (state) p += length;
    }
    *stopped = p;
    return last;
}

/* Repeats a match that has read on past its end, and memoizes the states after that end. */
static TKX_NOINLINE void memoize(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                 const uint8_t *at, const uint8_t *end, uint32_t state,
                                 const uint8_t *last, const uint8_t *stopped) {
    const size_t vain = (size_t)(stopped - last);
    const uint32_t all = s->state_count - 1u;
    const uint8_t *p = at;
    size_t length = 0, had;
    if (m->states < all && vain > m->budget) {
        m->states = all;
        m->limit = at;
    }
    m->budget -= smaller(vain, m->budget);
    if (m->states == 0) return;
    if (m->limit <= at) m->base = m->limit = at;
    had = (size_t)memo_size(m, m->limit);
    if (!m->room) work_release(ctx, m->mark + had);
    if (stopped >= m->limit) {
        const uint64_t more = memo_size(m, stopped + 1) - had;
        if (more && !m->room && !work_alloc(ctx, more)) {
            need_memory(ctx, m->mark + memo_size(m, end + 1));
            fail(ctx, TKX_E_WORK);
            return;
        }
        memset(ctx->memory + m->mark + had, 0, (size_t)more);
        m->limit = stopped + 1;
    }
    while (state && p <= stopped) {
        if (p > last && has_row(m, p, length, state)) {
            const size_t bit = memo_bit(m, p, state);
            ctx->memory[m->mark + (bit >> 3)] |= (uint8_t)(1u << (bit & 7));
        }
        if (p == end) break;
        state = step(s, m, p, end, state, &length) & ~(uint32_t)ACCEPT;
        p += length;
    }
}

/* The end of the match at `at`, in a pre-token up to `end`; `at` if there is none. */
static TKX_INLINE const uint8_t *match(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                       const uint8_t *at, const uint8_t *end) {
    uint32_t state = s->start_varies ? start_state(s, m->begin, at) : s->start;
    const uint8_t *stopped, *last;
    last = TKX_LIKELY(m->limit <= at) ? find_end(s, at, end, state, &stopped)
                                      : find_end_memo(ctx, s, m, at, end, state, &stopped);
    if (!TKX_LIKELY(stopped - last <= FREE_READS))
        memoize(ctx, s, m, at, end, state, last, stopped);
    return last;
}

static TKX_INLINE const uint8_t *next_symbol(const tkx_stage *s, const uint8_t *p) {
    return p + (s->flags & ON_BYTES ? 1 : utf8_length(*p));
}

/* The first position from `at` on where a match may begin. DeepSeek: twice as fast. */
static TKX_INLINE const uint8_t *skip_unmatched(const tkx_stage *s, const uint8_t *at,
                                                const uint8_t *end) {
    while (at < end && (s->no_match[*at >> 6] >> (*at & 63) & 1)) at += *at < 0xE0 ? 1 : 3;
    return at;
}
/* ---- match.c: labels, empty matches, search starts (3.4) ------------------------------------- */
/* The labels of a pre-token, one per byte, computed from its end. NULL: too little work memory. */
static TKX_NOINLINE const uint8_t *find_labels(tkx_context *ctx, const tkx_stage *s,
                                               const uint8_t *begin, const uint8_t *end) {
    const uint32_t direct = s->flags & ON_BYTES ? 256 : 128;
    uint8_t *labels = work_alloc(ctx, (uint64_t)(end - begin));
    const uint8_t *p = end;
    uint32_t state = 0;
    if (!labels) return fail(ctx, TKX_E_WORK), NULL;
    while (p > begin) {
        const uint8_t *last = p - 1;
        uint32_t class_, entry;
        size_t length;
        p = TKX_LIKELY(*last < direct) ? last : before(p);
        class_ = symbol_class(s, p, &length);
        entry = load_u32(s->labels + 4 * ((size_t)state * s->label_class_count + class_));
        state = entry >> 8;
        for (; last >= p; last--) labels[last - begin] = (uint8_t)(entry & 0xFF);
    }
    return labels;
}

/* Like skip_unmatched, for any stage. With labels, those that begin no match are skipped. */
static const uint8_t *skip_any(const tkx_stage *s, const tkx_memo *m, const uint8_t *at,
                               const uint8_t *end) {
    const uint8_t *label = m->labels;
    if (!is_general(s)) return skip_unmatched(s, at, end);
    if (!label) return at;
    for (label += at - m->begin;
         at < end && *label < 128 && (s->no_match[*label >> 6] >> (*label & 63) & 1); label++)
        at++;
    return at;
}

/* Like `match`, for a stage that is_general, in a search that began at `searched`. */
static TKX_NOINLINE const uint8_t *match_general(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                                 const uint8_t *searched, const uint8_t *at,
                                                 const uint8_t *end, int *empty) {
    const uint8_t *stopped, *last, *p = at;
    uint32_t class_ = s->class_count, state;
    size_t length;
    if (at > m->begin) {
        p = s->flags & ON_BYTES ? at - 1 : before(at);
        class_ = m->labels ? m->labels[p - m->begin] : symbol_class(s, p, &length);
    }
    if ((s->flags & SEARCH_STARTS) && at == searched) class_ += s->class_count + 1u;
    state = load_u16(s->starts + 2 * class_);
    last = find_end_memo(ctx, s, m, at, end, state, &stopped);
    *empty =
        (s->flags & EMPTY_MATCHES) && last == at && (step(s, m, at, end, state, &length) & ACCEPT);
    if (!TKX_LIKELY(stopped - last <= FREE_READS))
        memoize(ctx, s, m, at, end, state, last, stopped);
    return last;
}

/* Like `match`, for any stage. */
static TKX_INLINE const uint8_t *match_any(tkx_context *ctx, const tkx_stage *s, tkx_memo *m,
                                           const uint8_t *searched, const uint8_t *at,
                                           const uint8_t *end, int *empty) {
    *empty = 0;
    return is_general(s) ? match_general(ctx, s, m, searched, at, end, empty)
                         : match(ctx, s, m, at, end);
}
/* ---- rewrite_map.c: MAP and REPLACE (3.3) ---------------------------------------------------- */
#ifndef TKX_NO_NORMALIZER
/* An operation in progress. Its output has `room` bytes of free work memory. */
typedef struct tkx_rewriter {
    tkx_context *ctx;
    const tkx_op *op;
    const uint8_t *text, *end;
    uint8_t *out;
    size_t used, room;
    uint8_t *alignment; /* 8 bytes for each byte of the output, or NULL */
    int changed;        /* 0: the text is unchanged, and the output is not used */
    /* CHARSMAP: the end of the text copied so far; the characters of the text not yet taken; and
       the last character of the output, whose source is not final yet */
    const uint8_t *copied, *untaken;
    size_t last_size;  /* its size in bytes; 0 if there is none */
    size_t last_takes; /* the number of characters it takes */
    size_t aligned;    /* the bytes before it */
} tkx_rewriter;

/* This and write_bytes return ctx->code. */
static int write_unaligned(tkx_rewriter *w, const uint8_t *p, size_t size) {
    if (size > w->room - w->used) return fail(w->ctx, TKX_E_WORK);
    memcpy(w->out + w->used, p, size);
    w->used += size;
    return w->ctx->code;
}

/* Writes bytes whose source is the character at `source` of the text. */
static int write_bytes(tkx_rewriter *w, const uint8_t *p, size_t size, const uint8_t *source) {
    if (write_unaligned(w, p, size) == TKX_OK && w->alignment)
        put_sources(w->ctx, w->alignment + 8 * (w->used - size), size, source);
    return w->ctx->code;
}

/* Aligns the last `size` bytes of the output, a copy of those at p. */
static void align_copy(tkx_rewriter *w, const uint8_t *p, size_t size) {
    uint8_t *alignment = w->alignment ? w->alignment + 8 * (w->used - size) : NULL;
    for (; alignment && size; size--) alignment = put_sources(w->ctx, alignment, 1, p++);
}

/* Copies a part of the text. */
static void write_copy(tkx_rewriter *w, const uint8_t *p, size_t size) {
    if (write_unaligned(w, p, size) == TKX_OK) align_copy(w, p, size);
}

/* Skips characters from p on that a map does not change, ASCII only if `ascii`. *entry: the entry
   of the character it stops at, unless that is ASCII. */
static TKX_INLINE const uint8_t *map_skip(const tkx_rewriter *w, const tkx_entries *map,
                                          const uint8_t *p, int ascii, const uint8_t **entry) {
    const uint8_t *data = w->op->table.data, *direct = data + MAP_HEADER;
    const uint64_t skip_leads = load_u64(data + 16);
    *entry = NULL;
    while (p < w->end) {
        if (*p < 0x80) {
            if (!ascii || direct[*p] != *p) break;
            p++;
        } else {
            if (!(skip_leads >> (*p & 63) & 1) &&
                (*entry = find_entry(w->ctx, map, utf8_decode(p))) != map->entries)
                break;
            p += utf8_length(*p);
        }
    }
    return p;
}

/* Writes the jamo of the Hangul syllable at p. */
static int write_letters(tkx_rewriter *w, const uint8_t *p) {
    const uint32_t c = utf8_decode(p);
    uint8_t letters[9];
    size_t size;
    if (!is_hangul(c)) return fail(w->ctx, TKX_E_CORRUPT);
    size = utf8_encode(letters, hangul_letter(c, 0));
    size += utf8_encode(letters + size, hangul_letter(c, 1));
    if (hangul_letter(c, 2)) size += utf8_encode(letters + size, hangul_letter(c, 2));
    return write_bytes(w, letters, size, p);
}

/* MAP. */
static void run_map(tkx_rewriter *w) {
    const uint8_t *entry, *data = w->op->table.data, *direct = data + MAP_HEADER;
    const tkx_entries map = entries_at(direct + ASCII_SIZE, data);
    const uint8_t *texts = map.entries + 8 * (size_t)map.count,
                  *p = map_skip(w, &map, w->text, 1, &entry);
    const uint32_t text_size = load_u32(data + 12);
    if (p == w->end) return;
    w->changed = 1;
    write_copy(w, w->text, (size_t)(p - w->text));
    while (p < w->end && w->ctx->code == TKX_OK) {
        const uint8_t *kept;
        uint32_t start, before_size, after_size;
        size_t ascii = smaller((size_t)(w->end - p), w->room - w->used), i = 0;
        for (; i < ascii; i++) {
            uint8_t byte = p[i], becomes = byte < 0x80 ? direct[byte] : MAP_OTHER;
            if (becomes >= MAP_OTHER) break;
            w->out[w->used + i] = becomes;
        }
        w->used += i;
        align_copy(w, p, i);
        p += i;
        kept = map_skip(w, &map, p, 0, &entry);
        if (kept > p) {
            write_copy(w, p, (size_t)(kept - p));
            p = kept;
            if (p == w->end || *p < 0x80) continue;
        }
        if (p == w->end || w->ctx->code != TKX_OK) return;
        if (*p < 0x80) entry = find_entry(w->ctx, &map, *p);
        if (!entry) return;
        start = load_u32(entry);
        before_size = entry[4];
        after_size = entry[5];
        if (start > text_size || before_size + after_size > text_size - start ||
            utf8_valid(texts + start, before_size) != before_size ||
            utf8_valid(texts + start + before_size, after_size) != after_size) {
            fail(w->ctx, TKX_E_CORRUPT);
        } else {
            write_bytes(w, texts + start, before_size, p);
            if (entry[6] == MAP_LETTERS) write_letters(w, p);
            else if (entry[6]) write_copy(w, p, utf8_length(*p));
            write_bytes(w, texts + start + before_size, after_size, p);
        }
        p += utf8_length(*p);
    }
}

/* Writes bytes before the text, with an empty source where the source of the text begins. */
static void write_before(tkx_rewriter *w, const uint8_t *p, size_t size) {
    write_bytes(w, p, size, w->text);
    for (; w->ctx->code == TKX_OK && w->alignment && size; size--) {
        uint8_t *source = w->alignment + 8 * (w->used - size);
        memcpy(source + 4, source, 4);
    }
}

/* Starts the program of an operation, with its memo before the output. */
static int start_program(tkx_rewriter *w, tkx_memo *m) {
    const tkx_stage *s = &w->op->program;
    const uint64_t room = memo_bytes(s->state_count, (uint64_t)(w->end - w->text) + 1);
    tkx_context *ctx = w->ctx;
    memo_start(m, s, w->text, w->end, ctx->memory_used);
    m->room = (size_t)room;
    if (!work_alloc(ctx, room)) return fail(ctx, TKX_E_WORK), 0;
    w->out = ctx->memory + ctx->memory_used;
    w->room = ctx->memory_size - ctx->memory_used;
    return 1;
}

/* REPLACE. */
static void run_replace(tkx_rewriter *w) {
    const tkx_stage *s = &w->op->program;
    const tkx_span content = w->op->content;
    const uint8_t *at = w->text, *copied = w->text;
    tkx_context *ctx = w->ctx;
    const size_t mark = ctx->memory_used;
    tkx_memo m;
    if (!start_program(w, &m)) return;
    while ((at < w->end || (s->flags & EMPTY_MATCHES)) && ctx->code == TKX_OK) {
        int empty;
        const uint8_t *last = match_any(ctx, s, &m, copied, at, w->end, &empty);
        if (last == at && (!empty || (w->changed && at == copied))) {
            if (at == w->end) break;
            at = skip_any(s, &m, next_symbol(s, at), w->end);
            continue;
        }
        w->changed = 1;
        write_copy(w, copied, (size_t)(at - copied));
        if (last > w->text) write_bytes(w, content.data, content.size, last - 1);
        else write_before(w, content.data, content.size);
        at = copied = last;
    }
    if (w->changed) write_copy(w, copied, (size_t)(w->end - copied));
    ctx->memory_used = mark;
}
#endif
/* ---- rewrite_charsmap.c: CHARSMAP (3.3) ------------------------------------------------------ */
#ifndef TKX_NO_NORMALIZER
/* The alignment of CHARSMAP. Each character of the output takes characters of the text, in order;
   its source is the first of them or, if it takes none, the last one taken before. In a replacement
   each takes one while any are left. The last character written takes the remaining ones; at the
   start of the text none does, and all later spans are too far left, as in the reference. */

/* Writes the source of the last character. */
static void align_last(tkx_rewriter *w) {
    const uint8_t *source = w->untaken;
    if (!w->alignment || !w->last_size) return;
    if (!w->last_takes && source > w->text) source = before(source);
    put_sources(w->ctx, w->alignment + 8 * w->aligned, w->last_size, source);
    w->aligned += w->last_size;
    for (; w->last_takes && w->untaken < w->end; w->last_takes--)
        w->untaken += utf8_length(*w->untaken);
    w->last_size = 0;
}

/* Records the next character of the output, `size` bytes. */
static void align_character(tkx_rewriter *w, size_t size, size_t takes) {
    align_last(w);
    w->last_size = size;
    w->last_takes = takes;
}

/* Copies whole characters. */
static void copy_characters(tkx_rewriter *w, const uint8_t *from, const uint8_t *to) {
    write_unaligned(w, from, (size_t)(to - from));
    for (; w->alignment && from < to; from += utf8_length(*from))
        align_character(w, utf8_length(*from), 1);
}

/* Writes the replacement of the characters from p to `end`. */
static void write_replacement(tkx_rewriter *w, tkx_span becomes, const uint8_t *p,
                              const uint8_t *end) {
    size_t left = 0, i;
    if (w->ctx->code != TKX_OK) return;
    write_unaligned(w, becomes.data, becomes.size);
    if (!w->alignment || w->ctx->code != TKX_OK) return;
    for (; p < end; p += utf8_length(*p)) left++;
    for (i = 0; i < becomes.size; i += utf8_length(becomes.data[i])) {
        align_character(w, utf8_length(becomes.data[i]), left ? 1 : 0);
        if (left) left--;
    }
    if (w->last_size) w->last_takes += left;
}

/* Starts a scan for the protected contents of a CHARSMAP. */
static void scan_protected(tkx_scanner *f, tkx_context *ctx, const tkx_op *op, const uint8_t *text,
                           const uint8_t *end) {
    const uint8_t *data = op->table.data;
    scanner_init(f, ctx, data + CHARSMAP_HEADER + 4 * (size_t)load_u32(data), data + 4, text, end);
}

/* The offset of the replacement of the shortest or longest sequence at p, or TKX_NONE. */
static uint32_t charsmap_find(tkx_context *ctx, const tkx_op *op, const uint8_t *p,
                              const uint8_t *end, int longest, size_t *length) {
    uint32_t node = charsmap_offset(charsmap_unit(op, 0)), place = TKX_NONE;
    size_t i;
    for (i = 0; i < (size_t)(end - p) && p[i]; i++) {
        uint32_t unit = charsmap_unit(op, node ^ p[i]);
        if ((unit & TKX_DARTS_LABEL) != p[i]) break;
        /* no path is longer than the trie */
        if (i >= load_u32(op->table.data)) return fail(ctx, TKX_E_CORRUPT), TKX_NONE;
        node ^= p[i] ^ charsmap_offset(unit);
        if (!(unit & TKX_DARTS_LEAF)) continue;
        place = charsmap_unit(op, node) & TKX_DARTS_VALUE;
        *length = i + 1;
        if (!longest) break;
    }
    return place;
}

/* The replacement at an offset, up to a NUL. */
static tkx_span read_replacement(tkx_context *ctx, const tkx_op *op, uint32_t place) {
    const tkx_span table = op->table;
    uint32_t text_size = load_u32(table.data + 16);
    tkx_span found = {NULL, 0};
    if (place <= text_size) {
        found.data = table.data + (table.size - text_size) + place;
        while (found.size < text_size - place && found.data[found.size]) found.size++;
    }
    if (found.data && utf8_valid(found.data, found.size) == found.size) return found;
    fail(ctx, TKX_E_CORRUPT);
    return (tkx_span){NULL, 0};
}

/* The end of the part at p that is replaced as a unit, and its replacement, or itself if none. */
static TKX_INLINE const uint8_t *charsmap_part(tkx_scanner *f, const tkx_op *op, const uint8_t *p,
                                               tkx_span *becomes) {
    const uint8_t *end = f->text + f->size;
    uint32_t token, place;
    size_t length = f->node_count ? longest_content(f, (size_t)(p - f->text), &token) : 0;
    *becomes = (tkx_span){p, length ? length : utf8_length(*p)};
    if (!length) {
        place = charsmap_find(f->ctx, op, p, end, 1, &length);
        if (place == TKX_NONE) return p + becomes->size;
        *becomes = read_replacement(f->ctx, op, place);
    }
    if (length < (size_t)(end - p) && utf8_inside(p[length])) fail(f->ctx, TKX_E_CORRUPT);
    return p + length;
}

/* The Python extension skips bytes here that begin no sequence and no protected text. */
#ifndef TKX_SKIP_TO_SEQUENCE
#define TKX_SKIP_TO_SEQUENCE(op, p, end) (p)
#endif

/* Skips characters that a charsmap never changes: 1.5 to 1.8 times as fast in Chinese and Japanese.
   By cluster, the last one is not skipped, because a mark may follow it. */
static const uint8_t *charsmap_skip(const tkx_rewriter *w, const uint8_t *p) {
    const tkx_stage *s = &w->op->program;
    const int by_cluster = w->op->flags & BY_CLUSTER;
    const uint32_t first_plain = by_cluster ? load_u32(w->op->table.data + 20) : 0;
    const uint8_t *from = p, *last = p;
    for (;;) {
        size_t length;
        while (p < w->end && *p < 128 && (s->no_match[*p >> 6] >> (*p & 63) & 1)) last = p++;
        if (p == w->end || *p < 128) return p;
        if (!by_cluster || class_of(s, p, &length) < first_plain) break;
        last = p;
        p += length;
    }
    return by_cluster && p > from ? last : p;
}

/* Copies the characters before p, and replaces those from p to `end`. */
static void replace_part(tkx_rewriter *w, const uint8_t *p, const uint8_t *end, tkx_span becomes) {
    copy_characters(w, w->copied, p);
    write_replacement(w, becomes, p, end);
    w->changed = 1;
    w->copied = end;
}

/* The same by cluster, if the map has a replacement for a sequence at p; otherwise returns 0. */
static int replace_cluster(tkx_rewriter *w, const uint8_t *p, const uint8_t *end) {
    size_t length;
    const uint32_t place = charsmap_find(w->ctx, w->op, p, end, 0, &length);
    if (place != TKX_NONE) replace_part(w, p, end, read_replacement(w->ctx, w->op, place));
    return place != TKX_NONE;
}

/* CHARSMAP. */
static void run_charsmap(tkx_rewriter *w) {
    const tkx_op *op = w->op;
    const uint8_t *p = w->text, *stop;
    const size_t mark = w->ctx->memory_used;
    tkx_scanner f;
    tkx_memo m;
    if (!start_program(w, &m)) return;
    scan_protected(&f, w->ctx, op, p, w->end);
    for (; w->ctx->code == TKX_OK; p = stop) {
        p = TKX_SKIP_TO_SEQUENCE(op, f.node_count ? p : charsmap_skip(w, p), w->end);
        if (p == w->end) break;
        if (op->flags & BY_CLUSTER) {
            const size_t length = utf8_length(*p);
            stop = match(w->ctx, &op->program, &m, p, w->end);
            if (stop == p) stop += length;
            if (stop - p <= MAX_CLUSTER && replace_cluster(w, p, stop)) continue;
            /* character by character, unless the cluster is one character */
            if (stop > p + length)
                for (; p < stop; p += utf8_length(*p)) replace_cluster(w, p, p + utf8_length(*p));
        } else {
            tkx_span becomes;
            stop = charsmap_part(&f, op, p, &becomes);
            if (becomes.data != p) replace_part(w, p, stop, becomes);
        }
    }
    if (w->changed && w->ctx->code == TKX_OK) copy_characters(w, w->copied, w->end);
    align_last(w);
    w->ctx->memory_used = mark;
}
#endif
/* ---- rewrite.c: operations that rewrite a text (3.3) ----------------------------------------- */
#ifndef TKX_NO_NORMALIZER
/* AFFIX. `first`: the text begins at the start of the input. */
static void run_affix(tkx_rewriter *w, int first) {
    const tkx_span content = w->op->content;
    size_t size = (size_t)(w->end - w->text), from, to;
    find_source(w->ctx, w->text, w->text + 1, &from, &to);
    if ((w->op->flags & ONLY_FIRST) && !first) return;
    if ((w->op->flags & FIRST_SOURCE) && from != 0) return;
    if ((w->op->flags & UNLESS_PRESENT) && size >= content.size &&
        memcmp(w->text, content.data, content.size) == 0)
        return;
    w->changed = 1;
    if (!(w->op->flags & APPEND)) write_bytes(w, content.data, content.size, w->text);
    write_copy(w, w->text, size);
    if (w->op->flags & APPEND) write_bytes(w, content.data, content.size, w->end - 1);
}

/* The character of GPT-2's alphabet for a byte. */
static uint32_t byte_letter(uint8_t byte) {
    if (byte <= 0x20) return 0x100u + byte;
    if (byte >= 0x7F && byte <= 0xA0) return 0x100u + 0x21u + (byte - 0x7Fu);
    return byte == 0xAD ? 0x143u : byte;
}

/* BYTES. The source of a letter is the character that its byte is part of. */
static void run_bytes(tkx_rewriter *w) {
    const uint8_t *p = w->text, *character;
    while (p < w->end && byte_letter(*p) == *p && *p < 0x80) p++;
    if (p == w->end) return;
    w->changed = 1;
    write_copy(w, w->text, (size_t)(p - w->text));
    for (character = p; p < w->end && w->ctx->code == TKX_OK; p++) {
        uint8_t letter[4];
        const size_t size = utf8_encode(letter, byte_letter(*p));
        if (!utf8_inside(*p)) character = p;
        write_bytes(w, letter, size, character);
    }
}

/* FORM. */
static void run_form(tkx_rewriter *w) {
    tkx_normalizer n;
    const uint8_t *p;
    normalizer_start(&n, w->ctx, w->op, w->out, w->room);
    n.alignment = w->alignment;
    p = skip_normalized(&n, w->text, w->end);
    if (p == w->end || w->ctx->code != TKX_OK) return;
    normalize(&n, w->text, p, w->end);
    w->changed = 1;
    w->used = n.used;
}

/* Runs one operation. Output is in free work memory, sources of `aligned` bytes are at its end. */
static void run_op(tkx_rewriter *w, tkx_context *ctx, const tkx_op *op, int first,
                   const uint8_t *text, size_t size, size_t aligned) {
    const size_t memory_size = ctx->memory_size;
    *w = (tkx_rewriter){.ctx = ctx, .op = op, .text = text, .copied = text, .untaken = text};
    w->end = text + size;
    w->out = ctx->memory + ctx->memory_used;
    if (aligned > (memory_size - ctx->memory_used) / 8) {
        fail(ctx, TKX_E_WORK);
        return;
    }
    ctx->memory_size -= 8 * aligned;
    w->room = ctx->memory_size - ctx->memory_used;
    if (aligned) w->alignment = ctx->memory + ctx->memory_size;
    switch (op->kind) {
        case FORM: run_form(w); break;
        case MAP: run_map(w); break;
        case REPLACE: run_replace(w); break;
        case CHARSMAP: run_charsmap(w); break;
        case BYTES: run_bytes(w); break;
        default: run_affix(w, first); break;
    }
    ctx->memory_size = memory_size;
}

/* Runs operations on a text that is not empty. A changed text becomes the current text. */
static TKX_NOINLINE void rewrite(tkx_context *ctx, const tkx_op *op, uint32_t count,
                                 const uint8_t **text, size_t *size) {
    const size_t mark = ctx->memory_used, given = *size;
    const int first = *text == ctx->text.begin;
    const int in_stage = op >= ctx->t->ops + ctx->t->normalizer_count;
    const uint32_t source = source_bytes(ctx->t, wants_spans(ctx), in_stage);
    for (; count && *size && ctx->code == TKX_OK; count--, op++) {
        tkx_rewriter w;
        run_op(&w, ctx, op, first, *text, *size, 0);
        /* again, now that the number of sources is known */
        if (w.changed && w.used && source && ctx->code == TKX_OK)
            run_op(&w, ctx, op, first, *text, *size, w.used);
        if (!w.changed || ctx->code != TKX_OK) continue;
        memmove(ctx->memory + mark, w.out, w.used);
        ctx->memory_used = mark + w.used;
        if (w.alignment) {
            memmove(ctx->memory + ctx->memory_used, w.alignment, 8 * w.used);
            ctx->text.alignment = ctx->memory + ctx->memory_used;
            ctx->memory_used += 8 * w.used;
        }
        *text = ctx->text.base = ctx->memory + mark;
        *size = w.used;
        if (!in_stage) ctx->recent = NULL;
        ctx->text.limit = *text + w.used;
        if (first) ctx->text.begin = *text;
    }
    if (ctx->code == TKX_E_WORK) {
        /* an estimate, as most texts grow little; four times as much is reported */
        const int is_cut = ctx->t->crossings.data && !ctx->t->cuts_bytes && !wants_spans(ctx),
                  is_merged = (in_stage || !ctx->t->stage_count) && !is_cut;
        const uint64_t each = 1 + source + (is_merged ? (MERGE_BYTES + LENGTH_BYTES) / 2 : 0);
        need_memory(ctx, mark + each * (given + UINT64_C(64)));
    }
}
#endif
/* ---- align.c: alignment of a whole normalizer (annex A, ALGN) -------------------------------- */
#ifndef TKX_NO_OFFSETS
/* The alignment of a normalized text, in progress from left to right. */
typedef struct tkx_aligner {
    tkx_context *ctx;
    const uint8_t *input;
    tkx_scanner protected;
#ifndef TKX_NO_NORMALIZER
    const tkx_op *charsmap; /* or NULL */
#endif
    uint32_t flags;
    const uint8_t *text;
    /* the length of the text without a suffix, and the number of its bytes that have a source */
    size_t size, used;
    uint8_t *alignment;
    /* the start of the source of the first space dropped at the end, or NULL */
    const uint8_t *dropped;
} tkx_aligner;

/* The end of the characters at p that sentencepiece replaces as a unit, and their replacement. */
static const uint8_t *find_chunk(tkx_aligner *a, const uint8_t *p, tkx_span *becomes) {
    const size_t at = (size_t)(p - a->protected.text);
    uint32_t token;
#ifndef TKX_NO_NORMALIZER
    if (a->charsmap) return charsmap_part(&a->protected, a->charsmap, p, becomes);
#endif
    becomes->data = p;
    becomes->size = longest_content(&a->protected, at, &token);
    if (!becomes->size) becomes->size = utf8_length(*p);
    if (at + becomes->size < a->protected.size && utf8_inside(p[becomes->size]))
        fail(a->ctx, TKX_E_CORRUPT);
    return p + becomes->size;
}

/* Whether a character is a space, or U+2581, which marks one. */
static int is_space_or_mark(const uint8_t *p) { return *p == ' ' || utf8_decode(p) == 0x2581; }

/* Sets p as the start of the source of the next `size` bytes of the text. */
static void align_bytes(tkx_aligner *a, size_t size, const uint8_t *p) {
    for (; size; size--) put_u32(a->alignment + 8 * a->used++, (uint32_t)(p - a->input));
}

/* Matches a character of the rules with the next one of the text, or drops a space at its end. */
static void take_character(tkx_aligner *a, const uint8_t *character, const uint8_t *source) {
    const uint8_t *next = a->text + a->used;
    const int is_space = is_space_or_mark(character);
    if (a->used >= a->size) {
        if (!is_space || !(a->flags & ALIGN_COLLAPSE)) fail(a->ctx, TKX_E_CORRUPT);
        if (!a->dropped) a->dropped = source;
    } else if (utf8_decode(next) == utf8_decode(character) ||
               (is_space && is_space_or_mark(next))) {
        align_bytes(a, utf8_length(*next), source);
    } else {
        fail(a->ctx, TKX_E_CORRUPT);
    }
}

/* Follows the steps of sentencepiece's normalizer over the input. */
static void align_chunks(tkx_aligner *a) {
    static const uint8_t space[1] = {' '};
    const uint8_t *p = a->protected.text, *end = p + a->protected.size, *next;
    const int collapses = (a->flags & ALIGN_COLLAPSE) != 0;
    int after_space = collapses;
    tkx_span c;
    for (; collapses && p < end && a->ctx->code == TKX_OK; p = next) {
        next = find_chunk(a, p, &c);
        if (c.size != 1 || *c.data != ' ') break;
    }
    if (a->flags & ALIGN_PREFIX) take_character(a, space, p);
    for (; p < end && a->ctx->code == TKX_OK; p = next) {
        size_t i = 0;
        next = find_chunk(a, p, &c);
        while (after_space && i < c.size && c.data[i] == ' ') i++;
        if (i < c.size) after_space = collapses && c.data[c.size - 1] == ' ';
        for (; i < c.size && a->ctx->code == TKX_OK; i += utf8_length(c.data[i]))
            take_character(a, c.data + i, p);
    }
}

/* Aligns the result of a normalizer with its input, and makes it the current text. */
static TKX_NOINLINE void align_whole(tkx_context *ctx, const uint8_t *input, tkx_span given,
                                     const uint8_t *text, size_t size) {
    const tkx_span section = ctx->t->alignment;
    const uint8_t *after = text + size, *given_end = given.data + given.size;
    tkx_aligner a = {.ctx = ctx, .input = input, .flags = load_u32(section.data)};
    size_t i;
    if ((a.flags & ~(uint32_t)(ALIGN_PREFIX | ALIGN_SUFFIX | ALIGN_COLLAPSE)) ||
        load_u32(section.data + 12))
        fail(ctx, TKX_E_CORRUPT);
    if (ctx->code != TKX_OK) return;
    scanner_init(&a.protected, ctx, section.data + ALIGNMENT_HEADER, section.data + 4, given.data,
                 given_end);
#ifndef TKX_NO_NORMALIZER
    for (i = 0; i < ctx->t->normalizer_count && !a.charsmap; i++) {
        const tkx_op *op = &ctx->t->ops[i];
        if (op->kind != CHARSMAP || (op->flags & BY_CLUSTER)) continue;
        a.charsmap = op;
        scan_protected(&a.protected, ctx, op, given.data, given_end);
    }
#endif
    a.alignment = work_alloc(ctx, 8 * (uint64_t)size);
    if (!a.alignment) fail(ctx, TKX_E_WORK);
    if (ctx->code != TKX_OK) return;
    a.text = text;
    a.size = size;
    if (a.flags & ALIGN_SUFFIX) {
        after = before(after);
        a.size = (size_t)(after - text);
    }
    align_chunks(&a);
    if (ctx->code == TKX_OK && a.used != a.size) fail(ctx, TKX_E_CORRUPT);
    if (ctx->code != TKX_OK) return;
    if (!a.dropped) a.dropped = given_end;
    align_bytes(&a, size - a.size, a.dropped);
    /* The source of a byte ends where the source of the next byte begins. */
    for (i = 1; i < size; i++) put_u32(a.alignment + 8 * i - 4, get_u32(a.alignment + 8 * i));
    put_u32(a.alignment + 8 * size - 4, (uint32_t)(a.dropped - input));
    ctx->text.base = text;
    ctx->text.alignment = a.alignment;
}
#endif
/* ---- bpe_symbols.c: pairs, and first symbols (3.5) ------------------------------------------- */
/* The merged id of two ids, or TKX_NONE. */
static TKX_INLINE uint32_t find_merge(tkx_context *ctx, uint32_t left, uint32_t right) {
    const tkx *t = ctx->t;
    const size_t slot = pair_slot(t, left, right);
    const int is_there = slot != SIZE_MAX;
    const uint64_t pair =
        load_u64(t->pair_index.data + PAIR_INDEX_HEADER + 8 * (TKX_LIKELY(is_there) ? slot : 0));
    const uint32_t merged = (uint32_t)pair & MAX_IDS;
    if (is_there && pair >> 21 != ((uint64_t)left << 21 | right)) return TKX_NONE;
    if (TKX_LIKELY(is_there && merged < t->id_count)) return merged;
    return fail(ctx, TKX_E_CORRUPT), TKX_NONE;
}

/* The rank of a merged id; TKX_NONE for TKX_NONE. */
static TKX_INLINE uint32_t rank_of(const tkx *t, uint32_t merged) {
    return t->ranks.data && merged != TKX_NONE ? load_u32(t->ranks.data + 4 * (size_t)merged)
                                               : merged;
}

/* The token of a byte in BIDS, or TKX_NONE. */
static TKX_INLINE uint32_t byte_id(tkx_context *ctx, uint8_t byte) {
    const uint32_t id = load_u32(ctx->t->byte_ids.data + 4 * (size_t)byte);
    if (TKX_LIKELY(id < ctx->t->id_count)) return id;
    if (id != TKX_NONE) fail(ctx, TKX_E_CORRUPT);
    return TKX_NONE;
}

/* The length of a byte's letter in GPT-2's alphabet, the unit of byte-level spans. */
static TKX_INLINE uint32_t spelled_length(uint8_t byte) {
    return byte > 0x20 && byte < 0x7F ? 1 : 2;
}

/* Writes symbol i, and its length unless `lengths` is NULL. Returns i + 1. */
static TKX_INLINE size_t put_symbol(uint8_t *symbols, uint8_t *lengths, size_t i, uint32_t id,
                                    size_t length) {
    put_u32(symbols + 4 * i, id);
    if (lengths) put_u32(lengths + 4 * i, (uint32_t)length);
    return i + 1;
}

/* Writes the first symbols of a pre-token, at most `size`, and unless `lengths` is NULL their
   lengths as the reference library counts them. Returns their number. */
static TKX_INLINE size_t byte_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                      uint8_t *symbols, uint8_t *lengths) {
    const tkx *t = ctx->t;
    int was_unknown = 0;
    size_t count = 0, i;
    for (i = 0; i < size; i++) {
        uint32_t id = byte_id(ctx, bytes[i]), length = spelled_length(bytes[i]);
        if (TKX_LIKELY(id != TKX_NONE)) {
            was_unknown = 0;
        } else {
            if (t->flags & UNKNOWN_STOPS) fail(ctx, TKX_E_UNKNOWN_TEXT);
            if (ctx->code != TKX_OK) return 0;
            if (t->unknown_id == TKX_NONE) continue;
            id = t->unknown_id;
            if (was_unknown && (t->flags & FUSE_UNKNOWN)) {
                count--;
                if (lengths) length += get_u32(lengths + 4 * count);
            }
            was_unknown = 1;
        }
        count = put_symbol(symbols, lengths, count, id, length);
    }
    return count;
}

#ifndef TKX_NO_CHARACTERS
/* The symbol in CHRS of a unit (a character or a byte), or TKX_NONE. Places in the pre-token: 0
   first, 1 inner, 2 only, 3 last. */
static TKX_INLINE uint32_t unit_symbol(tkx_context *ctx, uint32_t unit, uint32_t place) {
    const tkx *t = ctx->t;
    const uint8_t *table = t->characters.data + CHARACTERS_HEADER;
    size_t id = TKX_NONE;
    if (t->place_count == 1) place = 0;
    if (load_u32(t->characters.data) == UNIT_BYTE) {
        id = load_u32(table + 4 * (256 * (size_t)place + unit));
    } else {
        const size_t middle_count = load_u32(t->characters.data + 8),
                     leaf_count = load_u32(t->characters.data + 12);
        const uint8_t *middle = table + TOP_SIZE * (size_t)t->place_count;
        const size_t leaf =
            find_leaf(table + TOP_SIZE * (size_t)place, middle, middle_count, leaf_count, unit);
        if (leaf == SIZE_MAX) fail(ctx, TKX_E_CORRUPT);
        else id = load_u32(middle + 128 * middle_count + 4 * leaf);
    }
    if (id >= t->id_count && id != TKX_NONE) fail(ctx, TKX_E_CORRUPT);
    return id < t->id_count ? (uint32_t)id : TKX_NONE;
}

/* Writes the tokens of the bytes of one character. Returns 0 if a byte has none. */
static size_t fallback_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                               uint8_t *symbols) {
    size_t i;
    for (i = 0; i < size; i++) {
        const uint32_t id = byte_id(ctx, bytes[i]);
        if (id == TKX_NONE) return 0;
        put_u32(symbols + 4 * i, id);
    }
    return size;
}

/* Like byte_symbols, for a file with CHRS. An unknown symbol is written only before the next known
   one, so that byte tokens of other characters precede it, as in the reference library. */
static TKX_NOINLINE size_t character_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                             uint8_t *symbols, uint8_t *lengths) {
    const tkx *t = ctx->t;
    const int of_bytes = load_u32(t->characters.data) == UNIT_BYTE;
    size_t pending = 0; /* the length of an unknown symbol not yet written; 0: none */
    size_t count = 0, i = 0, length, k;
    for (; i < size; i += length) {
        uint32_t id, place;
        size_t in_bytes, own;
        if (t->ascii_symbols && !pending && !lengths) {
            for (; i < size && bytes[i] < 128; i++) {
                id = load_u32(t->ascii_symbols + 4 * (size_t)bytes[i]);
                if (!TKX_LIKELY(id < t->id_count)) break;
                put_u32(symbols + 4 * count++, id);
            }
            if (i == size) break;
        }
        length = of_bytes ? 1 : utf8_length(bytes[i]);
        place = (i ? 1u : 0u) + (i + length == size ? 2u : 0u);
        id = unit_symbol(ctx, of_bytes ? bytes[i] : utf8_decode(bytes + i), place);
        own = of_bytes ? spelled_length(bytes[i]) : length;
        if (TKX_LIKELY(id != TKX_NONE)) {
            if (pending) count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
            pending = 0;
            count = put_symbol(symbols, lengths, count, id, own);
            continue;
        }
        in_bytes = of_bytes ? 0 : fallback_symbols(ctx, bytes + i, length, symbols + 4 * count);
        for (k = 0; lengths && k < in_bytes; k++) put_u32(lengths + 4 * (count + k), 1);
        count += in_bytes;
        if (in_bytes) continue;
        if (t->flags & UNKNOWN_STOPS) fail(ctx, TKX_E_UNKNOWN_TEXT);
        if (t->unknown_id == TKX_NONE) continue;
        if (pending && !(t->flags & FUSE_UNKNOWN)) {
            count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
            pending = 0;
        }
        pending += own;
    }
    if (pending) count = put_symbol(symbols, lengths, count, t->unknown_id, pending);
    return ctx->code == TKX_OK ? count : 0;
}
#endif

/* Writes the first symbols of a pre-token. Returns their number. */
static TKX_INLINE size_t first_symbols(tkx_context *ctx, const uint8_t *bytes, size_t size,
                                       uint8_t *symbols, uint8_t *lengths) {
#ifndef TKX_NO_CHARACTERS
    if (ctx->t->characters.data) return character_symbols(ctx, bytes, size, symbols, lengths);
#endif
    return byte_symbols(ctx, bytes, size, symbols, lengths);
}
/* ---- bpe_long.c: a queue of merges (3.5) ----------------------------------------------------- */
/* A queue of keys (rank << 32 | position). Stale keys remain in it until they are popped.

   The first keys are in a sorted array. Later keys go into a heap with four children per node,
   since most of them do not move far up. But while pairs of one rank are merged, new keys of higher
   ranks are pending: if there are many, as in a run of one character, they are sorted into the
   array, in linear time; otherwise they go into the heap. Three times as fast for a million `a`. */
typedef struct tkx_queue {
    /* room for `room` keys, and for 2 * room keys: pending keys grow down from its end */
    uint8_t *sorted, *heap;
    size_t room, next, count, size, pending;
    uint32_t rank; /* of the last key popped */
} tkx_queue;

/* Bits of a digit: more bits need more stack, and more time for few keys. */
enum { DIGIT = 8, DIGITS = 1 << DIGIT };

/* Radix sort, least significant digit first; digits that are equal in all keys are skipped. It is
   stable: positions that are in order, as with one id per rank, are not sorted. */
static void sort_keys(uint8_t *keys, uint8_t *other, size_t count) {
    uint32_t first[DIGITS];
    uint8_t *from = keys, *to = other;
    uint64_t bits = 0; /* the bits in which two keys differ */
    size_t i;
    unsigned shift;
    int in_order = 1;
    for (i = 1; i < count; i++) {
        const uint64_t before = get_u64(keys + 8 * i - 8), key = get_u64(keys + 8 * i);
        bits |= key ^ before;
        in_order &= (uint32_t)before <= (uint32_t)key;
    }
    if (in_order) bits &= ~(uint64_t)TKX_NONE;
    for (shift = 0; shift < 64; shift += DIGIT) {
        uint32_t sum = 0;
        uint8_t *swap = from;
        if (!(bits >> shift & (DIGITS - 1))) continue;
        memset(first, 0, sizeof first);
        for (i = 0; i < count; i++) first[get_u64(from + 8 * i) >> shift & (DIGITS - 1)]++;
        for (i = 0; i < DIGITS; i++) {
            const uint32_t here = first[i];
            first[i] = sum;
            sum += here;
        }
        for (i = 0; i < count; i++) {
            const uint64_t key = get_u64(from + 8 * i);
            put_u64(to + 8 * (size_t)first[key >> shift & (DIGITS - 1)]++, key);
        }
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, 8 * count);
}

static void heap_push(tkx_queue *q, uint64_t key) {
    size_t i = q->size++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        uint64_t above = get_u64(q->heap + 8 * parent);
        if (above <= key) break;
        put_u64(q->heap + 8 * i, above);
        i = parent;
    }
    put_u64(q->heap + 8 * i, key);
}

static void heap_pop(tkx_queue *q) {
    uint64_t key = get_u64(q->heap + 8 * --q->size);
    size_t i = 0;
    for (;;) {
        size_t child = 4 * i + 1, least = child, end = smaller(child + 4, q->size);
        uint64_t smallest;
        if (child >= q->size) break;
        smallest = get_u64(q->heap + 8 * child);
        for (child++; child < end; child++) {
            uint64_t other = get_u64(q->heap + 8 * child);
            least = other < smallest ? child : least;
            smallest = other < smallest ? other : smallest;
        }
        if (smallest >= key) break;
        put_u64(q->heap + 8 * i, smallest);
        i = least;
    }
    put_u64(q->heap + 8 * i, key);
}

/* The i-th pending key. Each merge adds at most two keys, and n symbols allow n - 1 merges, so that
   heap and pending keys fit into 2 * room. */
static uint8_t *pending_key(const tkx_queue *q, size_t i) {
    return q->heap + 8 * (2 * q->room - 1 - i);
}
/* ---- bpe_long.c: merging a long pre-token (3.5) ---------------------------------------------- */
/* Linked symbols in work memory: id, neighbours, and the merged id of a symbol and the next one. */
enum { SYMBOL = 16, SYMBOL_ID = 0, SYMBOL_PREVIOUS = 4, SYMBOL_NEXT = 8, SYMBOL_MERGED = 12 };

static TKX_INLINE uint32_t symbol(const uint8_t *symbols, size_t i, size_t offset) {
    return get_u32(symbols + SYMBOL * i + offset);
}

static TKX_INLINE void set_symbol(uint8_t *symbols, size_t i, size_t offset, uint32_t v) {
    put_u32(symbols + SYMBOL * i + offset, v);
}

/* Whether a key is not stale, because its pair still exists. */
static TKX_INLINE int key_is_valid(const tkx *t, const uint8_t *symbols, uint64_t key) {
    uint32_t merged = symbol(symbols, (uint32_t)key, SYMBOL_MERGED);
    return merged != TKX_NONE && rank_of(t, merged) == key >> 32;
}

/* Sorts the pending keys into the array; 0 if there is no room, or if they are too few. */
static int sort_pending(tkx_queue *q, const tkx *t, const uint8_t *symbols) {
    size_t left = q->count - q->next, i;
    if (q->pending < 64 || q->pending < left / 4 || left + q->pending > q->room ||
        left + q->pending > 2 * q->room - q->size)
        return 0;
    memmove(q->sorted, q->sorted + 8 * q->next, 8 * left);
    for (i = 0; i < q->pending; i++) {
        const uint64_t key = get_u64(pending_key(q, i));
        if (key_is_valid(t, symbols, key)) put_u64(q->sorted + 8 * left++, key);
    }
    q->next = 0;
    q->count = left;
    sort_keys(q->sorted, q->heap + 8 * q->size, left);
    return 1;
}

/* Queues the merge of symbols i and `next`, if there is one. `next` may be TKX_NONE. */
static TKX_INLINE void queue_pair(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, uint32_t i,
                                  uint32_t next) {
    const uint32_t id = symbol(symbols, i, SYMBOL_ID);
    const uint32_t merged =
        next == TKX_NONE ? TKX_NONE : find_merge(ctx, id, symbol(symbols, next, SYMBOL_ID));
    const uint64_t key = (uint64_t)rank_of(ctx->t, merged) << 32 | i;
    set_symbol(symbols, i, SYMBOL_MERGED, merged);
    if (merged == TKX_NONE) return;
    if (key >> 32 <= q->rank) heap_push(q, key);
    else put_u64(pending_key(q, q->pending++), key);
}

/* Removes the next key, which may be stale; returns 0 if there is none. */
static int queue_pop(tkx_queue *q, const tkx *t, const uint8_t *symbols, uint64_t *key) {
    for (;;) {
        uint64_t first = q->next < q->count ? get_u64(q->sorted + 8 * q->next) : UINT64_MAX;
        uint64_t top = q->size ? get_u64(q->heap) : UINT64_MAX;
        *key = first < top ? first : top;
        if (*key >> 32 > q->rank && q->pending) {
            /* last pending key first, because keys and heap grow towards each other and may meet */
            if (sort_pending(q, t, symbols)) q->pending = 0;
            while (q->pending) heap_push(q, get_u64(pending_key(q, --q->pending)));
            continue;
        }
        if (*key == UINT64_MAX) return 0;
        if (top < first) heap_pop(q);
        else q->next++;
        q->rank = (uint32_t)(*key >> 32);
        return 1;
    }
}

/* Merges symbol i with its right neighbour. */
static void merge_symbol(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, uint32_t i) {
    const uint32_t right = symbol(symbols, i, SYMBOL_NEXT),
                   left = symbol(symbols, i, SYMBOL_PREVIOUS);
    const uint32_t next = symbol(symbols, right, SYMBOL_NEXT);
    set_symbol(symbols, i, SYMBOL_ID, symbol(symbols, i, SYMBOL_MERGED));
    set_symbol(symbols, i, SYMBOL_NEXT, next);
    set_symbol(symbols, right, SYMBOL_MERGED, TKX_NONE);
    if (next != TKX_NONE) set_symbol(symbols, next, SYMBOL_PREVIOUS, i);
    if (left != TKX_NONE) queue_pair(ctx, q, symbols, left, i);
    queue_pair(ctx, q, symbols, i, next);
}

/* Builds the list and the first keys. A merged symbol keeps the position of its first part. */
static void list_symbols(tkx_context *ctx, tkx_queue *q, uint8_t *symbols, const uint8_t *given,
                         size_t count) {
    uint64_t largest = 0;
    int sorted = 1;
    uint32_t i;
    for (i = 0; i < count; i++) {
        const int has_next = i + 1 < count;
        const uint32_t id = get_u32(given + 4 * (size_t)i),
                       merged = has_next ? find_merge(ctx, id, get_u32(given + 4 * (size_t)i + 4))
                                         : TKX_NONE;
        set_symbol(symbols, i, SYMBOL_ID, id);
        set_symbol(symbols, i, SYMBOL_PREVIOUS, i - 1);
        set_symbol(symbols, i, SYMBOL_NEXT, has_next ? i + 1 : TKX_NONE);
        set_symbol(symbols, i, SYMBOL_MERGED, merged);
        if (merged != TKX_NONE) {
            const uint64_t key = (uint64_t)rank_of(ctx->t, merged) << 32 | i;
            sorted &= key >= largest;
            largest = key;
            put_u64(q->sorted + 8 * q->count++, key);
        }
    }
    if (!sorted) sort_keys(q->sorted, q->heap, q->count);
}

/* The contribution of a byte of a pre-token to the length of its symbol. */
static size_t unit_length(int of_characters, uint8_t byte) {
    return of_characters ? 1 : spelled_length(byte);
}

/* Emits the merged symbols with the bytes that they cover. Positions are sums of the lengths of
   first symbols from the start of the pre-token, so that after a character without a symbol all
   spans are too far left, as in the reference library. */
static void emit_symbols(tkx_context *ctx, const uint8_t *bytes, const uint8_t *symbols,
                         const uint8_t *lengths, size_t count) {
    const int of_characters =
        ctx->t->characters.data && load_u32(ctx->t->characters.data) == UNIT_CHARACTER;
    size_t at = 0, before = 0; /* a byte, and the length of the bytes before it */
    size_t length = 0;         /* of the symbols so far */
    size_t i, next;
    for (i = 0; i < count; i = next) {
        const uint32_t link = symbol(symbols, i, SYMBOL_NEXT);
        const uint8_t *from;
        size_t k;
        next = link == TKX_NONE ? count : link;
        while (before + unit_length(of_characters, bytes[at]) <= length)
            before += unit_length(of_characters, bytes[at++]);
        from = bytes + at;
        for (k = i; k < next; k++) length += get_u32(lengths + 4 * k);
        while (before + unit_length(of_characters, bytes[at]) < length)
            before += unit_length(of_characters, bytes[at++]);
        emit_token(ctx, symbol(symbols, i, SYMBOL_ID), from, bytes + at + 1);
    }
}

static TKX_NOINLINE void merge_long(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    size_t mark = ctx->memory_used, count;
    const int length_bytes = wants_spans(ctx) ? LENGTH_BYTES : 0;
    uint8_t *symbols = work_alloc(ctx, (uint64_t)(MERGE_BYTES + length_bytes) * size);
    uint8_t *lengths;
    tkx_queue q = {NULL, NULL, 0, 0, 0, 0, 0, 0};
    uint64_t key;
    uint32_t i;
    if (symbols && size >= TKX_NONE) fail(ctx, TKX_E_ARGUMENT);
    if (!symbols || size >= TKX_NONE) return;
    lengths = length_bytes ? symbols + MERGE_BYTES * size : NULL;
    /* one key for each symbol initially, and at most two for each merge: 8 + 16 bytes */
    q.sorted = symbols + SYMBOL * size;
    q.heap = q.sorted + 8 * size;
    q.room = size;
    count = first_symbols(ctx, bytes, size, q.heap, lengths);
    memmove(symbols + 12 * size, q.heap, 4 * count);
    list_symbols(ctx, &q, symbols, symbols + 12 * size, count);
    while (ctx->code == TKX_OK && queue_pop(&q, ctx->t, symbols, &key)) {
        if (key_is_valid(ctx->t, symbols, key)) merge_symbol(ctx, &q, symbols, (uint32_t)key);
    }
    if (lengths) {
        emit_symbols(ctx, bytes, symbols, lengths, count);
    } else {
        for (i = count ? 0 : TKX_NONE; i != TKX_NONE && ctx->code == TKX_OK;
             i = symbol(symbols, i, SYMBOL_NEXT))
            emit(ctx, symbol(symbols, i, SYMBOL_ID));
    }
    ctx->memory_used = mark;
}
/* ---- bpe_short.c: merging a short pre-token (3.5) -------------------------------------------- */
/* Up to this length, a pre-token is merged on the C stack, with a scan of all ranks for each merge.
   Longer ones use a queue in the work memory. From 32 bytes on the queue is no slower (Chinese,
   Japanese, Thai, random letters), but with 64, ordinary text needs no work memory. */
enum { SHORT_PRETOKEN = 64, SPARE = 4 };

/* The key of a pair of neighbours: its rank, then the position of the left symbol. */
static TKX_INLINE uint64_t short_key(const tkx *t, uint32_t merged, size_t place) {
    return merged == TKX_NONE ? UINT64_MAX : (uint64_t)rank_of(t, merged) << 6 | place;
}

/* The smallest of `count` keys, a multiple of four. Four independent minima avoid stalls. */
static TKX_INLINE uint64_t least_key(const uint64_t *keys, size_t count) {
    uint64_t a = keys[0], b = keys[1], c = keys[2], d = keys[3];
    size_t i;
    for (i = 4; i < count; i += 4) {
        a = keys[i] < a ? keys[i] : a;
        b = keys[i + 1] < b ? keys[i + 1] : b;
        c = keys[i + 2] < c ? keys[i + 2] : c;
        d = keys[i + 3] < d ? keys[i + 3] : d;
    }
    a = b < a ? b : a;
    c = d < c ? d : c;
    return c < a ? c : a;
}

/* Merges at most SHORT_PRETOKEN symbols, in each round the leftmost pair of the smallest rank.
   Returns the number of ids; `ids` has room for SPARE more. A symbol stays at the index of its
   first part: keys[i] and merged[i] belong to ids[i] and ids[next[i]]. The first symbol has no left
   neighbour; index `count` follows the last symbol, and merges with nothing. */
static TKX_NOINLINE size_t merge_symbols(tkx_context *ctx, uint32_t *ids, size_t count) {
    const tkx *t = ctx->t;
    uint64_t keys[SHORT_PRETOKEN + SPARE], least;
    uint32_t merged[SHORT_PRETOKEN];
    uint8_t previous[SHORT_PRETOKEN + 1], next[SHORT_PRETOKEN + 1];
    size_t i, left;
    const size_t padded = (count + 3) / 4 * 4;
    for (i = 0; i < count; i++) {
        merged[i] = i + 1 < count ? find_merge(ctx, ids[i], ids[i + 1]) : TKX_NONE;
        keys[i] = short_key(t, merged[i], i);
        previous[i + 1] = (uint8_t)i;
        next[i] = (uint8_t)(i + 1);
    }
    for (; i < padded || i < 4; i++) keys[i] = UINT64_MAX;
    for (least = least_key(keys, padded); least != UINT64_MAX;) {
        const size_t at = least & 63, gone = next[at], right = next[gone];
        left = at ? previous[at] : 0;
        ids[at] = merged[at];
        keys[left] = keys[at] = keys[gone] = UINT64_MAX;
        next[at] = (uint8_t)right;
        previous[right] = (uint8_t)at;
        least = least_key(keys, padded); /* now, since the lookups take longer */
        merged[at] = right < count ? find_merge(ctx, ids[at], ids[right]) : TKX_NONE;
        keys[at] = short_key(t, merged[at], at);
        if (left < at) {
            merged[left] = find_merge(ctx, ids[left], ids[at]);
            keys[left] = short_key(t, merged[left], left);
        }
        if (keys[at] < least) least = keys[at];
        if (keys[left] < least) least = keys[left];
    }
    for (i = 0, left = 0; i < count; i = next[i]) ids[left++] = ids[i];
    return left;
}
/* ---- bpe_short.c: cutting a pre-token of bytes before it is merged (annex B) ----------------- */
/* Appends at most SHORT_PRETOKEN ids of a pre-token. SPARE more can be read after them. */
static TKX_INLINE void emit_short(tkx_context *ctx, const uint32_t *ids, size_t count) {
    size_t i;
    if (TKX_LIKELY(ctx->capacity >= SHORT_PRETOKEN &&
                   ctx->count <= ctx->capacity - SHORT_PRETOKEN)) {
        /* Four at a time: the count is unpredictable. Ids past the end are padding. */
        for (i = 0; i < count; i += 4)
            TKX_COPY(ctx->ids + ctx->count + i, ids + i, 4 * sizeof *ids);
        ctx->count += count;
    } else {
        for (i = 0; i < count; i++) emit(ctx, ids[i]);
    }
}

/* Merges a part of the text: the `count` symbols in `ids`, or with 0 its bytes, at most
   SHORT_PRETOKEN. If the same part was merged recently, its ids are copied. */
static TKX_INLINE void merge_part(tkx_context *ctx, const uint8_t *p, size_t size, uint32_t *ids,
                                  size_t count) {
    /* text that a stage rewrites is not in the current text, and is overwritten later */
    const int stays = size <= SHORT_PRETOKEN && ctx->recent == ctx->text.base &&
                      ctx->t->op_count == ctx->t->normalizer_count,
              has_word = stays && ctx->text.limit - p >= 8;
    tkx_merged *m = &ctx->parts[hash_near(p, size, has_word) >> 57];
    size_t i;
    if (stays && m->size == size && same_bytes(ctx->recent + m->text, p, size, has_word)) {
        for (i = 0; i < m->count; i++) emit(ctx, ctx->ids[m->ids + i]);
        return;
    }
    if (!count) count = first_symbols(ctx, p, size, (uint8_t *)ids, NULL);
    count = merge_symbols(ctx, ids, count);
    emit_short(ctx, ids, count);
    if (stays && ctx->count <= smaller(ctx->capacity, TKX_NONE))
        *m = (tkx_merged){(uint32_t)(p - ctx->recent), (uint32_t)(ctx->count - count),
                          (uint8_t)size, (uint8_t)count};
}

/* The symbol that the bytes of a character merge to, or TKX_NONE, always for four bytes. Pairs are
   faster than TIDX, where each of four loads depends on the previous one. */
static TKX_INLINE uint32_t character_symbol(tkx_context *ctx, uint32_t code, const uint8_t *p,
                                            size_t length) {
    uint32_t *recent = ctx->characters[code % RECENT_CHARACTERS], a, b, c, ab, bc;
    if (recent[0] == code) return recent[1];
    a = byte_id(ctx, p[0]);
    b = byte_id(ctx, p[length > 1]);
    c = byte_id(ctx, p[length - 1]);
    recent[0] = code;
    recent[1] = length == 1 ? a : TKX_NONE;
    if (length < 2 || length > 3 || a == TKX_NONE || b == TKX_NONE || c == TKX_NONE)
        return recent[1];
    ab = find_merge(ctx, a, b);
    if (length == 2) return recent[1] = ab;
    bc = find_merge(ctx, b, c);
    if (rank_of(ctx->t, bc) < rank_of(ctx->t, ab)) recent[1] = find_merge(ctx, a, bc);
    else if (ab != TKX_NONE) recent[1] = find_merge(ctx, ab, c);
    return recent[1];
}

/* Whether a merge may cross a boundary, according to the map of XPRS after `skipped` bytes. */
static TKX_INLINE int may_cross(const tkx *t, size_t skipped, uint32_t left, uint32_t right) {
    const uint64_t h = (left * TKX_K0 ^ right) * TKX_K1;
    return bit_of(t->crossings.data + CROSSINGS_HEADER + skipped, (size_t)(h >> t->crossing_shift));
}

/* Merges each part of a pre-token between uncrossed boundaries separately. The pre-token begins
   with a whole character and is not a token. A part without a boundary in joined_ends is merged
   from its characters, one lookup each. `ids` has room for a short pre-token. */
static TKX_NOINLINE void merge_parts(tkx_context *ctx, const uint8_t *p, size_t size,
                                     uint32_t *ids) {
    const uint8_t *const joined_ends = ctx->t->crossings.data + CROSSINGS_HEADER;
    const uint8_t *const end = p + size, *at;
    for (; p < end && ctx->code == TKX_OK; p = at) {
        uint32_t left = 0, right;
        size_t count = 0, length;
        int of_bytes = 0; /* the part is merged from its bytes, not its characters */
        for (at = p; at < end; at += length, left = right) {
            length = utf8_length(*at);
            right = length > (size_t)(end - at) ? 0 : utf8_decode(at);
            if (at > p && (left | right) >= 128) {
                if (bit_of(joined_ends, 256 * (size_t)at[-1] + *at)) of_bytes = 1;
                else if (!may_cross(ctx->t, CROSSINGS_BYTES, left, right)) break;
            }
            of_bytes |= count == SHORT_PRETOKEN || length > (size_t)(end - at);
            if (of_bytes) continue;
            ids[count] = character_symbol(ctx, right, at, length);
            of_bytes = ids[count++] == TKX_NONE;
        }
        if (at > end) at = end;
        length = (size_t)(at - p);
        if (!of_bytes && count == 1) emit(ctx, ids[0]);
        else if (of_bytes && length > SHORT_PRETOKEN) merge_long(ctx, p, length);
        else merge_part(ctx, p, length, ids, of_bytes ? 0 : count);
    }
}
/* ---- trie_models.c: shared by Unigram, WordPiece, WordLevel and greedy models (3.6) ---------- */
#if !defined(TKX_NO_UNIGRAM) || !defined(TKX_NO_WORDPIECE) || !defined(TKX_NO_WORDLEVEL) ||        \
    !defined(TKX_NO_GREEDY)
#define TKX_HAS_TRIE

/* Emits the unknown token for the text from `from` to `to`. */
static void emit_unknown(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    if (ctx->t->unknown_id == TKX_NONE) fail(ctx, TKX_E_UNKNOWN_TEXT);
    else emit_token(ctx, ctx->t->unknown_id, from, to);
}
#endif
/* ---- trie_models.c: WordPiece (3.6) ---------------------------------------------------------- */
#ifndef TKX_NO_WORDPIECE
static size_t count_characters(const uint8_t *bytes, size_t size) {
    size_t count = 0, i;
    for (i = 0; i < size; i++) count += !utf8_inside(bytes[i]);
    return count;
}

static void encode_wordpiece(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const tkx *t = ctx->t;
    const uint8_t *at = bytes, *end = bytes + size;
    const size_t before = ctx->count;
    uint32_t base = t->trie_root, id = 0;
    int is_known =
        size <= t->trie_characters || count_characters(bytes, size) <= t->trie_characters;
    while (is_known && at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, base, at, end, &id, &ctx->code);
        is_known = last > at;
        if (is_known) emit_token(ctx, id, at, last);
        at = last;
        base = t->trie_continuation;
    }
    if (is_known) return;
    ctx->count = before; /* a part that is not found makes the whole word unknown */
    emit_unknown(ctx, bytes, end);
}
#endif
/* ---- trie_models.c: WordLevel (3.6) ---------------------------------------------------------- */
#ifndef TKX_NO_WORDLEVEL
static void encode_word(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const int goes_on = ctx->carry > 0;
    uint32_t id;
    int found = token_in_trie(ctx->t, bytes, size, &id);
    ctx->carry = found == TKX_E_NOT_FOUND && (ctx->t->flags & FUSE_UNKNOWN);
    if (found == TKX_OK) {
        emit_token(ctx, id, bytes, bytes + size);
    } else if (found == TKX_E_CORRUPT) {
        fail(ctx, found);
    } else if (!goes_on) {
        emit_unknown(ctx, bytes, bytes + size);
#ifndef TKX_NO_OFFSETS
    } else if (wants_spans(ctx) && ctx->count) {
        extend_span(ctx, bytes, bytes + size);
#endif
    }
}
#endif
/* ---- trie_models.c: greedy (3.6) ------------------------------------------------------------- */
#ifndef TKX_NO_GREEDY
static void encode_greedy(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint32_t id = 0;
    while (at < end && ctx->code == TKX_OK) {
        const uint8_t *last = longest_token(ctx->t, ctx->t->trie_root, at, end, &id, &ctx->code);
        if (last > at) {
            emit_token(ctx, id, at, last);
            at = last;
        } else {
            emit_unknown(ctx, at, at + 1);
            at++;
        }
    }
}
#endif
/* ---- trie_models.c: Unigram (3.6) ------------------------------------------------------------ */
#ifndef TKX_NO_UNIGRAM
#include <float.h>

/* The ids depend on the last bit of sums: each sum of two doubles must be rounded immediately.
   There are only additions and comparisons, so that nothing can be contracted, and sums of floats
   may be computed as doubles. FLT_EVAL_METHOD is 0, 1, or a width, such as 16 with AVX512-FP16. */
#if defined(FLT_EVAL_METHOD) &&                                                                    \
    (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD > 64)
#error "Unigram needs doubles that are rounded after each addition: -mfpmath=sse or TKX_NO_UNIGRAM"
#endif
typedef char tkx_unigram_needs_64_bit_doubles[sizeof(double) == 8 ? 1 : -1];

/* The best path to a position, in work memory: f64 sum of scores, u32 length and u32 id of its last
   token. Length 0: no path found. The paths of FEW_PATHS positions are on the stack. */
enum { PATH_LENGTH = 8, PATH_ID = 12, FEW_PATHS = 64 };

/* A pre-token being encoded. All paths pass through `from`; ids up to there have been emitted. */
typedef struct tkx_unigram {
    tkx_context *ctx;
    const uint8_t *from, *end;
    const uint8_t *unknown; /* where pending unknown text begins, or NULL */
    double sum;     /* at `from`, since the start of the pre-token, or with `single` the carry */
    uint8_t *paths; /* room + 1 paths */
    size_t room;
} tkx_unigram;

static TKX_INLINE double path_sum(const uint8_t *path) {
    double v;
    TKX_COPY(&v, path, 8);
    return v;
}

static TKX_INLINE uint32_t path_length(const uint8_t *path) { return get_u32(path + PATH_LENGTH); }
static TKX_INLINE uint32_t path_id(const uint8_t *path) { return get_u32(path + PATH_ID); }

static TKX_INLINE void put_path(uint8_t *path, double sum, size_t length, uint32_t id) {
    TKX_COPY(path, &sum, 8);
    put_u32(path + PATH_LENGTH, (uint32_t)length);
    put_u32(path + PATH_ID, id);
}

static TKX_INLINE double rounded(double s, int single) { return single ? (double)(float)s : s; }

/* Emits pending unknown text, up to `to`. */
static void emit_unknown_text(tkx_unigram *u, const uint8_t *to) {
    tkx_context *ctx = u->ctx;
    const tkx *t = ctx->t;
    const uint8_t *from = u->unknown, *p;
    uint32_t id;
    int found = TKX_E_NOT_FOUND;
    if (!from) return;
    u->unknown = NULL;
    if (!(t->trie_flags & SINGLE_PRECISION))
        found = token_in_trie(t, from, (size_t)(to - from), &id);
    if (found == TKX_E_CORRUPT) fail(ctx, found);
    for (p = from; found != TKX_OK && t->byte_ids.data && p < to; p++)
        if (byte_id(ctx, *p) == TKX_NONE) break;
    if (found == TKX_OK) {
        emit_token(ctx, id, from, to);
    } else if (p < to) {
        emit_unknown(ctx, from, to);
    } else {
        for (p = from; p < to; p++) {
            /* in sentencepiece, the last byte of a character has the span of the character */
            const int apart = t->alignment.data != NULL;
            emit_token(ctx, byte_id(ctx, *p), apart ? p : from, apart ? p + 1 : to);
        }
    }
}

/* Emits the best path to the position `size` bytes after `from`. */
static void emit_path(tkx_unigram *u, size_t size) {
    uint8_t *path = u->paths + PATH * size;
    uint32_t length = path_length(path), id = path_id(path);
    size_t at;
    /* reverse the path, so that each position has the token that begins there */
    while (path > u->paths) {
        uint32_t length_before, id_before;
        path -= PATH * (size_t)length;
        length_before = path_length(path);
        id_before = path_id(path);
        put_u32(path + PATH_LENGTH, length);
        put_u32(path + PATH_ID, id);
        length = length_before;
        id = id_before;
    }
    for (at = 0; at < size; at += length) {
        const uint8_t *p = u->from + at;
        length = path_length(u->paths + PATH * at);
        id = path_id(u->paths + PATH * at);
        if (id == u->ctx->t->unknown_id) {
            if (!u->unknown) u->unknown = p;
        } else {
            emit_unknown_text(u, p);
            emit_token(u->ctx, id, p, p + length);
        }
    }
}

/* Records a path to a position, if its sum is larger than before. 0: there is no room for it. */
static TKX_INLINE int add_path(tkx_unigram *u, size_t *reach, size_t to, double sum, size_t length,
                               uint32_t id) {
    uint8_t *path;
    if (to > u->room) return 0;
    path = u->paths + PATH * to;
    if (to <= *reach && path_length(path) && !(sum > path_sum(path))) return 1;
    while (*reach < to) put_u32(u->paths + PATH * ++*reach + PATH_LENGTH, 0);
    put_path(path, sum, length, id);
    return 1;
}

/* Like sentencepiece, subtract a sum beyond this from all sums in use. */
#define TKX_LARGEST_SUM 100000.0

static TKX_NOINLINE double reset_sums(tkx_unigram *u, size_t at, size_t reach, double sum) {
    size_t i;
    for (i = at; i <= reach; i++) {
        uint8_t *path = u->paths + PATH * i;
        double rest = rounded(path_sum(path) - sum, 1);
        if (i == at || path_length(path)) TKX_COPY(path, &rest, 8);
    }
    return 0;
}

/* Finds the best path from `from` to the end of the pre-token. At a position that no token crosses,
   the path so far is emitted, and `from` moves there. 0: there is no room for a path. */
static TKX_INLINE int find_paths(tkx_unigram *u, int single) {
    tkx_context *ctx = u->ctx;
    const tkx *t = ctx->t;
    const double unknown = load_double(t->trie.data + 16);
    const uint32_t id_count = t->id_count, root = t->trie_root;
    size_t at = 0, reach = 0;
    put_path(u->paths, u->sum, 0, 0);
    while (u->from + at < u->end) {
        const uint8_t *start = u->from + at, *p = start, *deepest = trie_reach(t, p, u->end);
        const size_t character = utf8_length(*start);
        double sum = path_sum(u->paths + PATH * at);
        uint32_t base = root;
        int is_covered = 0;
        if (single && (sum < -TKX_LARGEST_SUM || sum > TKX_LARGEST_SUM))
            sum = reset_sums(u, at, reach, sum);
        do {
            uint64_t unit = trie_child(t, base, *p);
            uint32_t id = id_of(unit);
            if (label_of(unit) != *p) {
                if (!TKX_LIKELY(label_of(unit) <= 256)) fail(ctx, TKX_E_CORRUPT);
                break;
            }
            p++;
            base = base_of(unit);
            if (id == MAX_IDS) continue;
            if (!TKX_LIKELY(id < id_count)) return fail(ctx, TKX_E_CORRUPT), 1;
            if ((size_t)(p - start) == character) is_covered = 1;
            if (!add_path(u, &reach, (size_t)(p - u->from), rounded(score_of(t, id) + sum, single),
                          (size_t)(p - start), id))
                return 0;
        } while (p < deepest);
        if (!TKX_LIKELY((size_t)(p - start) <= t->trie_depth)) fail(ctx, TKX_E_CORRUPT);
        if (!is_covered) {
            if (!add_path(u, &reach, at + character, rounded(unknown + sum, single), character,
                          t->unknown_id))
                return 0;
            /* without an unknown token the reference stops here, even if a better path exists */
            if (path_id(u->paths + PATH * (at + character)) == TKX_NONE)
                fail(ctx, TKX_E_UNKNOWN_TEXT);
        }
        if (ctx->code != TKX_OK) return 1;
        at += character;
        if (at == reach) {
            u->sum = path_sum(u->paths + PATH * at);
            emit_path(u, at);
            u->from += at;
            put_path(u->paths, u->sum, 0, 0);
            at = reach = 0;
        }
    }
    return 1;
}

static void encode_unigram(tkx_context *ctx, const uint8_t *bytes, size_t size) {
    uint8_t few[PATH * (FEW_PATHS + 1)];
    const size_t mark = ctx->memory_used;
    const int single = ctx->t->trie_flags & SINGLE_PRECISION;
    tkx_unigram u = {ctx, bytes, bytes + size, NULL, ctx->carry, few, FEW_PATHS};
    while (!(single ? find_paths(&u, 1) : find_paths(&u, 0))) {
        /* eight times the room on each retry, so that little work is repeated */
        size_t rest = (size_t)(u.end - u.from);
        u.room = smaller(rest, 8 * u.room);
        ctx->memory_used = mark;
        u.paths = work_alloc(ctx, (uint64_t)PATH * ((uint64_t)u.room + 1));
        if (!u.paths) {
            need_memory(ctx, mark + (uint64_t)PATH * ((uint64_t)rest + 1));
            return;
        }
    }
    if (ctx->code == TKX_OK) emit_unknown_text(&u, u.end);
    if (single) ctx->carry = u.sum;
    ctx->memory_used = mark;
}
#endif
/* ---- cache.c: the word cache ----------------------------------------------------------------- */
/* Sets of 64 bytes, one cache line: two small entries of at most 15 bytes and 4 ids each, or one
   large entry of at most 30 bytes and 8 ids:

       small: key[0] key[1] ids[4]      large: key[0] key[1] key[2] key[3] ids[8]

   key[0] and key[1] are the first 15 bytes, padded with zeros, and a byte with the size. The
   upper 4 bits of the first id are the number of ids; so the third word is never 0 in a small
   entry, and always in a large one of at most 15 bytes. A new small entry is stored second; a
   hit there swaps the two, so that rare words replace rare ones. */
enum { SMALL_BYTES = 15, LARGE_BYTES = 30, SMALL_IDS = 4, LARGE_IDS = 8, COUNT_SHIFT = 28 };
enum { SMALL_ENTRY = 32, SET = 64 };

/* Loads at most 15 bytes as two words padded with zeros. */
static TKX_INLINE void load_key(const tkx_context *ctx, const uint8_t *p, size_t size,
                                uint64_t key[2]) {
    static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *mask = ones + 16 - size; /* `size` ones, then zeros */
    uint8_t end_of_text[16] = {0};
    if (!TKX_LIKELY(ctx->text.limit - p >= 16)) {
        memcpy(end_of_text, p, size);
        p = end_of_text;
    }
    key[0] = load_u64(p) & load_u64(mask);
    key[1] = load_u64(p + 8) & load_u64(mask + 8);
}

/* Starts a pending pre-token, or a word of the first stage: finds and prefetches its set. */
static TKX_INLINE void start_pending(tkx_context *ctx, tkx_pending *w, const uint8_t *p,
                                     size_t size) {
    const uint64_t last = (uint64_t)size << 56;
    uint64_t h;
    w->p = p;
    w->size = size;
    w->set = NULL;
    if (!ctx->cache || !TKX_LIKELY(size <= LARGE_BYTES)) return;
    if (TKX_LIKELY(size <= SMALL_BYTES)) {
        load_key(ctx, p, size, w->key);
        w->key[1] |= last;
        h = w->key[0] ^ w->key[1] * TKX_K0;
    } else {
        load_key(ctx, p, SMALL_BYTES, w->key);
        load_key(ctx, p + SMALL_BYTES, size - SMALL_BYTES, w->key + 2);
        w->key[1] |= last;
        h = w->key[0] ^ w->key[1] * TKX_K0 ^ w->key[2] * TKX_K2 ^ w->key[3] * TKX_K3;
    }
    w->set = ctx->cache + SET * (size_t)(h * TKX_K1 >> ctx->cache_shift);
    TKX_PREFETCH(w->set);
}

static TKX_INLINE int has_words(const uint8_t *entry, const uint64_t key[2]) {
    return get_u64(entry) == key[0] && get_u64(entry + 8) == key[1];
}

/* The entry of a pre-token whose set is known, or NULL. */
static TKX_INLINE const uint8_t *cache_find(const tkx_pending *w) {
    if (TKX_LIKELY(has_words(w->set, w->key)))
        return TKX_LIKELY(w->size <= SMALL_BYTES) || has_words(w->set + 16, w->key + 2) ? w->set
                                                                                        : NULL;
    return has_words(w->set + SMALL_ENTRY, w->key) ? w->set + SMALL_ENTRY : NULL;
}

/* Whether an entry of a pre-token is large. */
static TKX_INLINE int is_large(const uint8_t *entry, size_t size) {
    return size > SMALL_BYTES || get_u32(entry + 16) >> COUNT_SHIFT == 0;
}

/* Stores the ids after the first `before`, of a pre-token or word, unless some are missing. */
static void cache_emitted(const tkx_context *ctx, const tkx_pending *w, size_t before) {
    const size_t count = ctx->count - before;
    const int large = w->size > SMALL_BYTES || count > SMALL_IDS;
    size_t old_size, i;
    int was_large;
    uint8_t *entry, *at;
    if (!w->set || ctx->code != TKX_OK || count < 1 || count > LARGE_IDS ||
        ctx->count > ctx->capacity || ctx->memory_needed)
        return;
    old_size = (size_t)(get_u64(w->set + 8) >> 56);
    was_large = old_size && is_large(w->set, old_size);
    entry = large || was_large ? w->set : w->set + SMALL_ENTRY;
    at = entry + (large ? 32 : 16);
    if (large || was_large) memset(w->set, 0, SET);
    put_u64(entry, w->key[0]);
    put_u64(entry + 8, w->key[1]);
    if (w->size > SMALL_BYTES) {
        put_u64(entry + 16, w->key[2]);
        put_u64(entry + 24, w->key[3]);
    }
    for (i = 0; i < (large ? LARGE_IDS : SMALL_IDS); i++)
        put_u32(at + 4 * i, i < count ? ctx->ids[before + i] : 0);
    put_u32(at, ctx->ids[before] | (uint32_t)count << COUNT_SHIFT);
}

static TKX_INLINE void cache_emit(tkx_context *ctx, tkx_pending *w, const uint8_t *entry) {
    const uint8_t *ids = entry + (is_large(entry, w->size) ? 32 : 16);
    uint32_t first = get_u32(ids);
    size_t count = smaller(first >> COUNT_SHIFT, LARGE_IDS), i;
    if (TKX_LIKELY(count <= SMALL_IDS && ctx->capacity >= SMALL_IDS &&
                   ctx->count <= ctx->capacity - SMALL_IDS)) {
        /* Always four ids, without a branch, because the count is unpredictable. */
        TKX_COPY(ctx->ids + ctx->count, ids, 16);
        ctx->ids[ctx->count] = first & MAX_IDS;
        ctx->count += count;
    } else {
        emit(ctx, first & MAX_IDS);
        for (i = 1; i < count; i++) emit(ctx, get_u32(ids + 4 * i));
    }
    if (entry != w->set) {
        uint8_t other[SMALL_ENTRY];
        TKX_COPY(other, entry, SMALL_ENTRY);
        TKX_COPY(w->set + SMALL_ENTRY, w->set, SMALL_ENTRY);
        TKX_COPY(w->set, other, SMALL_ENTRY);
    }
}
/* ---- batch.c: pending pre-tokens ------------------------------------------------------------- */
#ifdef TKX_HAS_TRIE
/* Encodes a pre-token that is not cached, with a model other than BPE. */
static void encode_by_trie(tkx_context *ctx, const tkx_pending *w) {
    const size_t before = ctx->count;
    if ((ctx->t->trie_flags & ~(uint32_t)TRIE_FLAGS) || ctx->t->trie_reserved ||
        (ctx->t->trie_flags & SINGLE_PRECISION && ctx->t->stage_count))
        fail(ctx, TKX_E_CORRUPT);
    switch (ctx->code == TKX_OK ? ctx->t->model : 0) {
#ifndef TKX_NO_UNIGRAM
        case MODEL_UNIGRAM: encode_unigram(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDPIECE
        case MODEL_WORDPIECE: encode_wordpiece(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_WORDLEVEL
        case MODEL_WORDLEVEL: encode_word(ctx, w->p, w->size); break;
#endif
#ifndef TKX_NO_GREEDY
        case MODEL_GREEDY: encode_greedy(ctx, w->p, w->size); break;
#endif
        default: break;
    }
    cache_emitted(ctx, w, before);
}
#endif

/* Encodes a pre-token that is not a token with WHOLE. `found`, `id`: the result of TIDX for it. */
static TKX_NOINLINE void merge_pretoken(tkx_context *ctx, const tkx_pending *w, int found,
                                        uint32_t id) {
    const tkx *t = ctx->t;
    const size_t before = ctx->count;
    const uint8_t *const p = w->p, *const end = p + w->size;
    uint32_t ids[SHORT_PRETOKEN + SPARE];
    if (found != TKX_OK && found != TKX_E_NOT_FOUND) fail(ctx, found);
    if (!ctx->recent) {
        memset(ctx->parts, 0, sizeof ctx->parts);
        memset(ctx->characters, 0xFF, sizeof ctx->characters);
        ctx->recent = ctx->text.base;
    }
    if (found == TKX_OK && (t->flags & WHOLE_FIRST) && !w->is_part) emit_token(ctx, id, p, end);
    else if (t->cuts_bytes && !wants_spans(ctx) && !utf8_inside(*p) && skip_ascii(p, end) < end)
        merge_parts(ctx, p, w->size, ids);
    else if (w->size > SHORT_PRETOKEN || wants_spans(ctx)) merge_long(ctx, p, w->size);
    else merge_part(ctx, p, w->size, ids, 0);
    /* not cached: bytes that are one token as a pre-token, but are merged otherwise as a part */
    if (!t->crossings.data || found != TKX_OK) cache_emitted(ctx, w, before);
}

/* Prefetches tables for pre-tokens that are not cached. Without a word cache, 1.3 times as fast. */
static void prefetch_batch(tkx_context *ctx, size_t first) {
    const tkx *t = ctx->t;
    tkx_pending *unseen[BATCH];
    const uint8_t *slots[BATCH];
    size_t count = 0, i;
    for (i = first; i < ctx->pending_count; i++) {
        tkx_pending *w = &ctx->batch[i];
        if (w->set && cache_find(w)) continue;
        if (w->set) w->hash = hash_near(w->p, w->size, w->has_word);
        TKX_PREFETCH(token_displacement(t, w->hash));
        w->has_slot = 1;
        unseen[count++] = w;
    }
    for (i = 0; i < count; i++) {
        slots[i] = token_slot(t, unseen[i]->hash);
        TKX_PREFETCH(slots[i]);
    }
    for (i = 0; i < count; i++) {
        tkx_pending *w = unseen[i];
        w->slot = load_u32(slots[i]);
        if (slot_fits(w->slot, w->hash) && (w->slot & MAX_IDS) < t->id_count)
            TKX_PREFETCH(t->records.data + RECORD_SIZE * (size_t)(w->slot & MAX_IDS));
    }
}

/* Encodes the pending pre-tokens. */
static TKX_NOINLINE void encode_batch(tkx_context *ctx) {
    size_t i, count = ctx->pending_count;
    int found;
    for (i = 0; i < count && ctx->code == TKX_OK; i++) {
        tkx_pending *w = &ctx->batch[i];
        const uint8_t *entry = w->set ? cache_find(w) : NULL;
        uint32_t id = 0, flags = 0;
        if (TKX_LIKELY(entry != NULL)) {
            cache_emit(ctx, w, entry);
            continue;
        }
#ifdef TKX_HAS_TRIE
        if (ctx->t->model != MODEL_BPE) {
            encode_by_trie(ctx, w);
            continue;
        }
#endif
        if (!w->has_slot) prefetch_batch(ctx, i);
        found = token_in_slot(ctx->t, w->slot, w->hash, w->p, w->size, w->has_word, &id, &flags);
        if (TKX_LIKELY(found == TKX_OK && (flags & TKX_WHOLE))) {
            emit_token(ctx, id, w->p, w->p + w->size);
            cache_emitted(ctx, w, ctx->count - 1);
        } else {
            merge_pretoken(ctx, w, found, id);
        }
    }
    ctx->pending_count = 0;
}

/* Adds a pre-token or a part of one, not empty. Its bytes must stay valid until encode_batch. */
static TKX_INLINE void add_pending(tkx_context *ctx, const uint8_t *p, size_t size, int is_part) {
    tkx_pending *w = &ctx->batch[ctx->pending_count++];
    start_pending(ctx, w, p, size);
    w->has_slot = 0;
    w->is_part = (uint8_t)is_part;
    w->has_word = ctx->text.limit - p >= 8;
    if (!w->set && ctx->t->model == MODEL_BPE) { /* so early: 1.05 times as fast */
        w->hash = hash_near(p, size, w->has_word);
        TKX_PREFETCH(token_displacement(ctx->t, w->hash));
    }
    /* spans depend on the current text, which a pending pre-token does not record */
    if (ctx->pending_count == BATCH || wants_spans(ctx)) encode_batch(ctx);
}

#ifndef TKX_NO_CHARACTERS
/* Whether no merge crosses the boundary of two characters, according to XPRS. */
static TKX_INLINE int is_cut(tkx_context *ctx, uint32_t left, uint32_t right) {
    const tkx *t = ctx->t;
    const uint8_t *ascii = t->crossings.data + CROSSINGS_HEADER;
    uint32_t rule;
    if (TKX_LIKELY((left | right) < 128)) return !bit_of(ascii, 128 * (size_t)left + right);
    if (may_cross(t, CROSSINGS_ASCII, left, right)) return 0;
    rule = load_u32(t->crossings.data);
    if (rule == 0) return 1;
    return (unit_symbol(ctx, left, 0) != TKX_NONE) + (unit_symbol(ctx, right, 0) != TKX_NONE) >=
           (rule == BOTH_KNOWN ? 2 : 1);
}

/* Adds a pre-token, cut where no merge crosses, but uncut if WHOLE_FIRST makes it a token. */
static TKX_NOINLINE void add_parts(tkx_context *ctx, const uint8_t *p, size_t size) {
    const tkx *t = ctx->t;
    const uint8_t *at = p + utf8_length(*p), *end = p + size;
    uint32_t left = utf8_decode(p), found, flags;
    if (t->flags & WHOLE_FIRST) {
        const int code = find_token(t, p, size, &found, &flags);
        if (code == TKX_E_CORRUPT) fail(ctx, code);
        if (code == TKX_OK) add_pending(ctx, p, size, 0);
        if (code != TKX_E_NOT_FOUND) return;
    }
    while (at < end && ctx->code == TKX_OK) {
        uint32_t right = utf8_decode(at);
        if (is_cut(ctx, left, right)) {
            add_pending(ctx, p, (size_t)(at - p), 1);
            p = at;
        }
        left = right;
        at += utf8_length(*at);
    }
    if (ctx->code == TKX_OK) add_pending(ctx, p, (size_t)(end - p), 1);
}
#endif

/* Adds a pre-token that is not empty. Its bytes must stay valid until encode_batch. */
static TKX_INLINE void add_pretoken(tkx_context *ctx, const uint8_t *p, size_t size) {
#ifndef TKX_NO_CHARACTERS
    /* not cut for spans, which need the lengths of all parts before one */
    if (ctx->t->crossings.data && !ctx->t->cuts_bytes && !wants_spans(ctx)) add_parts(ctx, p, size);
    else
#endif
        add_pending(ctx, p, size, 0);
}
/* ---- stages.c: stages (3.4) ------------------------------------------------------------------ */
/* Pending words of the first stage. */
enum { WORDS = 8 };
typedef struct tkx_words {
    tkx_pending batch[WORDS];
    size_t count;
} tkx_words;

static void encode_words(tkx_context *ctx, tkx_words *words);

/* Adds a pre-token or, with `words`, a word, if it is not empty. */
static TKX_INLINE void add_part(tkx_context *ctx, tkx_words *words, const uint8_t *from,
                                const uint8_t *to) {
    if (from == to) return;
    if (!words) add_pretoken(ctx, from, (size_t)(to - from));
    else start_pending(ctx, &words->batch[words->count++], from, (size_t)(to - from));
    if (words && words->count == WORDS) encode_words(ctx, words);
}

/* Adds the pre-tokens that the last stage, a simple one, produces; or with `words`, the words of
   the first stage. Almost all tokenizers have one stage, which is simple. */
static TKX_NOINLINE void split_simply(tkx_context *ctx, const tkx_stage *s, const uint8_t *begin,
                                      const uint8_t *end, tkx_words *words) {
    const int keeps_matches = s->behavior == ISOLATED || (s->flags & INVERT);
    const int keeps_gaps = s->behavior == ISOLATED || !(s->flags & INVERT);
    const uint8_t *at = begin, *gap = begin;
    tkx_memo m;
    memo_start(&m, s, begin, end, ctx->memory_used);
    while (at < end && ctx->code == TKX_OK) {
        const uint8_t *last = match(ctx, s, &m, at, end);
        if (last == at) {
            at = skip_unmatched(s, next_symbol(s, at), end);
            continue;
        }
        if (keeps_gaps) add_part(ctx, words, gap, at);
        if (keeps_matches) add_part(ctx, words, at, last);
        at = gap = last;
    }
    if (keeps_gaps && ctx->code == TKX_OK) add_part(ctx, words, gap, end);
    ctx->memory_used = m.mark;
}

typedef struct tkx_pretoken {
    const uint8_t *from, *to;
    int is_match; /* with INVERT applied */
    int is_split; /* an empty match separates it from the previous span */
} tkx_pretoken;

/* One stage that splits one pre-token. */
typedef struct tkx_splitter {
    const tkx_stage *s;
    const uint8_t *at, *end;
    tkx_pretoken next;   /* a match to return after the gap before it; none if `from` is NULL */
    tkx_pretoken opened; /* the span after the last pre-token returned; none if `from` is NULL */
    int is_split;        /* of the next span */
    tkx_memo m;
    /* from the context, before the text was rewritten */
    tkx_text outer;
    size_t outer_used;
} tkx_splitter;

static void splitter_start(tkx_splitter *w, tkx_context *ctx, const tkx_stage *s,
                           const uint8_t *begin, const uint8_t *end) {
    *w = (tkx_splitter){.s = s, .outer = ctx->text, .outer_used = ctx->memory_used};
#ifndef TKX_NO_NORMALIZER
    if (s->flags & REWRITE) {
        size_t size = (size_t)(end - begin);
        rewrite(ctx, ctx->t->ops + s->first_op, s->op_count, &begin, &size);
        end = begin + size;
    }
#endif
    w->at = begin;
    w->end = end;
    memo_start(&w->m, s, begin, end, ctx->memory_used);
    if (s->labels) w->m.labels = find_labels(ctx, s, begin, end);
    w->m.mark = ctx->memory_used;
}

/* The next match, or the gap before it, which an empty match splits. 0 at the end. */
static int next_span(tkx_splitter *w, tkx_context *ctx, tkx_pretoken *span) {
    const int inverted = w->s->flags & INVERT;
    const uint8_t *at = w->at;
    *span = w->next;
    w->next.from = NULL;
    if (span->from || ctx->code != TKX_OK) return span->from != NULL;
    span->from = at;
    span->is_split = w->is_split;
    span->is_match = inverted;
    w->is_split = 0;
    for (at = skip_any(w->s, &w->m, at, w->end); at < w->end;
         at = skip_any(w->s, &w->m, next_symbol(w->s, at), w->end)) {
        int empty;
        const uint8_t *last = match_any(ctx, w->s, &w->m, w->at, at, w->end, &empty);
        if (ctx->code != TKX_OK) return 0;
        if (last > at) w->next = (tkx_pretoken){at, last, !inverted, 0};
        w->is_split = last == at && empty && at > span->from;
        if (last > at || w->is_split) break;
    }
    span->to = at;
    w->at = w->next.from ? w->next.to : at;
    if (span->from < at) return 1;
    *span = w->next;
    w->next.from = NULL;
    return span->from != NULL;
}

static int merges_with(int behavior, const tkx_pretoken *a, const tkx_pretoken *b) {
    switch (behavior) {
        case MERGED_WITH_PREVIOUS: return !a->is_match && b->is_match;
        case MERGED_WITH_NEXT: return a->is_match && !b->is_match;
        case CONTIGUOUS: return !a->is_match == !b->is_match;
        default: return 0;
    }
}

/* The next pre-token; 0 at the end and on an error. */
static int next_pretoken(tkx_splitter *w, tkx_context *ctx, tkx_pretoken *out) {
    if (w->s->flags & REWRITE) {
        out->from = w->at;
        out->to = w->at = w->end;
        return out->from < out->to;
    }
    for (;;) {
        *out = w->opened;
        w->opened.from = NULL;
        if (!out->from && !next_span(w, ctx, out)) return 0;
        while (next_span(w, ctx, &w->opened)) {
            if (w->opened.is_split || !merges_with(w->s->behavior, out, &w->opened)) break;
            out->to = w->opened.to;
            out->is_match = w->opened.is_match;
            w->opened.from = NULL;
        }
        if (ctx->code != TKX_OK) return 0;
        if (w->s->behavior != REMOVED || !out->is_match) return 1;
    }
}

/* Runs all stages from `first` on: each splitter works on the last pre-token of the previous one.
   Rewritten text stays in work memory until its pending pre-tokens are encoded. */
static TKX_NOINLINE void split_in_stages(tkx_context *ctx, uint32_t first, const uint8_t *begin,
                                         const uint8_t *end) {
    const tkx *t = ctx->t;
    const uint32_t depth = t->stage_count - (is_simple(&t->stages[t->stage_count - 1]) ? 1u : 0u);
    tkx_splitter splitters[TKX_MAX_STAGES];
    uint32_t level = first;
    tkx_pretoken p;
    splitter_start(&splitters[first], ctx, &t->stages[first], begin, end);
    for (;;) {
        if (ctx->code != TKX_OK) return;
        if (!next_pretoken(&splitters[level], ctx, &p)) {
            ctx->text = splitters[level].outer;
            if (!t->op_count) ctx->memory_used = splitters[level].outer_used;
            if (level == first || ctx->code != TKX_OK) return;
            level--;
        } else if (level + 1 < depth) {
            const tkx_memo *m = &splitters[level].m;
            const size_t top = m->mark + (size_t)memo_size(m, m->limit);
            if (ctx->pending_count == 0 || ctx->memory_used - top > MAX_RETAINED)
                work_release(ctx, top);
            level++;
            splitter_start(&splitters[level], ctx, &t->stages[level], p.from, p.to);
        } else if (depth < t->stage_count) {
            split_simply(ctx, &t->stages[depth], p.from, p.to, NULL);
        } else {
            add_pretoken(ctx, p.from, (size_t)(p.to - p.from));
        }
    }
}

/* Encodes words, from the cache or by the other stages. Those cache nothing themselves: in known
   tokenizers (T5, XLM-R, XLNet) a word is one pre-token. */
static void encode_words(tkx_context *ctx, tkx_words *words) {
    uint8_t *const cache = ctx->cache;
    size_t i;
    for (i = 0; i < words->count && ctx->code == TKX_OK; i++) {
        tkx_pending *w = &words->batch[i];
        const size_t count = ctx->count, mark = ctx->memory_used;
        const uint8_t *entry = w->set ? cache_find(w) : NULL;
        if (TKX_LIKELY(entry != NULL)) {
            cache_emit(ctx, w, entry);
            continue;
        }
        ctx->cache = NULL;
        split_in_stages(ctx, 1, w->p, w->p + w->size);
        encode_batch(ctx);
        ctx->cache = cache;
        ctx->memory_used = mark;
        cache_emitted(ctx, w, count);
    }
    words->count = 0;
}

static void split(tkx_context *ctx, const uint8_t *begin, const uint8_t *end) {
    const tkx *t = ctx->t;
    tkx_words words;
    words.count = 0;
    if (t->stage_count == 0) add_pretoken(ctx, begin, (size_t)(end - begin));
    else if (t->stage_count == 1 && is_simple(&t->stages[0]))
        split_simply(ctx, &t->stages[0], begin, end, NULL);
    /* words, which are cached: a third of the time for T5, XLM-R and XLNet */
    else if (t->words_first && ctx->cache && !wants_spans(ctx))
        split_simply(ctx, &t->stages[0], begin, end, &words);
    else split_in_stages(ctx, 0, begin, end);
    encode_words(ctx, &words);
}
/* ---- encode.c: encoding (3.1) ---------------------------------------------------------------- */
#ifdef TKX_BULK
/* The bulk engine of the Python extension; returns 0 if it does not encode a segment. */
static int encode_bulk(tkx_context *ctx, const uint8_t *text, size_t size, int level);
#define TKX_ENCODE_BULK encode_bulk
#else
#define TKX_ENCODE_BULK(ctx, text, size, level) 0
#define TKX_BLOCK 8192
#endif

/* The stages and the model, for a segment without added tokens, which is not empty. */
static void encode_plain(tkx_context *ctx, const uint8_t *text, size_t size) {
    size_t mark = ctx->memory_used;
    if (TKX_ENCODE_BULK(ctx, text, size, 1)) return;
    split(ctx, text, text + size);
    encode_batch(ctx);
    ctx->memory_used = mark;
}

/* Emits the added tokens of a text and encodes the segments between them. */
static TKX_INLINE void encode_around(tkx_context *ctx, int normalized, const uint8_t *text,
                                     size_t size,
                                     void (*encode_part)(tkx_context *, const uint8_t *, size_t)) {
    const int has_any = has_tokens(ctx, normalized);
    tkx_scanner f;
    tkx_segment item;
    if (!has_any && size) encode_part(ctx, text, size);
    if (!has_any || TKX_ENCODE_BULK(ctx, text, size, 2 + normalized)) return;
    scanner_start(&f, ctx, normalized, text, size);
    while (ctx->code == TKX_OK && scanner_next(&f, &item)) {
        if (item.id != TKX_NONE) emit_added(ctx, item.id, text + item.from, text + item.to);
        else encode_part(ctx, text + item.from, item.to - item.from);
    }
}

/* All steps from the normalizer on, for a segment between raw added tokens, which is not empty. */
static void encode_segment(tkx_context *ctx, const uint8_t *text, size_t size) {
    const size_t mark = ctx->memory_used;
    const tkx_text outer = ctx->text;
    const tkx_span given = {text, size};
    if (TKX_ENCODE_BULK(ctx, text, size, 0)) return;
#ifndef TKX_NO_NORMALIZER
    rewrite(ctx, ctx->t->ops, ctx->t->normalizer_count, &text, &size);
#endif
#ifndef TKX_NO_OFFSETS
    if (wants_spans(ctx) && ctx->t->alignment.data && size && ctx->code == TKX_OK)
        align_whole(ctx, outer.base, given, text, size);
#endif
    (void)given;
    if (ctx->code != TKX_OK) return;
    encode_around(ctx, 1, text, size, encode_plain);
    ctx->text = outer;
    ctx->memory_used = mark;
}

/* All steps from the raw added tokens to the model, for a text that is valid UTF-8. */
static void encode_text(tkx_context *ctx, const uint8_t *text, size_t size) {
    ctx->text.limit = text + size;
    encode_around(ctx, 0, text, size, encode_segment);
}

/* The last offset where the text may be cut if the carry goes on, or 0. */
static size_t last_cut(const tkx *t, const uint8_t *p, size_t size) {
    size_t i;
    for (i = t->cuts.data ? size : 0; i > 1; i--) {
        uint8_t x = p[i - 2], y = p[i - 1];
        if (x < 128 && y < 128 && bit_of(t->cuts.data + x * 16, y)) return i - 1;
    }
    return 0;
}

size_t tkx_cut(const tkx *t, const void *text, size_t size) {
    return t && text && !has_carry(t) ? last_cut(t, (const uint8_t *)text, size) : 0;
}

/* Text that is rewritten or labelled is encoded in blocks of about TKX_BLOCK bytes, so that a copy
   of prose fits into 64 KB of work memory and into the processor's cache; but a charsmap may move
   all spans. TKX_E_WORK asks for at least SMALL_MEMORY, unless less is certainly enough. */
enum { SMALL_MEMORY = 1 << 16 };

static void encode_blocks(tkx_context *ctx, const uint8_t *text, size_t size) {
    const int is_moved = wants_spans(ctx) && ctx->t->moves_spans,
              in_blocks = !is_moved && (ctx->t->op_count || field(ctx->t->labels, 0));
    ctx->text.begin = text;
    while (size > TKX_BLOCK && in_blocks && ctx->code == TKX_OK) {
        size_t length = TKX_BLOCK, cut = last_cut(ctx->t, text, length);
        while (cut == 0 && length < size) {
            length = length > size / 2 ? size : 2 * length;
            cut = length < size ? last_cut(ctx->t, text, length) : 0;
        }
        if (cut == 0) break;
        encode_text(ctx, text, cut);
        text += cut;
        size -= cut;
    }
    if (ctx->code == TKX_OK) encode_text(ctx, text, size);
}

static void use_workspace(tkx_context *ctx, const tkx_work *work) {
    size_t sets, offset;
    ctx->memory = ctx->no_memory;
    if (work && work->memory) {
        ctx->memory = (uint8_t *)work->memory;
        ctx->memory_size = work->memory_size;
    }
#ifdef TKX_BULK
    ctx->bulk = work && !wants_spans(ctx) ? work->bulk : NULL;
    if (work && work->carry) ctx->carry = *work->carry;
#endif
    /* the cache stores neither spans nor what depends on the carry */
    if (!work || !work->cache || wants_spans(ctx) || has_carry(ctx->t)) return;
    /* a set must not straddle two cache lines */
    offset = (size_t)(0 - (uintptr_t)work->cache) & (SET - 1);
    if (work->cache_size < offset + 2 * SET) return;
    ctx->cache = (uint8_t *)work->cache + offset;
    sets = (work->cache_size - offset) / SET;
    for (ctx->cache_shift = 64; sets > 1; sets >>= 1) ctx->cache_shift--;
}

/* The size to report with TKX_E_WORK (tokexport.h). */
static size_t memory_to_retry(const tkx_context *ctx, size_t size) {
    const uint64_t most = work_size(ctx->t, size, wants_spans(ctx));
    uint64_t wanted = 2 * (uint64_t)ctx->memory_size;
    if (wanted < SMALL_MEMORY) wanted = SMALL_MEMORY;
    if (wanted < ctx->memory_needed) wanted = ctx->memory_needed;
    return (size_t)(wanted < most ? wanted : most);
}

static int encode(tkx_context *ctx, const void *text, size_t size, uint32_t *ids, size_t capacity,
                  size_t *count, const tkx_work *work) {
    const tkx *t = ctx->t;
    size_t valid;
    if (!count) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t || (!text && size) || size > MAX_TEXT || (!ids && capacity)) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    if (size == 0) return TKX_OK;
#ifdef TKX_BULK
    if (!work || !work->is_utf8)
#endif
        if ((valid = utf8_valid((const uint8_t *)text, size)) < size)
            return *count = valid, TKX_E_UTF8;
    ctx->ids = ids;
    ctx->capacity = capacity;
    ctx->text.base = ctx->input = (const uint8_t *)text;
    use_workspace(ctx, work);
    encode_blocks(ctx, (const uint8_t *)text, size);
    if (ctx->code == TKX_E_WORK) ctx->memory_needed *= 4; /* later steps need some, too */
    if (ctx->memory_needed) fail(ctx, TKX_E_WORK);
    if (ctx->code == TKX_E_WORK) *count = memory_to_retry(ctx, size);
    if (ctx->code != TKX_OK) return ctx->code;
    *count = ctx->count;
#ifdef TKX_BULK
    if (work && work->carry && ctx->count <= capacity) *work->carry = ctx->carry;
#endif
    return ctx->count <= capacity ? TKX_OK : TKX_E_IDS;
}

static void context_init(tkx_context *ctx, const tkx *t, int special) {
    memset(ctx, 0, offsetof(tkx_context, batch));
    ctx->t = t;
    ctx->special = special;
}

/* Encodes with all special tokens, none, or those in a bitmap (see tkx_context). `carry` is that of
   the text before, and becomes that of the text; NULL: there is no text before or after. */
static TKX_NOINLINE int encode_bits(int special, const uint8_t *allowed, size_t allowed_size,
                                    double *carry, const tkx *t, const void *text, size_t size,
                                    uint32_t *ids, size_t capacity, size_t *count,
                                    const tkx_work *work) {
    tkx_context ctx;
    int code;
    if (!allowed && allowed_size) return TKX_E_ARGUMENT;
    context_init(&ctx, t, special);
    ctx.allowed = allowed;
    ctx.allowed_size = allowed_size;
    if (carry) ctx.carry = *carry;
    code = encode(&ctx, text, size, ids, capacity, count, work);
    if (carry && code == TKX_OK) *carry = ctx.carry;
    return code;
}

int tkx_encode(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
               size_t *count, const tkx_work *work) {
    return encode_bits(0, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_special(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
                       size_t *count, const tkx_work *work) {
    return encode_bits(1, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_with_template(const tkx *t, const void *text, size_t size, int special,
                             uint32_t *ids, size_t capacity, size_t *count, const tkx_work *work) {
    uint32_t index, kind, id, type_id;
    size_t used = 0, made;
    int code;
    special = special != 0;
    if (!t || !field(t->post, 0))
        return encode_bits(special, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
    if (!count) return TKX_E_ARGUMENT;
    *count = 0;
    if (!ids && capacity) return TKX_E_ARGUMENT;
    for (index = 0; (code = tkx_template(t, 0, index, &kind, &id, &type_id)) == TKX_OK; index++) {
        const size_t at = smaller(used, capacity);
        if (kind == 2) return TKX_E_CORRUPT;
        if (kind == 0) {
            if (used++ < capacity) ids[at] = id;
            continue;
        }
        code = encode_bits(special, NULL, 0, NULL, t, text, size, ids ? ids + at : NULL,
                           capacity - at, &made, work);
        if (code != TKX_OK && code != TKX_E_IDS) return *count = made, code;
        used += made;
    }
    if (code != TKX_E_NOT_FOUND) return code;
    *count = used;
    return used <= capacity ? TKX_OK : TKX_E_IDS;
}

int tkx_encode_allowed(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                       size_t allowed_size, uint32_t *ids, size_t capacity, size_t *count,
                       const tkx_work *work) {
    return encode_bits(2, allowed, allowed_size, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_marked(const tkx *t, const void *text, size_t size, const uint8_t *marks,
                      uint32_t *ids, size_t capacity, size_t *count, const tkx_work *work) {
    const size_t marks_size = size / 8 + (size % 8 != 0);
    return encode_bits(3, marks, marks_size, NULL, t, text, size, ids, capacity, count, work);
}

#ifndef TKX_NO_OFFSETS
int tkx_encode_spans(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                     size_t allowed_size, int unit, uint32_t *ids, uint32_t *spans, size_t capacity,
                     size_t *count, const tkx_work *work) {
    static const uint8_t nothing[1] = {0};
    uint32_t no_spans[1];
    tkx_context ctx;
    if ((!allowed && allowed_size && allowed_size != TKX_ALL) || (!spans && capacity))
        return TKX_E_ARGUMENT;
    if (unit != TKX_BYTES && unit != TKX_CHARACTERS) return TKX_E_ARGUMENT;
    if (t && field(t->trims, 0) == TKX_NONE) {
        if (count) *count = 0;
        return TKX_E_NO_SPANS;
    }
    context_init(&ctx, t, allowed_size == TKX_ALL ? 1 : allowed_size ? 2 : 0);
    ctx.allowed = allowed ? allowed : nothing;
    ctx.allowed_size = allowed_size;
    ctx.where.spans = spans ? spans : no_spans;
    ctx.where.unit = unit;
    ctx.where.input = (const uint8_t *)text;
    ctx.where.input_size = size;
    return encode(&ctx, text, size, ids, capacity, count, work);
}
#endif
/* ---- encode.c: encoding a stream ------------------------------------------------------------- */
int tkx_encoder_init(tkx_encoder *e, const tkx *t, int special, void *window, size_t window_size,
                     const tkx_work *work) {
    if (!e || !t || !window || window_size == 0 || window_size > MAX_TEXT) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    *e = (tkx_encoder){t, work, (uint8_t *)window, window_size, 0, special != 0, 0, 0};
    return TKX_OK;
}

/* Encodes and removes the first `size` bytes of the window. On an error nothing is changed. */
static int encode_window(tkx_encoder *e, size_t size, uint32_t *ids, size_t capacity,
                         size_t *count) {
    const int code = encode_bits(e->special, NULL, 0, &e->carry, e->t, e->window, size, ids,
                                 capacity, count, e->work);
    if (code != TKX_OK) return code;
    e->used -= size;
    memmove(e->window, e->window + size, e->used);
    return TKX_OK;
}

int tkx_encoder_feed(tkx_encoder *e, const void *text, size_t size, size_t *taken, uint32_t *ids,
                     size_t capacity, size_t *count) {
    size_t old, searched, cut;
    int code;
    if (!e || !e->t || !taken || !count || (!text && size) || (!ids && capacity))
        return TKX_E_ARGUMENT;
    *taken = *count = 0;
    if (e->finished) return TKX_E_STATE;
    if (capacity / 3 < e->window_size) {
        *count = 3 * e->window_size;
        return TKX_E_IDS;
    }
    if (size == 0) return TKX_OK;
    old = e->used;
    size = smaller(size, e->window_size - old);
    memcpy(e->window + old, text, size);
    e->used += size;
    /* a cut up to `old` would have been found by an earlier call */
    searched = old ? old - 1 : 0;
    cut = last_cut(e->t, e->window + searched, e->used - searched);
    if (cut == 0) {
        *taken = size;
        return size == 0 ? TKX_E_WINDOW : TKX_OK;
    }
    code = encode_window(e, searched + cut, ids, capacity, count);
    if (code == TKX_OK) *taken = size;
    else e->used = old;
    return code;
}

int tkx_encoder_finish(tkx_encoder *e, uint32_t *ids, size_t capacity, size_t *count) {
    int code;
    if (!e || !e->t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (e->finished) return TKX_E_STATE;
    code = encode_window(e, e->used, ids, capacity, count);
    if (code == TKX_OK) e->finished = 1;
    return code;
}
