/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_short.c: merging a short pre-token (5.6) -------------------------------------------- */

/* Up to this length a pre-token is merged on the C stack: for each merge, all ranks are scanned.
   Longer ones go through a queue in the work memory. From 32 bytes on the queue is no slower
   (Chinese, Japanese, Thai, random letters); with 64, ordinary text needs no work memory. */
enum { SHORT_PRETOKEN = 64, SPARE = 4 };

/* Removes one of `count` entries. Those after it are moved four at a time, without a call and
   without a branch for each: up to SPARE entries past the end are read and written, as padding. */
static TKX_INLINE void remove_entry(uint32_t *entries, size_t at, size_t count) {
    for (; at + 1 < count; at += 4) {
        uint32_t four[4];
        TKX_COPY(four, entries + at + 1, sizeof four);
        TKX_COPY(entries + at, four, sizeof four);
    }
}

/* Merges a pre-token of at most SHORT_PRETOKEN bytes, in each round the pair of least rank, the
   leftmost of several. Gives the number of ids; `ids` has room for SPARE more.

   merged[i] and ranks[i] belong to the pair of ids[i - 1] and ids[i]; those of 0 are TKX_NONE. */
static size_t merge_short(tkx_context *ctx, const uint8_t *bytes, size_t size, uint32_t *ids) {
    const tkx *t = ctx->t;
    uint32_t ranks[SHORT_PRETOKEN + SPARE], merged[SHORT_PRETOKEN + SPARE], best = TKX_NONE;
    size_t count = first_symbols(ctx, bytes, size, (uint8_t *)ids, NULL), at = 0, i;
    ranks[0] = merged[0] = TKX_NONE;
    for (i = 1; i < count; i++) {
        merged[i] = find_merge(ctx, ids[i - 1], ids[i]);
        ranks[i] = rank_of(t, merged[i]);
        at = ranks[i] < best ? i : at;
        best = ranks[i] < best ? ranks[i] : best;
    }
    while (best != TKX_NONE) {
        ids[at - 1] = merged[at];
        remove_entry(ids, at, count);
        remove_entry(ranks, at, count);
        remove_entry(merged, at, count--);
        if (at > 1 && at < count) {
            find_two_merges(ctx, ids[at - 2], ids[at - 1], ids[at - 1], ids[at], &merged[at - 1],
                            &merged[at]);
            ranks[at] = rank_of(t, merged[at]);
            ranks[at - 1] = rank_of(t, merged[at - 1]);
        } else if (at < count) {
            merged[at] = find_merge(ctx, ids[at - 1], ids[at]);
            ranks[at] = rank_of(t, merged[at]);
        } else if (at > 1) {
            merged[at - 1] = find_merge(ctx, ids[at - 2], ids[at - 1]);
            ranks[at - 1] = rank_of(t, merged[at - 1]);
        }
        best = TKX_NONE;
        for (i = 1; i < count; i++) {
            at = ranks[i] < best ? i : at;
            best = ranks[i] < best ? ranks[i] : best;
        }
    }
    return count;
}
