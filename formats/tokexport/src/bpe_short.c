/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- bpe_short.c: merging a short piece (5.6) ------------------------------------------------ */

/* Merges that need not wait for their turn, while the first symbols of a piece are gone through
   once. GRID has the products of two ASCII characters, and a bound for the rank of whatever may be
   joined across the boundary between them. A merge of two first symbols whose rank is below the
   bounds on both of its sides comes before all that could take one of the two from it, so it is
   made at once. So is one that is the same as the pair behind it, which comes later, or as the pair
   before it whose left symbol is gone. Of random letters half the merges go this way, and what is
   left makes a queue half as long. */
typedef struct early {
    const uint8_t *given; /* the first symbols */
    size_t count, next;   /* how many they are, and which is the next one */
    const uint8_t *grid;  /* the entries of GRID */
    /* 128 + its first character, and how many it has; none without GRID */
    uint32_t grid_first, grid_count;
    /* the symbol made last, and the product of the one before with it, or NONE */
    uint32_t id, product;
    /* entries of the boundaries behind the symbol made last, and behind the next one that was
       given */
    uint32_t edge, pair;
    int merged; /* the symbol made last is a product */
} early;

/* UNCROSSED in place of a bound: nothing is joined across that boundary. ENTRY_OWN: what joins the
   two characters has the least rank of all that may be joined across it, and nothing else has that
   rank. */
enum { UNCROSSED = 1023 };

#define ENTRY_OWN ((uint32_t)1 << 31)

static FORCE_INLINE uint32_t entry_bound(uint32_t entry) { return entry >> ID_BITS & UNCROSSED; }

/* The entry of the i-th given symbol and the one behind it. Where GRID says nothing the bound is
   0. */
static FORCE_INLINE uint32_t early_entry(run *r, const early *e, size_t i) {
    uint32_t left, right, row, column, entry;
    if (i + 1 >= e->count) return NONE;
    left = get_u32(e->given + 4 * i);
    right = get_u32(e->given + 4 * i + 4);
    row = (left >> ID_BITS) - e->grid_first;
    column = (right >> ID_BITS) - e->grid_first;
    if (row < e->grid_count && column < e->grid_count) {
        entry = load_u32(e->grid + 4 * (size_t)(row * e->grid_count + column));
        if (EXPECT((entry & MAX_IDS) < r->t->id_count || (entry & MAX_IDS) == MAX_IDS))
            return entry;
        fail(r, TKX_E_CORRUPT);
        return NONE;
    }
    return find_pair(r, left & MAX_IDS, right & MAX_IDS) & MAX_IDS;
}

/* The product of an entry, or NONE: without a branch, as nobody can guess which. */
static FORCE_INLINE uint32_t entry_product(uint32_t entry) {
    const uint32_t product = entry & MAX_IDS;
    return product | (0 - (uint32_t)(product == MAX_IDS));
}

static FORCE_INLINE void early_start(early *e, run *r, const uint8_t *given, size_t count) {
    e->given = given;
    e->grid = r->t->grid_entries;
    e->grid_first = 128 + r->t->grid_first;
    e->grid_count = r->t->grid_count;
    e->count = count;
    e->next = 0;
    e->id = e->product = e->edge = NONE;
    e->merged = 0;
    e->pair = early_entry(r, e, 0);
}

/* Makes the next symbol; there must be one. */
static FORCE_INLINE void early_next(early *e, run *r) {
    const uint32_t left = e->id, edge = e->edge, product = entry_product(e->pair),
                   after = early_entry(r, e, e->next + 1);
    const uint32_t least = rank_of(r->t, product) >> r->t->bound_shift, same = ENTRY_OWN | product;
    const int was_merged = e->merged;
    e->merged =
        (least < entry_bound(after) || (after & (ENTRY_OWN | MAX_IDS)) == same) &&
        (least < entry_bound(edge) || (was_merged && (edge & (ENTRY_OWN | MAX_IDS)) == same));
    if (e->merged) {
        e->id = product;
        e->edge = after;
        e->next += 2;
        e->pair = early_entry(r, e, e->next);
    } else {
        e->id = get_u32(e->given + 4 * e->next) & MAX_IDS;
        e->edge = e->pair;
        e->next++;
        e->pair = after;
    }
    e->product = entry_product(edge);
    if (was_merged | e->merged)
        e->product =
            left == NONE || entry_bound(edge) == UNCROSSED ? NONE : find_pair(r, left, e->id);
}

/* Up to this length a piece is merged on the C stack: for each merge, all ranks are looked at.
   Longer ones go through a queue in the work memory. From 32 bytes on the queue is no slower
   (Chinese, Japanese, Thai, random letters); 64 leaves ordinary text without work memory. */
enum { SHORT_PIECE = 64, SPARE = 4 };

/* Takes an entry out of `count`. Those behind it are moved four at a time, which needs no call and
   nobody has to guess how many they are: up to SPARE entries more are read and written, and mean
   nothing. */
static FORCE_INLINE void take_out(uint32_t *entries, size_t at, size_t count) {
    for (; at + 1 < count; at += 4) {
        uint32_t four[4];
        COPY(four, entries + at + 1, sizeof four);
        COPY(entries + at, four, sizeof four);
    }
}

/* Merges a piece of at most SHORT_PIECE bytes. `ids` has room for SPARE more. Gives their
   number. */
static size_t merge_short(run *r, const uint8_t *bytes, size_t size, uint32_t *ids) {
    const tkx *t = r->t;
    uint32_t given[SHORT_PIECE], ranks[SHORT_PIECE + SPARE], products[SHORT_PIECE + SPARE];
    const size_t given_count = first_symbols(r, bytes, size, (uint8_t *)given, NULL);
    uint32_t best = NONE;
    size_t count = 0, at = 0, i;
    early e;
    early_start(&e, r, (const uint8_t *)given, given_count);
    while (e.next < given_count) {
        early_next(&e, r);
        products[count] = e.product; /* of the one before it and this one: none of the first */
        ranks[count] = rank_of(t, e.product);
        at = ranks[count] < best ? count : at;
        best = ranks[count] < best ? ranks[count] : best;
        ids[count++] = e.id;
    }
    while (best != NONE) {
        ids[at - 1] = products[at];
        take_out(ids, at, count);
        take_out(ranks, at, count);
        take_out(products, at, count--);
        if (at > 1 && at < count) {
            find_two_pairs(r, ids[at - 2], ids[at - 1], ids[at - 1], ids[at], &products[at - 1],
                           &products[at]);
            ranks[at] = rank_of(t, products[at]);
            ranks[at - 1] = rank_of(t, products[at - 1]);
        } else if (at < count) {
            products[at] = find_pair(r, ids[at - 1], ids[at]);
            ranks[at] = rank_of(t, products[at]);
        } else if (at > 1) {
            products[at - 1] = find_pair(r, ids[at - 2], ids[at - 1]);
            ranks[at - 1] = rank_of(t, products[at - 1]);
        }
        best = NONE;
        for (i = 1; i < count; i++) {
            at = ranks[i] < best ? i : at;
            best = ranks[i] < best ? ranks[i] : best;
        }
    }
    return count;
}
