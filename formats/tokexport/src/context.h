/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- context.h: a call and its memory -------------------------------------------------------- */

/* A piece that waits to be encoded. */
typedef struct waiting {
    const uint8_t *p;
    size_t size;
    uint8_t *set;    /* where it belongs in the word cache, or NULL */
    uint64_t key[4]; /* of the word cache */
    uint64_t hash;   /* and slot in TIDX, if is_hashed */
    uint32_t slot;
    int is_hashed;
    int is_part; /* of a piece, cut where no merge crosses */
} waiting;

/* How many pieces wait at most. The tables are much larger than the caches of the machine: while
   the pieces of a batch are found, the lines of memory that they need come in. 1.4 times the speed
   of one piece after the other on English prose; 16 or 64 are no better than 32. */
enum { BATCH = 32 };

/* Where the text at hand comes from: it is a part of the input, or what rewriting has made of
   one. */
typedef struct view {
    const uint8_t *base; /* the first byte of the text at hand */
    /* for each byte from `base` on u32 from, u32 to, in the order of the host: where its source in
       the input begins and ends; NULL: the text at hand is the input, which begins at `base` */
    const uint8_t *alignment;
} view;

#ifndef TKX_NO_OFFSETS

/* A place in the input. */
typedef struct position {
    size_t byte, character;
} position;

/* What a call needs besides to say where its ids stand in the input. */
typedef struct locator {
    uint32_t *spans; /* two numbers an id, or NULL: nobody asked for them */
    int unit;
    const uint8_t *input;
    size_t input_size;
    position start, end, furthest; /* up to where characters were counted */
} locator;

#endif

/* One call of encode. `code` is the first error; whoever sees it set goes home. */
typedef struct run {
    const tkx *t;
    const uint8_t *allowed; /* special tokens: bits, or NULL: see `special` */
    size_t allowed_size;
    int special; /* 0: none are found, 1: all are, 2: those of `allowed` */
    int code;
    uint32_t *ids;
    size_t capacity, count;
    /* the value of `count` behind the last unknown word (FUSE_UNKNOWN); 0: there was none */
    size_t unknown_count;
    uint8_t *memory, no_memory[1];
    size_t memory_size, memory_used;
    uint64_t memory_needed;
    uint8_t *cache;
    unsigned cache_shift; /* a hash shifted right by this is the number of a set */
    const uint8_t *limit; /* end of the bytes that may be read behind a piece */
    const uint8_t *begin; /* where the input begins, in the text at hand */
    view at_hand;
#ifndef TKX_NO_OFFSETS
    locator where;
#endif
    size_t waiting_count;
    waiting batch[BATCH];
} run;

static int fail(run *r, int code) {
    if (r->code == TKX_OK) r->code = code;
    return r->code;
}

static void emit(run *r, uint32_t id) {
    if (r->count < r->capacity) r->ids[r->count] = id;
    r->count++;
}

/* Borrows from the work memory, above what is borrowed already; give back by setting memory_used.
   NULL: too little, r->code is set. */
static uint8_t *borrow(run *r, uint64_t size) {
    uint8_t *memory = r->memory + r->memory_used;
    if (size > r->memory_size - r->memory_used) {
        r->memory_needed = r->memory_used + size;
        fail(r, TKX_E_WORK);
        return NULL;
    }
    r->memory_used += (size_t)size;
    return memory;
}

/* Per byte of text that a model sees: MERGE_BYTES for the longest piece and a bit for each state
   that is remembered. Per byte that an operation takes or gives: 1, for FORM 8 more for each code
   point, for REPLACE a bit for each state that is remembered. */
enum { MERGE_BYTES = 40, LENGTH_BYTES = 4 };

#ifndef TKX_NO_OFFSETS
enum { SPANS = 1 }; /* 8 more for each byte that an operation takes or gives */
#else
enum { SPANS = 0 };
#endif

#define TOO_MUCH (UINT64_C(1) << 48)

#ifndef TKX_NO_NORMALIZER

/* Adds to *total what an operation wants for texts of *size bytes in `count` pieces, and makes
   *size what it gives at most. */
static void add_op_size(const tkx_op *op, uint64_t count, uint64_t *size, uint64_t *total) {
    uint64_t grown = *size * smaller(op->growth, 1 << 16) + smaller(op->extra, 1 << 16) * count;
    *total += 2 * *size + grown + 16;
    if (SPANS) *total += 8 * (*size + grown);
    if (op->kind == FORM) *total += 8 * grown;
    if (op->kind == REPLACE)
        *total += (*size + 1) * (op->program.memo_count / 8 + 1u + (op->program.labels != NULL));
    *size = grown < TOO_MUCH >> 17 ? grown : TOO_MUCH >> 17;
}

#endif

size_t tkx_work_size(const tkx *t, size_t size) {
    uint64_t each = MERGE_BYTES + (SPANS ? LENGTH_BYTES : 0), bytes = smaller(size, MAX_TEXT),
             total = 256;
    uint32_t i;
    if (!t) return 0;
#ifndef TKX_NO_NORMALIZER
    for (i = 0; i < t->normalizer_count; i++) add_op_size(&t->ops[i], 1, &bytes, &total);
#endif
    for (i = 0; i < t->stage_count; i++) {
        const tkx_stage *s = &t->stages[i];
#ifndef TKX_NO_NORMALIZER
        uint32_t j;
        for (j = 0; j < s->op_count; j++)
            add_op_size(&t->ops[s->first_op + j], i ? bytes : 1, &bytes, &total);
#endif
        each += s->memo_count / 8 + 1u + (s->labels != NULL);
    }
    if (t->alignment.data) total += 8 * bytes;
    total += each * bytes;
    return total > SIZE_MAX || bytes >= TOO_MUCH >> 17 ? SIZE_MAX : (size_t)total;
}
