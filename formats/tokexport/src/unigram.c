/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- unigram.c: Unigram (5.6) ---------------------------------------------------------------- */

#ifndef TKX_NO_UNIGRAM

#include <float.h>

/* The ids depend on the last bit of sums, so a sum of two doubles must be rounded to a double, at
   once. Only additions and comparisons are made: nothing can be contracted, and sums of floats may
   be computed as doubles, for a float is less than half as wide. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "Unigram needs doubles that are rounded after each addition: -mfpmath=sse or TKX_NO_UNIGRAM"
#endif
typedef char unigram_needs_doubles_of_64_bits[sizeof(double) == 8 ? 1 : -1];

/* The best way to a place in the text: the sum of scores up to it, and the token that ends there.
   16 bytes in lent memory: f64 sum, u32 length, u32 id. Length 0: no way has been found yet. */
enum { WAY = 16, WAY_LENGTH = 8, WAY_ID = 12 };

/* The first places need no work memory. */
enum { FEW_WAYS = 64 };

/* A piece at work. Ways begin at `from`: whatever is before has been emitted, because all ways pass
   through `from`. */
typedef struct unigram {
    run *r;
    const uint8_t *from, *end;
    const uint8_t *unknown; /* where the unknown text that is not emitted yet begins, or NULL */
    /* at `from`, from the start of the piece on: sums must be rounded as the reference rounds
       them */
    double sum;
    uint8_t *ways; /* room + 1 of them */
    size_t room;
} unigram;

static FORCE_INLINE double get_double(const uint8_t *p) {
    double v;
    COPY(&v, p, 8);
    return v;
}

static FORCE_INLINE void put_way(uint8_t *way, double sum, size_t length, uint32_t id) {
    COPY(way, &sum, 8);
    put_u32(way + WAY_LENGTH, (uint32_t)length);
    put_u32(way + WAY_ID, id);
}

/* The score of an id below id_count. */
static FORCE_INLINE double score_of(const tkx *t, uint32_t id) {
    if (t->double_scores.data) {
        uint64_t bits = load_u64(t->double_scores.data + 8 * (size_t)id);
        double score;
        COPY(&score, &bits, 8);
        return score;
    } else {
        uint32_t bits = load_u32(t->scores.data + 4 * (size_t)id);
        float score;
        COPY(&score, &bits, 4);
        return (double)score;
    }
}

static FORCE_INLINE double rounded(double sum, int single) {
    return single ? (double)(float)sum : sum;
}

static double unknown_score(const tkx *t) {
    uint64_t bits = load_u64(t->trie.data + 16);
    double score;
    COPY(&score, &bits, 8);
    return score;
}

/* Emits the unknown text that waits, up to `to`. */
static void emit_waiting(unigram *u, const uint8_t *to) {
    run *r = u->r;
    const tkx *t = r->t;
    const uint8_t *from = u->unknown, *p;
    uint32_t id;
    int found = TKX_E_NOT_FOUND;
    if (!from) return;
    u->unknown = NULL;
    if (!(t->trie_flags & SINGLE_PRECISION))
        found = token_in_trie(t, from, (size_t)(to - from), &id);
    if (found == TKX_OK) {
        emit_token(r, id, from, to);
        return;
    }
    if (found == TKX_E_CORRUPT) fail(r, found);
    for (p = from; t->byte_ids.data && p < to; p++) {
        id = load_u32(t->byte_ids.data + 4 * (size_t)*p);
        if (id == NONE) break;
        if (id >= t->id_count) fail(r, TKX_E_CORRUPT);
    }
    if (p < to) {
        emit_unknown(r, from, to);
        return;
    }
    for (p = from; p < to; p++) {
        /* sentencepiece gives the span of a character to the last of its bytes. */
        const int apart = t->alignment.data != NULL;
        emit_token(r, load_u32(t->byte_ids.data + 4 * (size_t)*p), apart ? p : from,
                   apart ? p + 1 : to);
    }
}

/* Emits the best way to the place `size` bytes behind `from`. */
static void emit_way(unigram *u, size_t size) {
    uint8_t *ways = u->ways;
    size_t at = size;
    uint32_t length = get_u32(ways + WAY * at + WAY_LENGTH), id = get_u32(ways + WAY * at + WAY_ID);
    /* The way is known from its end; turn it round, so that each place knows the token that begins
       there. */
    while (at > 0) {
        size_t start = at - length;
        uint32_t length_before = get_u32(ways + WAY * start + WAY_LENGTH),
                 id_before = get_u32(ways + WAY * start + WAY_ID);
        put_u32(ways + WAY * start + WAY_LENGTH, length);
        put_u32(ways + WAY * start + WAY_ID, id);
        at = start;
        length = length_before;
        id = id_before;
    }
    while (at < size) {
        const uint8_t *p = u->from + at;
        length = get_u32(ways + WAY * at + WAY_LENGTH);
        id = get_u32(ways + WAY * at + WAY_ID);
        if (id == u->r->t->unknown_id) {
            if (!u->unknown) u->unknown = p;
        } else {
            emit_waiting(u, p);
            emit_token(u->r, id, p, p + length);
        }
        at += length;
    }
}

