/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

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
