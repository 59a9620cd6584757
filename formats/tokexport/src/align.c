/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- align.c: alignment of a whole normalizer (annex A, ALGN) -------------------------------- */

#ifndef TKX_NO_OFFSETS

/* The alignment of a normalized text, in progress from left to right. */
typedef struct tkx_aligner {
    tkx_context *ctx;
    const uint8_t *input;
    tkx_scanner protected;
#ifndef TKX_NO_NORMALIZER
    const tkx_op *charsmap; /* or NULL */
#endif
    uint32_t flags;
    const uint8_t *text;
    /* the length of the text without a suffix, and the number of its bytes that have a source */
    size_t size, used;
    uint8_t *alignment;
    /* the start of the source of the first space dropped at the end, or NULL */
    const uint8_t *dropped;
} tkx_aligner;

/* The end of the characters at p that sentencepiece replaces as a unit, and their replacement. */
static const uint8_t *find_chunk(tkx_aligner *a, const uint8_t *p, tkx_span *becomes) {
    const size_t at = (size_t)(p - a->protected.text);
    uint32_t token;
#ifndef TKX_NO_NORMALIZER
    if (a->charsmap) return charsmap_part(&a->protected, a->charsmap, p, becomes);
#endif
    becomes->data = p;
    becomes->size = longest_content(&a->protected, at, &token);
    if (!becomes->size) becomes->size = utf8_length(*p);
    if (at + becomes->size < a->protected.size && utf8_inside(p[becomes->size]))
        fail(a->ctx, TKX_E_CORRUPT);
    return p + becomes->size;
}

/* Whether a character is a space, or U+2581, which marks one. */
static int is_space_or_mark(const uint8_t *p) { return *p == ' ' || utf8_decode(p) == 0x2581; }

/* Sets p as the start of the source of the next `size` bytes of the text. */
static void align_bytes(tkx_aligner *a, size_t size, const uint8_t *p) {
    for (; size; size--) put_u32(a->alignment + 8 * a->used++, (uint32_t)(p - a->input));
}

/* Matches a character of the rules with the next one of the text, or drops a space at its end. */
static void take_character(tkx_aligner *a, const uint8_t *character, const uint8_t *source) {
    const uint8_t *next = a->text + a->used;
    const int is_space = is_space_or_mark(character);
    if (a->used >= a->size) {
        if (!is_space || !(a->flags & ALIGN_COLLAPSE)) fail(a->ctx, TKX_E_CORRUPT);
        if (!a->dropped) a->dropped = source;
    } else if (utf8_decode(next) == utf8_decode(character) ||
               (is_space && is_space_or_mark(next))) {
        align_bytes(a, utf8_length(*next), source);
    } else {
        fail(a->ctx, TKX_E_CORRUPT);
    }
}

/* Follows the steps of sentencepiece's normalizer over the input. */
static void align_chunks(tkx_aligner *a) {
    static const uint8_t space[1] = {' '};
    const uint8_t *p = a->protected.text, *end = p + a->protected.size, *next;
    const int collapses = (a->flags & ALIGN_COLLAPSE) != 0;
    int after_space = collapses;
    tkx_span c;
    for (; collapses && p < end && a->ctx->code == TKX_OK; p = next) {
        next = find_chunk(a, p, &c);
        if (c.size != 1 || *c.data != ' ') break;
    }
    if (a->flags & ALIGN_PREFIX) take_character(a, space, p);
    for (; p < end && a->ctx->code == TKX_OK; p = next) {
        size_t i = 0;
        next = find_chunk(a, p, &c);
        while (after_space && i < c.size && c.data[i] == ' ') i++;
        if (i < c.size) after_space = collapses && c.data[c.size - 1] == ' ';
        for (; i < c.size && a->ctx->code == TKX_OK; i += utf8_length(c.data[i]))
            take_character(a, c.data + i, p);
    }
}

/* Aligns the result of a normalizer with its input, and makes it the current text. */
static TKX_NOINLINE void align_whole(tkx_context *ctx, const uint8_t *input, tkx_span given,
                                     const uint8_t *text, size_t size) {
    const tkx_span section = ctx->t->alignment;
    const uint8_t *after = text + size, *given_end = given.data + given.size;
    tkx_aligner a = {.ctx = ctx, .input = input, .flags = load_u32(section.data)};
    size_t i;
    if ((a.flags & ~(uint32_t)(ALIGN_PREFIX | ALIGN_SUFFIX | ALIGN_COLLAPSE)) ||
        load_u32(section.data + 12))
        fail(ctx, TKX_E_CORRUPT);
    if (ctx->code != TKX_OK) return;
    scanner_init(&a.protected, ctx, section.data + ALIGNMENT_HEADER, section.data + 4, given.data,
                 given_end);
#ifndef TKX_NO_NORMALIZER
    for (i = 0; i < ctx->t->normalizer_count && !a.charsmap; i++) {
        const tkx_op *op = &ctx->t->ops[i];
        if (op->kind != CHARSMAP || (op->flags & BY_CLUSTER)) continue;
        a.charsmap = op;
        scan_protected(&a.protected, ctx, op, given.data, given_end);
    }
#endif
    a.alignment = work_alloc(ctx, 8 * (uint64_t)size);
    if (!a.alignment) fail(ctx, TKX_E_WORK);
    if (ctx->code != TKX_OK) return;
    a.text = text;
    a.size = size;
    if (a.flags & ALIGN_SUFFIX) {
        after = before(after);
        a.size = (size_t)(after - text);
    }
    align_chunks(&a);
    if (ctx->code == TKX_OK && a.used != a.size) fail(ctx, TKX_E_CORRUPT);
    if (ctx->code != TKX_OK) return;
    if (!a.dropped) a.dropped = given_end;
    align_bytes(&a, size - a.size, a.dropped);
    /* The source of a byte ends where the source of the next byte begins. */
    for (i = 1; i < size; i++) put_u32(a.alignment + 8 * i - 4, get_u32(a.alignment + 8 * i));
    put_u32(a.alignment + 8 * size - 4, (uint32_t)(a.dropped - input));
    ctx->text.base = text;
    ctx->text.alignment = a.alignment;
}

#endif
