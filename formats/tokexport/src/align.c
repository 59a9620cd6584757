/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The tokexport authors */

/* ---- align.c: alignment of a whole normalizer (5.9, ALGN) ------------------------------------ */

#ifndef TKX_NO_OFFSETS

/* A chunk of text that sentencepiece's rules replace as a whole, and its replacement. */
typedef struct tkx_norm_chunk {
    const uint8_t *begin, *end;
    tkx_span becomes;
} tkx_norm_chunk;

/* A normalized text whose sources are found from left to right. */
typedef struct tkx_aligner {
    tkx_context *ctx;
    const uint8_t *input;
    tkx_scanner protected;
#ifndef TKX_NO_NORMALIZER
    const tkx_op *charsmap; /* or NULL */
#endif
    uint32_t flags;
    const uint8_t *text;
    /* of the text: its length without a suffix, and how many bytes have a source */
    size_t size, used;
    uint8_t *alignment;
    /* where the source of the first space dropped at the end begins, or NULL */
    const uint8_t *dropped;
} tkx_aligner;

static tkx_norm_chunk find_norm_chunk(tkx_aligner *a, const uint8_t *p) {
    const uint8_t *text = a->protected.text, *end = text + a->protected.size;
    tkx_norm_chunk found;
    size_t stop = 0;
    found.begin = p;
#ifndef TKX_NO_NORMALIZER
    if (a->charsmap) {
        found.end = charsmap_part(&a->protected, a->charsmap, p, &found.becomes);
        return found;
    }
#endif
    if (a->protected.node_count &&
        longest_content(&a->protected, (size_t)(p - text), &stop) != TKX_NONE) {
        found.end = text + stop;
    } else {
        found.end = p + utf8_length(*p);
    }
    if (found.end < end && utf8_inside(*found.end)) fail(a->ctx, TKX_E_CORRUPT);
    found.becomes.data = p;
    found.becomes.size = (size_t)(found.end - p);
    return found;
}

/* Whether a character is a space, or what stands for one. */
static int is_space_or_mark(const uint8_t *p) { return *p == ' ' || utf8_decode(p) == 0x2581; }

/* Sets p as the start of the source of the next `size` bytes of the text. */
static void align_bytes(tkx_aligner *a, size_t size, const uint8_t *p) {
    for (; size; size--) put_u32(a->alignment + 8 * a->used++, (uint32_t)(p - a->input));
}

/* Matches a character that the rules wrote with the next one of the text, or with a space dropped
   at its end. */
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

/* Walks over a text as sentencepiece's normalizer does. */
static void align_chunks(tkx_aligner *a) {
    static const uint8_t space[1] = {' '};
    const uint8_t *p = a->protected.text, *end = p + a->protected.size;
    const int collapses = (a->flags & ALIGN_COLLAPSE) != 0;
    int after_space = collapses;
    tkx_norm_chunk c;
    while (collapses && p < end && a->ctx->code == TKX_OK) {
        c = find_norm_chunk(a, p);
        if (c.becomes.size != 1 || *c.becomes.data != ' ') break;
        p = c.end;
    }
    if (a->flags & ALIGN_PREFIX) take_character(a, space, p);
    while (p < end && a->ctx->code == TKX_OK) {
        size_t i = 0;
        c = find_norm_chunk(a, p);
        while (after_space && i < c.becomes.size && c.becomes.data[i] == ' ') i++;
        if (i < c.becomes.size)
            after_space = collapses && c.becomes.data[c.becomes.size - 1] == ' ';
        for (; i < c.becomes.size && a->ctx->code == TKX_OK; i += utf8_length(c.becomes.data[i]))
            take_character(a, c.becomes.data + i, p);
        p = c.end;
    }
}

/* Finds the sources of the result of a normalizer that ran over the current text from `given` on.
   The result becomes the current text. */
static TKX_NOINLINE void align_whole(tkx_context *ctx, const uint8_t *input, const uint8_t *given,
                                     size_t given_size, const uint8_t *text, size_t size) {
    const tkx_span section = ctx->t->alignment;
    const uint8_t *after = text + size;
    tkx_aligner a;
    size_t i;
    memset(&a, 0, sizeof a);
    a.ctx = ctx;
    a.input = input;
    a.flags = load_u32(section.data);
    if ((a.flags & ~(uint32_t)(ALIGN_PREFIX | ALIGN_SUFFIX | ALIGN_COLLAPSE)) ||
        load_u32(section.data + 12))
        fail(ctx, TKX_E_CORRUPT);
    if (ctx->code != TKX_OK) return;
    scanner_init(&a.protected, ctx, section.data + ALIGNMENT_HEADER, load_u32(section.data + 4),
                 load_u32(section.data + 8), given, given_size);
#ifndef TKX_NO_NORMALIZER
    for (i = 0; i < ctx->t->normalizer_count && !a.charsmap; i++) {
        const tkx_op *op = &ctx->t->ops[i];
        if (op->kind != CHARSMAP || (op->flags & BY_CLUSTER)) continue;
        a.charsmap = op;
        scan_protected(&a.protected, ctx, op, given, given_size);
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
    if (!a.dropped) a.dropped = given + given_size;
    align_bytes(&a, size - a.size, a.dropped);
    /* The source of a byte ends where that of the next byte begins. */
    for (i = 1; i < size; i++) put_u32(a.alignment + 8 * i - 4, get_u32(a.alignment + 8 * i));
    put_u32(a.alignment + 8 * size - 4, (uint32_t)(a.dropped - input));
    ctx->text.base = text;
    ctx->text.alignment = a.alignment;
}

#endif
