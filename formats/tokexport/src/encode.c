/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- encode.c: encoding (3.1) ---------------------------------------------------------------- */

#ifdef TKX_BULK
/* The bulk engine of the Python extension; returns 0 if it does not encode a segment. */
static int encode_bulk(tkx_context *ctx, const uint8_t *text, size_t size, int level);
#define TKX_ENCODE_BULK encode_bulk
#else
#define TKX_ENCODE_BULK(ctx, text, size, level) 0
#define TKX_BLOCK 8192
#endif

/* The stages and the model, for a segment without added tokens, which is not empty. */
static void encode_plain(tkx_context *ctx, const uint8_t *text, size_t size) {
    size_t mark = ctx->memory_used;
    if (TKX_ENCODE_BULK(ctx, text, size, 1)) return;
    split(ctx, text, text + size);
    encode_batch(ctx);
    ctx->memory_used = mark;
}

/* Emits the added tokens of a text and encodes the segments between them. */
static TKX_INLINE void encode_around(tkx_context *ctx, int normalized, const uint8_t *text,
                                     size_t size,
                                     void (*encode_part)(tkx_context *, const uint8_t *, size_t)) {
    const int has_any = has_tokens(ctx, normalized);
    tkx_scanner f;
    tkx_segment item;
    if (!has_any && size) encode_part(ctx, text, size);
    if (!has_any || TKX_ENCODE_BULK(ctx, text, size, 2 + normalized)) return;
    scanner_start(&f, ctx, normalized, text, size);
    while (ctx->code == TKX_OK && scanner_next(&f, &item)) {
        if (item.id != TKX_NONE) emit_added(ctx, item.id, text + item.from, text + item.to);
        else encode_part(ctx, text + item.from, item.to - item.from);
    }
}

/* All steps from the normalizer on, for a segment between raw added tokens, which is not empty. */
static void encode_segment(tkx_context *ctx, const uint8_t *text, size_t size) {
    const size_t mark = ctx->memory_used;
    const tkx_text outer = ctx->text;
    const tkx_span given = {text, size};
    if (TKX_ENCODE_BULK(ctx, text, size, 0)) return;
#ifndef TKX_NO_NORMALIZER
    rewrite(ctx, ctx->t->ops, ctx->t->normalizer_count, &text, &size);
#endif
#ifndef TKX_NO_OFFSETS
    if (wants_spans(ctx) && ctx->t->alignment.data && size && ctx->code == TKX_OK)
        align_whole(ctx, outer.base, given, text, size);
#endif
    (void)given;
    if (ctx->code != TKX_OK) return;
    encode_around(ctx, 1, text, size, encode_plain);
    ctx->text = outer;
    ctx->memory_used = mark;
}

/* All steps from the raw added tokens to the model, for a text that is valid UTF-8. */
static void encode_text(tkx_context *ctx, const uint8_t *text, size_t size) {
    ctx->text.limit = text + size;
    encode_around(ctx, 0, text, size, encode_segment);
}

/* The last offset where the text may be cut if the carry goes on, or 0. */
static size_t last_cut(const tkx *t, const uint8_t *p, size_t size) {
    size_t i;
    for (i = t->cuts.data ? size : 0; i > 1; i--) {
        uint8_t x = p[i - 2], y = p[i - 1];
        if (x < 128 && y < 128 && bit_of(t->cuts.data + x * 16, y)) return i - 1;
    }
    return 0;
}

size_t tkx_cut(const tkx *t, const void *text, size_t size) {
    return t && text && !has_carry(t) ? last_cut(t, (const uint8_t *)text, size) : 0;
}

/* Text that is rewritten or labelled is encoded in blocks of about TKX_BLOCK bytes, so that a copy
   of prose fits into 64 KB of work memory and into the processor's cache; but a charsmap may move
   all spans. TKX_E_WORK asks for at least SMALL_MEMORY, unless less is certainly enough. */
enum { SMALL_MEMORY = 1 << 16 };

static void encode_blocks(tkx_context *ctx, const uint8_t *text, size_t size) {
    const int is_moved = wants_spans(ctx) && ctx->t->moves_spans,
              in_blocks = !is_moved && (ctx->t->op_count || field(ctx->t->labels, 0));
    ctx->text.begin = text;
    while (size > TKX_BLOCK && in_blocks && ctx->code == TKX_OK) {
        size_t length = TKX_BLOCK, cut = last_cut(ctx->t, text, length);
        while (cut == 0 && length < size) {
            length = length > size / 2 ? size : 2 * length;
            cut = length < size ? last_cut(ctx->t, text, length) : 0;
        }
        if (cut == 0) break;
        encode_text(ctx, text, cut);
        text += cut;
        size -= cut;
    }
    if (ctx->code == TKX_OK) encode_text(ctx, text, size);
}

