/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- context.h: a call and its memory -------------------------------------------------------- */

/* A pre-token that is to be encoded. */
typedef struct tkx_pending {
    const uint8_t *p;
    size_t size;
    uint8_t *set;    /* its set in the word cache, or NULL */
    uint64_t key[4]; /* of the word cache */
    uint64_t hash;   /* and slot in TIDX, if is_hashed */
    uint32_t slot;
    int is_hashed;
    int is_part; /* a part of a pre-token, cut where no merge crosses */
} tkx_pending;

/* Pre-tokens in a batch. The tables exceed the caches of the machine: their cache lines are fetched
   while the rest of the batch is found. 1.4 times the speed on English prose; 16 or 64 are no
   better. */
enum { BATCH = 32 };

/* Maps the current text to the input: it is a part of it, or a rewritten part. */
typedef struct tkx_source_map {
    const uint8_t *base; /* the first byte of the current text */
    /* for each byte from `base` on, the start and end of its source in the input as two u32; NULL:
       the current text is the input, which begins at `base` */
    const uint8_t *alignment;
} tkx_source_map;

#ifndef TKX_NO_OFFSETS

/* A position in the input. */
typedef struct tkx_position {
    size_t byte, character;
} tkx_position;

/* What tkx_encode_spans needs besides. */
typedef struct tkx_locator {
    uint32_t *spans; /* two numbers for each id; NULL: no spans */
    int unit;
    const uint8_t *input;
    size_t input_size;
    tkx_position start, end, furthest; /* up to where characters were counted */
} tkx_locator;

#endif

/* One call of encode. `code` is the first error: callers return as soon as it is not 0. */
typedef struct tkx_context {
    const tkx *t;
    const uint8_t *allowed; /* special tokens: bits, or NULL: see `special` */
    size_t allowed_size;
    int special; /* 0: none are found, 1: all are, 2: those of `allowed` */
    int code;
    uint32_t *ids;
    size_t capacity, count;
    /* the value of `count` after the last unknown word (FUSE_UNKNOWN); 0: there was none */
    size_t unknown_count;
    uint8_t *memory, no_memory[1];
    size_t memory_size, memory_used;
    uint64_t memory_needed;
    uint8_t *cache;
    unsigned cache_shift; /* a hash shifted right by this is the number of a set */
    const uint8_t *limit; /* the end of the bytes that may be read */
    const uint8_t *begin; /* the start of the input in the current text */
    tkx_source_map sources;
#ifndef TKX_NO_OFFSETS
    tkx_locator where;
#endif
    size_t pending_count;
    tkx_pending batch[BATCH];
} tkx_context;

static int fail(tkx_context *ctx, int code) {
    if (ctx->code == TKX_OK) ctx->code = code;
    return ctx->code;
}

static void emit(tkx_context *ctx, uint32_t id) {
    if (ctx->count < ctx->capacity) ctx->ids[ctx->count] = id;
    ctx->count++;
}

/* Allocates on top of the work memory in use; memory_used is reset to free it. NULL: too little,
   ctx->code is set. */
static uint8_t *work_alloc(tkx_context *ctx, uint64_t size) {
    uint8_t *memory = ctx->memory + ctx->memory_used;
    if (size > ctx->memory_size - ctx->memory_used) {
        ctx->memory_needed = ctx->memory_used + size;
        fail(ctx, TKX_E_WORK);
        return NULL;
    }
    ctx->memory_used += (size_t)size;
    return memory;
}

/* Work memory for each byte that a model reads: MERGE_BYTES for the longest pre-token, and a bit
   for each memoized state. For each byte that an operation reads or writes: 1, for FORM 8 more, for
   REPLACE a bit for each memoized state. */
enum { MERGE_BYTES = 40, LENGTH_BYTES = 4 };

#ifndef TKX_NO_OFFSETS
enum { SPANS = 1 }; /* 8 more for each byte that an operation reads or writes */
#else
enum { SPANS = 0 };
#endif

#define TKX_TOO_MUCH (UINT64_C(1) << 48)

#ifndef TKX_NO_NORMALIZER

/* Adds to *total the work memory of an operation on texts of *size bytes in `count` pre-tokens, and
   sets *size to the most that it writes. */
static void add_op_size(const tkx_op *op, uint64_t count, uint64_t *size, uint64_t *total) {
    uint64_t grown = *size * smaller(op->growth, 1 << 16) + smaller(op->extra, 1 << 16) * count;
    *total += 2 * *size + grown + 16;
    if (SPANS) *total += 8 * (*size + grown);
    if (op->kind == FORM) *total += 8 * grown;
    if (op->kind == REPLACE)
        *total += (*size + 1) * (op->program.memo_count / 8 + 1u + (op->program.labels != NULL));
    *size = grown < TKX_TOO_MUCH >> 17 ? grown : TKX_TOO_MUCH >> 17;
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
    return total > SIZE_MAX || bytes >= TKX_TOO_MUCH >> 17 ? SIZE_MAX : (size_t)total;
}
