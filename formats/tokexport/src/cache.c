/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

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