static void use_workspace(tkx_context *ctx, const tkx_work *work) {
    size_t sets, offset;
    ctx->memory = ctx->no_memory;
    if (work && work->memory) {
        ctx->memory = (uint8_t *)work->memory;
        ctx->memory_size = work->memory_size;
    }
#ifdef TKX_BULK
    ctx->bulk = work && !wants_spans(ctx) ? work->bulk : NULL;
    if (work && work->carry) ctx->carry = *work->carry;
#endif
    /* the cache stores neither spans nor what depends on the carry */
    if (!work || !work->cache || wants_spans(ctx) || has_carry(ctx->t)) return;
    /* a set must not straddle two cache lines */
    offset = (size_t)(0 - (uintptr_t)work->cache) & (SET - 1);
    if (work->cache_size < offset + 2 * SET) return;
    ctx->cache = (uint8_t *)work->cache + offset;
    sets = (work->cache_size - offset) / SET;
    for (ctx->cache_shift = 64; sets > 1; sets >>= 1) ctx->cache_shift--;
}

/* The size to report with TKX_E_WORK (tokexport.h). */
static size_t memory_to_retry(const tkx_context *ctx, size_t size) {
    const uint64_t most = work_size(ctx->t, size, wants_spans(ctx));
    uint64_t wanted = 2 * (uint64_t)ctx->memory_size;
    if (wanted < SMALL_MEMORY) wanted = SMALL_MEMORY;
    if (wanted < ctx->memory_needed) wanted = ctx->memory_needed;
    return (size_t)(wanted < most ? wanted : most);
}

static int encode(tkx_context *ctx, const void *text, size_t size, uint32_t *ids, size_t capacity,
                  size_t *count, const tkx_work *work) {
    const tkx *t = ctx->t;
    size_t valid;
    if (!count) return TKX_E_ARGUMENT;
    *count = 0;
    if (!t || (!text && size) || size > MAX_TEXT || (!ids && capacity)) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    if (size == 0) return TKX_OK;
#ifdef TKX_BULK
    if (!work || !work->is_utf8)
#endif
        if ((valid = utf8_valid((const uint8_t *)text, size)) < size)
            return *count = valid, TKX_E_UTF8;
    ctx->ids = ids;
    ctx->capacity = capacity;
    ctx->text.base = ctx->input = (const uint8_t *)text;
    use_workspace(ctx, work);
    encode_blocks(ctx, (const uint8_t *)text, size);
    if (ctx->code == TKX_E_WORK) ctx->memory_needed *= 4; /* later steps need some, too */
    if (ctx->memory_needed) fail(ctx, TKX_E_WORK);
    if (ctx->code == TKX_E_WORK) *count = memory_to_retry(ctx, size);
    if (ctx->code != TKX_OK) return ctx->code;
    *count = ctx->count;
#ifdef TKX_BULK
    if (work && work->carry && ctx->count <= capacity) *work->carry = ctx->carry;
#endif
    return ctx->count <= capacity ? TKX_OK : TKX_E_IDS;
}

static void context_init(tkx_context *ctx, const tkx *t, int special) {
    memset(ctx, 0, offsetof(tkx_context, batch));
    ctx->t = t;
    ctx->special = special;
}

/* Encodes with all special tokens, none, or those in a bitmap (see tkx_context). `carry` is that of
   the text before, and becomes that of the text; NULL: there is no text before or after. */
static TKX_NOINLINE int encode_bits(int special, const uint8_t *allowed, size_t allowed_size,
                                    double *carry, const tkx *t, const void *text, size_t size,
                                    uint32_t *ids, size_t capacity, size_t *count,
                                    const tkx_work *work) {
    tkx_context ctx;
    int code;
    if (!allowed && allowed_size) return TKX_E_ARGUMENT;
    context_init(&ctx, t, special);
    ctx.allowed = allowed;
    ctx.allowed_size = allowed_size;
    if (carry) ctx.carry = *carry;
    code = encode(&ctx, text, size, ids, capacity, count, work);
    if (carry && code == TKX_OK) *carry = ctx.carry;
    return code;
}

