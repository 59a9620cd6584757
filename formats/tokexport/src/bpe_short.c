/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

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
