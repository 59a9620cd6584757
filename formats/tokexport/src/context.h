/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- context.h: a call and its memory -------------------------------------------------------- */

/* A pre-token that is to be encoded. */
typedef struct tkx_pending {
    const uint8_t *p;
    size_t size;
    uint8_t *set;    /* its set in the word cache, or NULL */
    uint64_t key[4]; /* of the word cache */
    uint64_t hash;   /* of the bytes, if `set` is NULL or `has_slot` is 1 */
    uint32_t slot;   /* in TIDX, if `has_slot` is 1 */
    uint8_t has_slot;
    uint8_t is_part;  /* a part of a pre-token, cut where no merge crosses */
    uint8_t has_word; /* 8 bytes may be read at p */
} tkx_pending;

/* Pre-tokens in a batch. English prose: 1.4 times as fast; 16 or 64 are no better. */
enum { BATCH = 32 };

/* The current text: a part of the input, or a rewritten part. */
typedef struct tkx_text {
    const uint8_t *limit; /* the end of the bytes that may be read */
    const uint8_t *begin; /* where the input begins in it */
    const uint8_t *base;  /* its first byte */
    /* for each byte from `base` on, the start and end of its source in the input, as two u32; NULL
       if the text is the input, which begins at `base` */
    const uint8_t *alignment;
} tkx_text;

/* A position in the input. */
typedef struct tkx_position {
    size_t byte, character;
} tkx_position;

/* The additional state of tkx_encode_spans. */
typedef struct tkx_locator {
    uint32_t *spans; /* two numbers for each id; NULL: no spans */
    int unit;
    const uint8_t *input;
    size_t input_size;
    tkx_position start, end, furthest; /* where counting of characters stopped */
} tkx_locator;

/* A part of the text that was merged: its offset in the text, and the index of its first id. */
typedef struct tkx_merged {
    uint32_t text, ids;
    uint8_t size, count;
} tkx_merged;

/* Sizes of the caches that live for one call. Merged words recur in most texts: 1.1 times as fast
   in many scripts. Characters do, too: 1.2 times as fast in Chinese and Japanese. */
enum { RECENT_PARTS = 128, RECENT_CHARACTERS = 128 };

/* One call of encode. `code` is the first error: callers return as soon as it is not 0. */
typedef struct tkx_context {
    const tkx *t;
    const uint8_t *allowed; /* bits of special tokens, or NULL; see `special` */
    size_t allowed_size;
    const uint8_t *input; /* the whole text */
    /* which special tokens are found. 0: none, 1: all, 2: those in `allowed`, 3: those that begin
       at a byte of `input` whose bit is set in `allowed` */
    int special;
    int code;
    uint32_t *ids;
    size_t capacity, count;
    const uint8_t *recent; /* the `base` of the text that `parts` refer to, or NULL */
    double carry;          /* of the text so far; see tkx_encoder */
    uint8_t *memory, no_memory[1];
    size_t memory_size, memory_used;
    uint64_t memory_needed; /* more than `memory_size`, or 0 */
    uint8_t *cache;
    unsigned cache_shift; /* a hash shifted right by this is the number of a set */
#ifdef TKX_BULK
    struct tkx_bulk *bulk;
#endif
    tkx_text text;
    tkx_locator where;
    size_t pending_count;
    tkx_pending batch[BATCH];
    /* indexed by the hash of a part; by code point: it, and the symbol that its bytes merge to */
    tkx_merged parts[RECENT_PARTS];
    uint32_t characters[RECENT_CHARACTERS][2];
} tkx_context;

/* Whether the ids of a text depend on the carry of the text before it. */
static int has_carry(const tkx *t) {
    return (t->trie_flags & SINGLE_PRECISION) ||
           (t->model == MODEL_WORDLEVEL && (t->flags & FUSE_UNKNOWN));
}

static int fail(tkx_context *ctx, int code) {
    if (ctx->code == TKX_OK) ctx->code = code;
    return ctx->code;
}

static void emit(tkx_context *ctx, uint32_t id) {
    if (ctx->count < ctx->capacity) ctx->ids[ctx->count] = id;
    ctx->count++;
}

/* Records that a part of the text needs more work memory than there is. Where possible, the call
   continues, to learn the needs of other parts. */
static void need_memory(tkx_context *ctx, uint64_t size) {
    if (size > ctx->memory_needed) ctx->memory_needed = size;
}