int tkx_encode(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
               size_t *count, const tkx_work *work) {
    return encode_bits(0, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_special(const tkx *t, const void *text, size_t size, uint32_t *ids, size_t capacity,
                       size_t *count, const tkx_work *work) {
    return encode_bits(1, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_with_template(const tkx *t, const void *text, size_t size, int special,
                             uint32_t *ids, size_t capacity, size_t *count, const tkx_work *work) {
    uint32_t index, kind, id, type_id;
    size_t used = 0, made;
    int code;
    special = special != 0;
    if (!t || !field(t->post, 0))
        return encode_bits(special, NULL, 0, NULL, t, text, size, ids, capacity, count, work);
    if (!count) return TKX_E_ARGUMENT;
    *count = 0;
    if (!ids && capacity) return TKX_E_ARGUMENT;
    for (index = 0; (code = tkx_template(t, 0, index, &kind, &id, &type_id)) == TKX_OK; index++) {
        const size_t at = smaller(used, capacity);
        if (kind == 2) return TKX_E_CORRUPT;
        if (kind == 0) {
            if (used++ < capacity) ids[at] = id;
            continue;
        }
        code = encode_bits(special, NULL, 0, NULL, t, text, size, ids ? ids + at : NULL,
                           capacity - at, &made, work);
        if (code != TKX_OK && code != TKX_E_IDS) return *count = made, code;
        used += made;
    }
    if (code != TKX_E_NOT_FOUND) return code;
    *count = used;
    return used <= capacity ? TKX_OK : TKX_E_IDS;
}

int tkx_encode_allowed(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                       size_t allowed_size, uint32_t *ids, size_t capacity, size_t *count,
                       const tkx_work *work) {
    return encode_bits(2, allowed, allowed_size, NULL, t, text, size, ids, capacity, count, work);
}

int tkx_encode_marked(const tkx *t, const void *text, size_t size, const uint8_t *marks,
                      uint32_t *ids, size_t capacity, size_t *count, const tkx_work *work) {
    const size_t marks_size = size / 8 + (size % 8 != 0);
    return encode_bits(3, marks, marks_size, NULL, t, text, size, ids, capacity, count, work);
}

#ifndef TKX_NO_OFFSETS

int tkx_encode_spans(const tkx *t, const void *text, size_t size, const uint8_t *allowed,
                     size_t allowed_size, int unit, uint32_t *ids, uint32_t *spans, size_t capacity,
                     size_t *count, const tkx_work *work) {
    static const uint8_t nothing[1] = {0};
    uint32_t no_spans[1];
    tkx_context ctx;
    if ((!allowed && allowed_size && allowed_size != TKX_ALL) || (!spans && capacity))
        return TKX_E_ARGUMENT;
    if (unit != TKX_BYTES && unit != TKX_CHARACTERS) return TKX_E_ARGUMENT;
    if (t && field(t->trims, 0) == TKX_NONE) {
        if (count) *count = 0;
        return TKX_E_NO_SPANS;
    }
    context_init(&ctx, t, allowed_size == TKX_ALL ? 1 : allowed_size ? 2 : 0);
    ctx.allowed = allowed ? allowed : nothing;
    ctx.allowed_size = allowed_size;
    ctx.where.spans = spans ? spans : no_spans;
    ctx.where.unit = unit;
    ctx.where.input = (const uint8_t *)text;
    ctx.where.input_size = size;
    return encode(&ctx, text, size, ids, capacity, count, work);
}

#endif

/* ---- encode.c: encoding a stream ------------------------------------------------------------- */

int tkx_encoder_init(tkx_encoder *e, const tkx *t, int special, void *window, size_t window_size,
                     const tkx_work *work) {
    if (!e || !t || !window || window_size == 0 || window_size > MAX_TEXT) return TKX_E_ARGUMENT;
    if (!t->splits.data) return TKX_E_NO_ENCODER;
    *e = (tkx_encoder){t, work, (uint8_t *)window, window_size, 0, special != 0, 0, 0};
    return TKX_OK;
}

/* Encodes and removes the first `size` bytes of the window. On an error nothing is changed. */
static int encode_window(tkx_encoder *e, size_t size, uint32_t *ids, size_t capacity,
                         size_t *count) {
    const int code = encode_bits(e->special, NULL, 0, &e->carry, e->t, e->window, size, ids,
                                 capacity, count, e->work);
    if (code != TKX_OK) return code;
    e->used -= size;
    memmove(e->window, e->window + size, e->used);
    return TKX_OK;
}

int tkx_encoder_feed(tkx_encoder *e, const void *text, size_t size, size_t *taken, uint32_t *ids,
                     size_t capacity, size_t *count) {
    size_t old, searched, cut;
    int code;
    if (!e || !e->t || !taken || !count || (!text && size) || (!ids && capacity))
        return TKX_E_ARGUMENT;
    *taken = *count = 0;
    if (e->finished) return TKX_E_STATE;
    if (capacity / 3 < e->window_size) {
        *count = 3 * e->window_size;
        return TKX_E_IDS;
    }
    if (size == 0) return TKX_OK;
    old = e->used;
    size = smaller(size, e->window_size - old);
    memcpy(e->window + old, text, size);
    e->used += size;
    /* a cut up to `old` would have been found by an earlier call */
    searched = old ? old - 1 : 0;
    cut = last_cut(e->t, e->window + searched, e->used - searched);
    if (cut == 0) {
        *taken = size;
        return size == 0 ? TKX_E_WINDOW : TKX_OK;
    }
    code = encode_window(e, searched + cut, ids, capacity, count);
    if (code == TKX_OK) *taken = size;
    else e->used = old;
    return code;
}

int tkx_encoder_finish(tkx_encoder *e, uint32_t *ids, size_t capacity, size_t *count) {
    int code;
    if (!e || !e->t || !count || (!ids && capacity)) return TKX_E_ARGUMENT;
    *count = 0;
    if (e->finished) return TKX_E_STATE;
    code = encode_window(e, e->used, ids, capacity, count);
    if (code == TKX_OK) e->finished = 1;
    return code;
}
