/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- offsets.c: spans (annex A) -------------------------------------------------------------- */

#if !defined(TKX_NO_OFFSETS) || !defined(TKX_NO_NORMALIZER)

/* The source in the input of bytes of the current text, extended to whole characters. */
static void find_source(const tkx_context *ctx, const uint8_t *from, const uint8_t *to,
                        size_t *first, size_t *after) {
    const tkx_text *v = &ctx->text;
    if (v->alignment) {
        *first = get_u32(v->alignment + 8 * (size_t)(from - v->base));
        *after = get_u32(v->alignment + 8 * (size_t)(to - 1 - v->base) + 4);
    } else {
        while (from > v->base && utf8_inside(*from)) from--;
        while (to < v->limit && utf8_inside(*to)) to++;
        *first = (size_t)(from - v->base);
        *after = (size_t)(to - v->base);
    }
}

#endif

#ifndef TKX_NO_OFFSETS

static int wants_spans(const tkx_context *ctx) { return ctx->where.spans != NULL; }

/* Moves a position to a byte, and returns the index of the character that the byte belongs to. */
static size_t count_to(const tkx_locator *w, tkx_position *at, size_t byte) {
    for (; at->byte < byte; at->byte++) at->character += !utf8_inside(w->input[at->byte]);
    for (; at->byte > byte; at->byte--) at->character -= !utf8_inside(w->input[at->byte - 1]);
    return at->character - (byte < w->input_size && utf8_inside(w->input[byte]) ? 1u : 0u);
}

/* Converts a span from bytes to characters. Counts from the previous span, in linear time. */
static void to_characters(tkx_locator *w, size_t *from, size_t *to) {
    *from = count_to(w, &w->start, *from);
    *to = count_to(w, *to >= w->furthest.byte ? &w->furthest : &w->end, *to);
}

/* The number of spaces at both ends of a model token, from TRIM or else from its bytes. */
static void count_spaces(tkx_context *ctx, uint32_t id, size_t *leading, size_t *trailing) {
    const tkx *t = ctx->t;
    const uint8_t *bytes, *entries = t->trims.data + TRIM_HEADER;
    const size_t count = (size_t)field(t->trims, 4),
                 at = lower_bound(entries, TRIM_SIZE, count, id);
    uint32_t length, flags, i;
    if (at < count && load_u32(entries + TRIM_SIZE * at) == id) {
        *leading = load_u16(entries + TRIM_SIZE * at + 4);
        *trailing = load_u16(entries + TRIM_SIZE * at + 6);
    } else if (read_record(t, id, &bytes, &length, &flags)) {
        for (i = 0; i < length && bytes[i] == ' '; i++) ++*leading;
        for (i = length; i > 0 && bytes[i - 1] == ' '; i--) ++*trailing;
    } else {
        fail(ctx, TKX_E_CORRUPT);
    }
}

/* Trims the white space of a token from its span, as often as the file says. */
static void trim(const tkx_context *ctx, size_t leading, size_t trailing, size_t *from,
                 size_t *to) {
    uint32_t passes = (uint32_t)field(ctx->t->trims, 0);
    for (; (passes & 3) != TRIM_END; passes >>= 2) {
        const int keeps =
            (passes & 3) == TRIM_KEEP_FIRST && leading == 1 && (ctx->count == 0 || *from == 0);
        if (leading && !keeps) *from = smaller(*from + leading, *to);
        if (trailing && *to >= trailing) *to = *to - trailing > *from ? *to - trailing : *from;
    }
}

/* Writes the span of the next id to be emitted. */
static void put_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to, size_t leading,
                     size_t trailing) {
    size_t first, after;
    find_source(ctx, from, to, &first, &after);
    /* `tokenizers` does not convert a span that begins at the end of the input */
    if (ctx->where.unit == TKX_CHARACTERS &&
        (first < ctx->where.input_size || ctx->t->alignment.data))
        to_characters(&ctx->where, &first, &after);
    if (leading || trailing) trim(ctx, leading, trailing, &first, &after);
    if (ctx->count < ctx->capacity) {
        ctx->where.spans[2 * ctx->count] = (uint32_t)first;
        ctx->where.spans[2 * ctx->count + 1] = (uint32_t)after;
    }
}

#ifndef TKX_NO_WORDLEVEL

/* Extends the span of the last id up to `to`. */
static void extend_span(tkx_context *ctx, const uint8_t *from, const uint8_t *to) {
    size_t first, after;
    find_source(ctx, from, to, &first, &after);
    if (ctx->where.unit == TKX_CHARACTERS) to_characters(&ctx->where, &first, &after);
    if (ctx->count <= ctx->capacity) ctx->where.spans[2 * ctx->count - 1] = (uint32_t)after;
}

#endif

static TKX_NOINLINE void put_token_span(tkx_context *ctx, uint32_t id, const uint8_t *from,
                                        const uint8_t *to) {
    size_t leading = 0, trailing = 0;
    if (field(ctx->t->trims, 0)) count_spaces(ctx, id, &leading, &trailing);
    put_span(ctx, from, to, leading, trailing);
}

#else

static int wants_spans(const tkx_context *ctx) { return (void)ctx, 0; }

#endif

/* Emits an id of the model that covers at least one byte of the current text. */
static TKX_INLINE void emit_token(tkx_context *ctx, uint32_t id, const uint8_t *from,
                                  const uint8_t *to) {
#ifndef TKX_NO_OFFSETS
    if (!TKX_LIKELY(!wants_spans(ctx))) put_token_span(ctx, id, from, to);
#endif
    (void)from, (void)to;
    emit(ctx, id);
}
