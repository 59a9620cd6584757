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
   Returns the number of ids; `ids` has room for SPARE more.

   A symbol stays at the index of its first part: keys[i] and merged[i] belong to ids[i] and
   ids[next[i]]. The first symbol has no left neighbour; index `count` follows the last symbol, and
   merges with nothing. */
static TKX_NOINLINE size_t merge_symbols(tkx_context *ctx, uint32_t *ids, size_t count) {
    const tkx *t = ctx->t;
    uint64_t keys[SHORT_PRETOKEN + SPARE], least;
    uint32_t merged[SHORT_PRETOKEN];
    uint8_t previous[SHORT_PRETOKEN + 1], next[SHORT_PRETOKEN + 1];
    size_t i, left;
    const size_t padded = (count + 3) / 4 * 4;
    for (i = 0; i + 1 < count; i++) {
        merged[i] = find_merge(ctx, ids[i], ids[i + 1]);
        keys[i] = short_key(t, merged[i], i);
        previous[i + 1] = (uint8_t)i;
        next[i] = (uint8_t)(i + 1);
    }
    for (; i < padded || i < 4; i++) keys[i] = UINT64_MAX;
    if (count) next[count - 1] = (uint8_t)count;
    while ((least = least_key(keys, padded)) != UINT64_MAX) {
        const size_t at = least & 63, gone = next[at], right = next[gone];
        left = previous[at];
        ids[at] = merged[at];
        keys[gone] = UINT64_MAX;
        next[at] = (uint8_t)right;
        previous[right] = (uint8_t)at;
        merged[at] = right < count ? find_merge(ctx, ids[at], ids[right]) : TKX_NONE;
        keys[at] = short_key(t, merged[at], at);
        if (at == 0) continue;
        merged[left] = find_merge(ctx, ids[left], ids[at]);
        keys[left] = short_key(t, merged[left], left);
    }
    for (i = 0, left = 0; i < count; i = next[i]) ids[left++] = ids[i];
    return left;
}
