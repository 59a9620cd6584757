/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_short.c: merging a short pre-token (5.6) -------------------------------------------- */

/* Merges that can be made at once, while the first symbols of a pre-token are read. GRID has, for
   two ASCII characters, the id that they merge to and a lower bound for the rank of every merge
   across the boundary between them. A merge of two first symbols whose rank is below the bounds on
   both of its sides comes before every merge that could take one of the two away, so it is made at
   once. So is one that equals the pair after it, which comes later, or the pair before it whose
   left symbol is gone. Of random letters half the merges are made here, and the queue is half as
   long.

        made so far                         to be read
        ...  left = id  |  symbols[next]  |  symbols[next + 1]  |  symbols[next + 2]  ...
                      edge              pair                  after

   premerge_next makes one symbol: of both symbols[next] and symbols[next + 1], if the merge that
   `pair` has is below `edge` and `after`; otherwise of symbols[next] alone. */
typedef struct tkx_premerge {
    const uint8_t *symbols; /* the first symbols */
    size_t count, next;     /* how many they are, and which is the next one */
    const uint8_t *grid;    /* the entries of GRID */
    uint32_t grid_first;    /* 128 + its first character */
    uint32_t grid_count;    /* how many characters it has; 0: there is no GRID */
    uint32_t id;            /* the symbol made last */
    uint32_t merged;        /* what the one before it and this one merge to, or TKX_NONE */
    uint32_t edge, pair;    /* entries of boundaries: see above */
    int is_merge;           /* the symbol made last was made of two */
} tkx_premerge;

/* UNCROSSED in place of a bound: no merge crosses that boundary. TKX_ENTRY_OWN: the merge of the
   two characters has the least rank of all that cross it, and no other has that rank. */
enum { UNCROSSED = 1023 };

#define TKX_ENTRY_OWN ((uint32_t)1 << 31)

static TKX_INLINE uint32_t entry_bound(uint32_t entry) { return entry >> ID_BITS & UNCROSSED; }

/* The entry of symbol i and the one after it. Where GRID says nothing the bound is 0. */
static TKX_INLINE uint32_t premerge_entry(tkx_context *ctx, const tkx_premerge *e, size_t i) {
    uint32_t left, right, row, column, entry;
    if (i + 1 >= e->count) return TKX_NONE;
    left = get_u32(e->symbols + 4 * i);
    right = get_u32(e->symbols + 4 * i + 4);
    row = (left >> ID_BITS) - e->grid_first;
    column = (right >> ID_BITS) - e->grid_first;
    if (row < e->grid_count && column < e->grid_count) {
        entry = load_u32(e->grid + 4 * (size_t)(row * e->grid_count + column));
        if (TKX_LIKELY((entry & MAX_IDS) < ctx->t->id_count || (entry & MAX_IDS) == MAX_IDS))
            return entry;
        fail(ctx, TKX_E_CORRUPT);
        return TKX_NONE;
    }
    return find_merge(ctx, left & MAX_IDS, right & MAX_IDS) & MAX_IDS;
}

/* The merged id of an entry, or TKX_NONE; branchless: the outcome is unpredictable. */
static TKX_INLINE uint32_t entry_merged(uint32_t entry) {
    const uint32_t merged = entry & MAX_IDS;
    return merged | (0 - (uint32_t)(merged == MAX_IDS));
}

static TKX_INLINE void premerge_start(tkx_premerge *e, tkx_context *ctx, const uint8_t *symbols,
                                      size_t count) {
    e->symbols = symbols;
    e->grid = ctx->t->grid_entries;
    e->grid_first = 128 + ctx->t->grid_first;
    e->grid_count = ctx->t->grid_count;
    e->count = count;
    e->next = 0;
    e->id = e->merged = e->edge = TKX_NONE;
    e->is_merge = 0;
    e->pair = premerge_entry(ctx, e, 0);
}

/* Makes the next symbol; there must be one. */
static TKX_INLINE void premerge_next(tkx_premerge *e, tkx_context *ctx) {
    const uint32_t left = e->id, edge = e->edge, merged = entry_merged(e->pair);
    const uint32_t after = premerge_entry(ctx, e, e->next + 1);
    const uint32_t rank = rank_of(ctx->t, merged) >> ctx->t->bound_shift;
    const uint32_t same = TKX_ENTRY_OWN | merged, mask = TKX_ENTRY_OWN | MAX_IDS;
    const int was_merge = e->is_merge;
    e->is_merge = (rank < entry_bound(after) || (after & mask) == same) &&
                  (rank < entry_bound(edge) || (was_merge && (edge & mask) == same));
    if (e->is_merge) {
        e->id = merged;
        e->edge = after;
        e->next += 2;
        e->pair = premerge_entry(ctx, e, e->next);
    } else {
        e->id = get_u32(e->symbols + 4 * e->next) & MAX_IDS;
        e->edge = e->pair;
        e->next++;
        e->pair = after;
    }
    e->merged = entry_merged(edge);
    if (was_merge | e->is_merge) {
        const int none = left == TKX_NONE || entry_bound(edge) == UNCROSSED;
        e->merged = none ? TKX_NONE : find_merge(ctx, left, e->id);
    }
}

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
    uint32_t given[SHORT_PRETOKEN], ranks[SHORT_PRETOKEN + SPARE], merged[SHORT_PRETOKEN + SPARE];
    const size_t given_count = first_symbols(ctx, bytes, size, (uint8_t *)given, NULL);
    uint32_t best = TKX_NONE;
    size_t count = 0, at = 0, i;
    tkx_premerge e;
    premerge_start(&e, ctx, (const uint8_t *)given, given_count);
    while (e.next < given_count) {
        premerge_next(&e, ctx);
        merged[count] = e.merged;
        ranks[count] = rank_of(t, e.merged);
        at = ranks[count] < best ? count : at;
        best = ranks[count] < best ? ranks[count] : best;
        ids[count++] = e.id;
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