/* A way to the place `to` bytes behind `from`, with a sum and a last token. 0 if there is no room
   for it. Of equal sums the first one that is met stays. */
static FORCE_INLINE int add_way(unigram *u, size_t *reach, size_t to, double sum, size_t length,
                                uint32_t id) {
    uint8_t *way;
    if (to > u->room) return 0;
    way = u->ways + WAY * to;
    if (to > *reach) {
        while (*reach < to) put_u32(u->ways + WAY * ++*reach + WAY_LENGTH, 0);
    } else if (get_u32(way + WAY_LENGTH) && !(sum > get_double(way))) {
        return 1;
    }
    put_way(way, sum, length, id);
    return 1;
}

/* sentencepiece subtracts a sum that has grown out of this from all the sums that are in use: a
   float has no bits left for it. */
#define LARGEST_SUM 100000.0

static NO_INLINE double reset_sums(unigram *u, size_t at, size_t reach, double sum) {
    size_t i;
    for (i = at; i <= reach; i++) {
        uint8_t *way = u->ways + WAY * i;
        double rest = rounded(get_double(way) - sum, 1);
        if (i == at || get_u32(way + WAY_LENGTH)) COPY(way, &rest, 8);
    }
    return 0;
}

/* Goes on from `from` to the end of the piece. Wherever no token reaches over, the way so far is
   emitted, and `from` moves there: so the ways need room for the longest part without such a place,
   not for the piece. 0: there is too little room; nothing behind `from` is done. */
static FORCE_INLINE int find_ways(unigram *u, int single) {
    run *r = u->r;
    const tkx *t = r->t;
    const double unknown = unknown_score(t);
    const uint32_t id_count = t->id_count, root = t->trie_root;
    size_t at = 0, reach = 0;
    put_way(u->ways, u->sum, 0, 0);
    while (u->from + at < u->end) {
        const uint8_t *start = u->from + at, *p = start;
        const size_t character = t->trie_flags & BYTE_CHARACTERS ? 1 : utf8_length(*start);
        double sum = get_double(u->ways + WAY * at);
        uint32_t base = root;
        int is_covered = 0;
        if (single && (sum < -LARGEST_SUM || sum > LARGEST_SUM))
            sum = reset_sums(u, at, reach, sum);
        do {
            uint64_t unit = trie_child(t, base, *p);
            uint32_t id = id_of(unit);
            if (label_of(unit) != *p) {
                if (!EXPECT(label_of(unit) <= 256)) fail(r, TKX_E_CORRUPT);
                break;
            }
            p++;
            base = base_of(unit);
            if (id == MAX_IDS) continue;
            if (!EXPECT(id < id_count)) {
                fail(r, TKX_E_CORRUPT);
                break;
            }
            if ((size_t)(p - start) == character) is_covered = 1;
            if (!add_way(u, &reach, (size_t)(p - u->from), rounded(score_of(t, id) + sum, single),
                         (size_t)(p - start), id))
                return 0;
        } while (p < u->end);
        if (!is_covered) {
            if (!add_way(u, &reach, at + character, rounded(unknown + sum, single), character,
                         t->unknown_id))
                return 0;
            /* Without an unknown token the reference stops where it would take it, even if a better
               way were found later. */
            if (get_u32(u->ways + WAY * (at + character) + WAY_ID) == NONE)
                fail(r, TKX_E_UNKNOWN_TEXT);
        }
        if (r->code != TKX_OK) return 1;
        at += character;
        if (at == reach) {
            const double here = get_double(u->ways + WAY * at);
            emit_way(u, at);
            u->from += at;
            u->sum = here;
            put_way(u->ways, here, 0, 0);
            at = reach = 0;
        }
    }
    return 1;
}

static NO_INLINE int find_ways_in_double(unigram *u) { return find_ways(u, 0); }

static NO_INLINE int find_ways_in_single(unigram *u) { return find_ways(u, 1); }

static void encode_unigram(run *r, const uint8_t *bytes, size_t size) {
    uint8_t few[WAY * (FEW_WAYS + 1)];
    const size_t mark = r->memory_used;
    unigram u;
    u.r = r;
    u.from = bytes;
    u.end = bytes + size;
    u.unknown = NULL;
    u.sum = 0;
    u.ways = few;
    u.room = FEW_WAYS;
    while (!(r->t->trie_flags & SINGLE_PRECISION ? find_ways_in_single(&u)
                                                 : find_ways_in_double(&u))) {
        /* Each time eight times the room, so that what is done again is little. */
        size_t rest = (size_t)(u.end - u.from);
        u.room = smaller(rest, 8 * u.room);
        r->memory_used = mark;
        u.ways = borrow(r, (uint64_t)WAY * ((uint64_t)u.room + 1));
        if (!u.ways) {
            r->memory_needed = mark + (uint64_t)WAY * ((uint64_t)rest + 1);
            return;
        }
    }
    if (r->code == TKX_OK) emit_waiting(&u, u.end);
    r->memory_used = mark;
}

#endif
