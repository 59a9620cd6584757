/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

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