/* Allocates work memory above the part in use. NULL: too little, which is recorded. */
static uint8_t *work_alloc(tkx_context *ctx, uint64_t size) {
    uint8_t *memory = ctx->memory + ctx->memory_used;
    if (size > ctx->memory_size - ctx->memory_used) {
        need_memory(ctx, ctx->memory_used + size);
        return NULL;
    }
    ctx->memory_used += (size_t)size;
    return memory;
}

/* Bytes of work memory for each byte of a long pre-token: BPE needs MERGE_BYTES, and LENGTH_BYTES
   more for spans; Unigram needs PATH. Spans need SOURCE_BYTES for each byte of rewritten text. */
enum { MERGE_BYTES = 40, LENGTH_BYTES = 4, SOURCE_BYTES = 8, PATH = 16 };

/* Bytes of rewritten pre-tokens retained in work memory, so that encode_batch has full batches. */
enum { MAX_RETAINED = 4096 };

/* Bytes of text for each row of a memo (match.c), and the size of all rows. */
enum { MEMO_STEP = 64 };

static uint64_t memo_bytes(uint32_t states, uint64_t bytes) {
    return ((bytes + MEMO_STEP - 1) / MEMO_STEP * states + 7) / 8;
}

/* A bound on the work memory of a call, while it is computed. */
typedef struct tkx_bound {
    uint64_t input, size; /* bytes of the whole text, and of the current text */
    uint64_t held;        /* bytes in use while the current text is read */
    uint64_t most;        /* bytes in use at any time */
    int has_spans;
} tkx_bound;

static void bound_use(tkx_bound *b, uint64_t more) {
    if (b->held + more > b->most) b->most = b->held + more;
}

#ifndef TKX_NO_NORMALIZER

/* Adds the memory of `count` operations, each with the result of the previous one. */
static void bound_ops(tkx_bound *b, const tkx_op *op, uint32_t count, uint32_t source) {
    const uint64_t before = b->held;
    for (; count; count--, op++) {
        uint64_t grown = b->input * op->growth + op->extra, more = 0;
        if (grown >> 40) grown = UINT64_C(1) << 40;
        if (op->kind == FORM) more = 3 * grown + 32; /* 8 for each mark of at least 2 bytes */
        if (op->program.classes) more = memo_bytes(op->program.state_count, b->size + 1);
        bound_use(b, (1 + source) * grown + more);
        b->held = before + (1 + source) * grown;
        b->size = grown;
    }
}

/* Bytes for the source of each byte that a stage or the normalizer writes (with ALGN, 0). */
static uint32_t source_bytes(const tkx *t, int has_spans, int in_stage) {
    if (t->alignment.data && !in_stage) return 0;
    return has_spans || t->follows_sources ? SOURCE_BYTES : 0;
}

#endif

/* Later stages work on one pre-token at a time, and some of their output is retained. */
static void bound_stage(tkx_bound *b, const tkx *t, uint32_t i) {
    const tkx_stage *s = &t->stages[i];
#ifndef TKX_NO_NORMALIZER
    if (s->flags & REWRITE)
        bound_ops(b, t->ops + s->first_op, s->op_count, source_bytes(t, b->has_spans, 1));
#endif
    b->held += memo_bytes(s->state_count, b->size + 1) + (s->labels ? b->size : 0);
    if (i && t->op_count) b->held += MAX_RETAINED;
    bound_use(b, 0);
}

/* The work memory that is enough for any text of `size` bytes. */
static size_t work_size(const tkx *t, size_t size, int has_spans) {
    tkx_bound b = {smaller(size, MAX_TEXT), smaller(size, MAX_TEXT), 0, 0, has_spans};
    uint32_t i;
#ifndef TKX_NO_NORMALIZER
    bound_ops(&b, t->ops, t->normalizer_count, source_bytes(t, has_spans, 0));
#endif
    if (has_spans && t->alignment.data) b.held += SOURCE_BYTES * b.size;
    for (i = 0; i < t->stage_count; i++) bound_stage(&b, t, i);
    if (t->model == MODEL_BPE)
        bound_use(&b, (MERGE_BYTES + (has_spans ? LENGTH_BYTES : 0u)) * b.size);
    if (t->model == MODEL_UNIGRAM) bound_use(&b, PATH * (b.size + 1));
    bound_use(&b, 0);
    return b.most < SIZE_MAX ? (size_t)b.most : SIZE_MAX;
}

size_t tkx_work_size(const tkx *t, size_t size) { return t ? work_size(t, size, 0) : 0; }

#ifndef TKX_NO_OFFSETS

size_t tkx_spans_work_size(const tkx *t, size_t size) { return t ? work_size(t, size, 1) : 0; }
#endif
